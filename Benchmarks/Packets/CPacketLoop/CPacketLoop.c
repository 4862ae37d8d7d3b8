#define _GNU_SOURCE
#include "CPacketLoop.h"
#include "parts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <malloc.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <openssl/evp.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

double packet_loop_thread_cpu(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

uint64_t packet_loop_heap_bytes(void) {
  malloc_trim(0);
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

int packet_loop_stay(void) {
  int cpu = sched_getcpu();
  cpu_set_t set;
  CPU_ZERO(&set);
  if (cpu < 0) return errno;
  CPU_SET(cpu, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0 ? 0 : errno;
}

/// Made ready once; the kernel overwrites lengths of the messages that it fills.
struct receiver {
  struct mmsghdr headers[MESSAGES];
  struct iovec vectors[MESSAGES];
  union {
    struct cmsghdr alignment;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control[MESSAGES];
  struct sockaddr_in names[MESSAGES];
  int used;
};

static struct receiver *make_receiver(uint8_t *memory) {
  struct receiver *receiver = calloc(1, sizeof *receiver);
  for (int i = 0; i < MESSAGES; i++) {
    receiver->vectors[i] = (struct iovec){memory + (size_t)i * 65536, 65535};
    receiver->headers[i].msg_hdr = (struct msghdr){
        .msg_name = &receiver->names[i], .msg_iov = &receiver->vectors[i], .msg_iovlen = 1,
        .msg_control = &receiver->control[i]};
  }
  receiver->used = MESSAGES;
  return receiver;
}

static int receive_batch(int fd, EVP_CIPHER_CTX *context, struct receiver *receiver, int expected) {
  struct mmsghdr *headers = receiver->headers;
  int received = 0;
  while (received < expected) {
    for (int i = 0; i < receiver->used; i++) {
      headers[i].msg_hdr.msg_namelen = sizeof receiver->names[i];
      headers[i].msg_hdr.msg_controllen = sizeof receiver->control[i].bytes;
    }
    int count = recvmmsg(fd, headers, MESSAGES, MSG_DONTWAIT, NULL);
    receiver->used = count > 0 ? count : 0;
    if (count <= 0) {
      struct pollfd waiting = {fd, POLLIN, 0};
      if (poll(&waiting, 1, 1000) <= 0) return received;
      continue;
    }
    for (int i = 0; i < count; i++) {
      int total = (int)headers[i].msg_len;
      int segment = total;
      for (struct cmsghdr *item = CMSG_FIRSTHDR(&headers[i].msg_hdr); item != NULL;
           item = CMSG_NXTHDR(&headers[i].msg_hdr, item))
        if (item->cmsg_level == SOL_UDP && item->cmsg_type == UDP_GRO)
          memcpy(&segment, CMSG_DATA(item), sizeof segment);
      for (int offset = 0; offset < total; offset += segment) {
        int length = total - offset < segment ? total - offset : segment;
        received += packet_loop_unprotect(context, (uint8_t *)receiver->vectors[i].iov_base + offset, length);
      }
    }
  }
  return received;
}

static void watch(int poller, int fd, uint32_t name) {
  struct epoll_event event = {.events = EPOLLIN, .data.u32 = name};
  epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
}

/// Waits for the receivers that have something, until each of `destinations` has had its packets.
static int receive_waiting(
    int poller, const int *receivers, int destinations, EVP_CIPHER_CTX *context, struct receiver *receiver, int each) {
  int received = 0;
  while (received < destinations * each) {
    struct epoll_event events[MAX_DESTINATIONS];
    int count = epoll_wait(poller, events, MAX_DESTINATIONS, 1000);
    if (count <= 0) return received;
    for (int i = 0; i < count; i++) {
      uint32_t d = events[i].data.u32;
      if (d < (uint32_t)destinations) received += receive_batch(receivers[d], context, receiver, each);
    }
  }
  return received;
}

int packet_loop_run(
    int batches, int destinations, int each, int size, int waits, packet_loop_result *result) {
  memset(result, 0, sizeof *result);
  int batch = destinations * each;
  if (batch > MAX_BATCH || destinations > MAX_DESTINATIONS || size + TAG > SLOT) return EINVAL;
  struct sockaddr_in from, to[MAX_DESTINATIONS];
  int receivers[MAX_DESTINATIONS];
  int sender = packet_loop_open(&from);
  int poller = waits ? epoll_create1(0) : -1;
  if (sender < 0 || (waits && poller < 0)) return errno;
  // What answers come to is watched, too: here none do.
  if (waits) watch(poller, sender, MAX_DESTINATIONS);
  for (int d = 0; d < destinations; d++) {
    int on = 1;
    receivers[d] = packet_loop_open(&to[d]);
    if (receivers[d] < 0) return errno;
    setsockopt(receivers[d], SOL_UDP, UDP_GRO, &on, sizeof on);
    if (waits) watch(poller, receivers[d], (uint32_t)d);
  }
  EVP_CIPHER_CTX *encrypting = packet_loop_keyed(1), *decrypting = packet_loop_keyed(0);
  uint8_t *slots = aligned_alloc(64, (size_t)MAX_BATCH * SLOT);
  uint8_t *memory = aligned_alloc(64, (size_t)MESSAGES * 65536);
  struct receiver *receiver = make_receiver(memory);
  uint8_t packet[SLOT] = {0x80, 96};
  uint16_t sequence = 0;
  double started = packet_loop_thread_cpu();
  for (int i = 0; i < batches; i++) {
    for (int k = 0; k < batch; k++, sequence++) {
      packet[2] = (uint8_t)(sequence >> 8);
      packet[3] = (uint8_t)sequence;
      packet[11] = (uint8_t)(k % destinations);
      packet_loop_protect(encrypting, packet, size, slots + k * SLOT);
    }
    packet_loop_send(sender, to, destinations, slots, each, size + TAG);
    result->sent += (uint64_t)batch;
    if (waits)
      result->received +=
          (uint64_t)receive_waiting(poller, receivers, destinations, decrypting, receiver, each);
    else
      for (int d = 0; d < destinations; d++)
        result->received += (uint64_t)receive_batch(receivers[d], decrypting, receiver, each);
  }
  result->cpu_seconds = packet_loop_thread_cpu() - started;
  EVP_CIPHER_CTX_free(encrypting);
  EVP_CIPHER_CTX_free(decrypting);
  free(slots);
  free(memory);
  free(receiver);
  if (waits) close(poller);
  close(sender);
  for (int d = 0; d < destinations; d++) close(receivers[d]);
  return 0;
}
