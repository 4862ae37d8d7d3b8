#define _GNU_SOURCE
#include "CPacketLoop.h"

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

#ifndef SOL_UDP
#define SOL_UDP 17
#endif
#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

enum { HEADER = 12, TAG = 16, MAX_BATCH = 64, MAX_DESTINATIONS = 16, SLOT = 2048, MERGE = 65000, MESSAGES = 16 };

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

static int open_socket(struct sockaddr_in *address) {
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
  int size = 4 << 20;
  setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
  setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
  memset(address, 0, sizeof *address);
  address->sin_family = AF_INET;
  address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof *address;
  if (bind(fd, (struct sockaddr *)address, length) != 0) return -1;
  getsockname(fd, (struct sockaddr *)address, &length);
  return fd;
}

static EVP_CIPHER_CTX *keyed_by(int encrypts, const uint8_t key[16]) {
  EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
  EVP_CipherInit_ex(context, EVP_aes_128_gcm(), NULL, key, NULL, encrypts);
  return context;
}

static EVP_CIPHER_CTX *keyed(int encrypts) {
  static const uint8_t key[16] = {1, 2, 3};
  return keyed_by(encrypts, key);
}

/// RFC 7714 §8.1's shape of a nonce: source and sequence number.
static void make_nonce(uint8_t *nonce, const uint8_t *packet) {
  memset(nonce, 0, 12);
  memcpy(nonce + 2, packet + 8, 4);
  memcpy(nonce + 10, packet + 2, 2);
}

static int protect(EVP_CIPHER_CTX *context, const uint8_t *in, int count, uint8_t *out) {
  uint8_t nonce[12];
  int length = 0;
  make_nonce(nonce, in);
  memcpy(out, in, HEADER);
  EVP_EncryptInit_ex(context, NULL, NULL, NULL, nonce);
  EVP_EncryptUpdate(context, NULL, &length, in, HEADER);
  EVP_EncryptUpdate(context, out + HEADER, &length, in + HEADER, count - HEADER);
  EVP_EncryptFinal_ex(context, out + HEADER + length, &length);
  EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, TAG, out + count);
  return count + TAG;
}

static int unprotect(EVP_CIPHER_CTX *context, uint8_t *packet, int count) {
  uint8_t nonce[12];
  int length = 0;
  make_nonce(nonce, packet);
  EVP_DecryptInit_ex(context, NULL, NULL, NULL, nonce);
  EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_SET_TAG, TAG, packet + count - TAG);
  EVP_DecryptUpdate(context, NULL, &length, packet, HEADER);
  EVP_DecryptUpdate(context, packet + HEADER, &length, packet + HEADER, count - HEADER - TAG);
  return EVP_DecryptFinal_ex(context, packet + HEADER + length, &length) == 1;
}

/// Packet k of destination d lies in slot k * destinations + d, as it was made: each destination gets its own in one
/// message.
static void send_batch(
    int fd, struct sockaddr_in *to, int destinations, uint8_t *slots, int each, int size) {
  int per_message = MERGE / size;
  struct mmsghdr headers[MAX_BATCH];
  struct iovec vectors[MAX_BATCH];
  union {
    struct cmsghdr alignment;
    char bytes[CMSG_SPACE(sizeof(uint16_t))];
  } control[MAX_BATCH];
  int messages = 0;
  int vector = 0;
  for (int i = 0; i < destinations * each; messages++) {
    int destination = i / each;
    int rest = each - i % each;
    int run = rest < per_message ? rest : per_message;
    struct msghdr *header = &headers[messages].msg_hdr;
    *header = (struct msghdr){
        .msg_name = &to[destination], .msg_namelen = sizeof *to, .msg_iov = &vectors[vector],
        .msg_iovlen = (size_t)run};
    for (int k = 0; k < run; k++, i++, vector++) {
      uint8_t *slot = slots + ((i % each) * destinations + destination) * SLOT;
      vectors[vector] = (struct iovec){slot, (size_t)size};
    }
    if (run == 1) continue;
    header->msg_control = &control[messages];
    header->msg_controllen = sizeof control[messages].bytes;
    struct cmsghdr *item = CMSG_FIRSTHDR(header);
    item->cmsg_level = SOL_UDP;
    item->cmsg_type = UDP_SEGMENT;
    item->cmsg_len = CMSG_LEN(sizeof(uint16_t));
    uint16_t segment = (uint16_t)size;
    memcpy(CMSG_DATA(item), &segment, sizeof segment);
  }
  if (messages == 1)
    sendmsg(fd, &headers[0].msg_hdr, 0);
  else
    sendmmsg(fd, headers, (unsigned)messages, 0);
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
        received += unprotect(context, (uint8_t *)receiver->vectors[i].iov_base + offset, length);
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
  int sender = open_socket(&from);
  int poller = waits ? epoll_create1(0) : -1;
  if (sender < 0 || (waits && poller < 0)) return errno;
  // What answers come to is watched, too: here none do.
  if (waits) watch(poller, sender, MAX_DESTINATIONS);
  for (int d = 0; d < destinations; d++) {
    int on = 1;
    receivers[d] = open_socket(&to[d]);
    if (receivers[d] < 0) return errno;
    setsockopt(receivers[d], SOL_UDP, UDP_GRO, &on, sizeof on);
    if (waits) watch(poller, receivers[d], (uint32_t)d);
  }
  EVP_CIPHER_CTX *encrypting = keyed(1), *decrypting = keyed(0);
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
      protect(encrypting, packet, size, slots + k * SLOT);
    }
    send_batch(sender, to, destinations, slots, each, size + TAG);
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

/// Takes what has arrived and throws it away.
static void empty(int fd) {
  uint8_t byte;
  while (recv(fd, &byte, sizeof byte, MSG_DONTWAIT | MSG_TRUNC) >= 0) {
  }
}

static void put32(uint8_t *at, uint32_t value) {
  for (int i = 0; i < 4; i++) at[i] = (uint8_t)(value >> (24 - 8 * i));
}

int packet_loop_forward(int bursts, int subscribers, int burst, int size, packet_loop_result *result) {
  memset(result, 0, sizeof *result);
  if (burst < 1 || burst > MAX_BATCH || subscribers < 1 || size < HEADER || size + TAG > SLOT) return EINVAL;
  int together = MAX_BATCH / burst;
  struct sockaddr_in from;
  struct sockaddr_in *to = calloc((size_t)subscribers, sizeof *to);
  int *receivers = calloc((size_t)subscribers, sizeof *receivers);
  EVP_CIPHER_CTX **keys = calloc((size_t)subscribers, sizeof *keys);
  uint8_t *slots = aligned_alloc(64, (size_t)MAX_BATCH * SLOT);
  uint8_t *arrived = aligned_alloc(64, (size_t)MAX_BATCH * SLOT);
  uint8_t *plain = aligned_alloc(64, (size_t)MAX_BATCH * SLOT);
  EVP_CIPHER_CTX *publisher = keyed(1), *decrypting = keyed(0);
  int sender = open_socket(&from);
  int status = sender < 0 ? errno : 0;
  int opened = 0;
  for (; opened < subscribers && status == 0; opened++) {
    int on = 1;
    uint8_t key[16] = {9, (uint8_t)(opened >> 8), (uint8_t)opened};
    keys[opened] = keyed_by(1, key);
    receivers[opened] = open_socket(&to[opened]);
    if (receivers[opened] < 0) status = errno;
    else setsockopt(receivers[opened], SOL_UDP, UDP_GRO, &on, sizeof on);
  }
  uint16_t sequence = 0;
  for (int i = 0; i < bursts && status == 0; i++) {
    // What the publisher sent.
    for (int k = 0; k < burst; k++) {
      uint8_t packet[SLOT] = {0x80, 96, (uint8_t)((sequence + k) >> 8), (uint8_t)(sequence + k)};
      protect(publisher, packet, size, arrived + k * SLOT);
    }
    double started = packet_loop_thread_cpu();
    for (int k = 0; k < burst; k++) {
      memcpy(plain + k * SLOT, arrived + k * SLOT, (size_t)(size + TAG));
      if (!unprotect(decrypting, plain + k * SLOT, size + TAG)) status = EBADMSG;
    }
    for (int s = 0; s < subscribers; s += together) {
      int some = subscribers - s < together ? subscribers - s : together;
      for (int d = 0; d < some; d++) {
        for (int k = 0; k < burst; k++) {
          uint8_t *packet = plain + k * SLOT;
          uint16_t number = (uint16_t)(sequence + k + s + d);
          packet[2] = (uint8_t)(number >> 8);
          packet[3] = (uint8_t)number;
          put32(packet + 4, (uint32_t)(i * 3000 + s + d));
          put32(packet + 8, (uint32_t)(s + d));
          protect(keys[s + d], packet, size, slots + (k * some + d) * SLOT);
        }
      }
      send_batch(sender, to + s, some, slots, burst, size + TAG);
      result->sent += (uint64_t)(some * burst);
    }
    result->cpu_seconds += packet_loop_thread_cpu() - started;
    sequence = (uint16_t)(sequence + burst);
    for (int s = 0; s < subscribers; s++) empty(receivers[s]);
  }
  for (int s = 0; s < opened; s++) {
    EVP_CIPHER_CTX_free(keys[s]);
    if (receivers[s] >= 0) close(receivers[s]);
  }
  if (sender >= 0) close(sender);
  EVP_CIPHER_CTX_free(publisher);
  EVP_CIPHER_CTX_free(decrypting);
  free(keys);
  free(receivers);
  free(to);
  free(slots);
  free(arrived);
  free(plain);
  return status;
}
