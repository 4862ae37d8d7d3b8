#define _GNU_SOURCE
#include "CPacketLoop.h"
#include "parts.h"

#include <errno.h>
#include <netinet/udp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/// A publisher and its subscribers, on loopback, with a key each.
struct crowd {
  int subscribers, burst, size;
  int publisher, server;
  struct sockaddr_in server_address;
  struct sockaddr_in *to;
  int *receivers;
  EVP_CIPHER_CTX **keys;
  /// Of the subscribers' reports: theirs and the server's.
  EVP_CIPHER_CTX **reporting, **reading;
  EVP_CIPHER_CTX *encrypting, *decrypting;
  uint8_t *arrived, *slots;
  /// Of the publisher's next packet.
  uint16_t sequence;
  uint32_t bursts;
};

static void close_crowd(struct crowd *crowd) {
  for (int s = 0; s < crowd->subscribers; s++) {
    EVP_CIPHER_CTX_free(crowd->keys[s]);
    EVP_CIPHER_CTX_free(crowd->reporting[s]);
    EVP_CIPHER_CTX_free(crowd->reading[s]);
    if (crowd->receivers[s] >= 0) close(crowd->receivers[s]);
  }
  if (crowd->publisher >= 0) close(crowd->publisher);
  if (crowd->server >= 0) close(crowd->server);
  EVP_CIPHER_CTX_free(crowd->encrypting);
  EVP_CIPHER_CTX_free(crowd->decrypting);
  free(crowd->to);
  free(crowd->receivers);
  free(crowd->keys);
  free(crowd->reporting);
  free(crowd->reading);
  free(crowd->arrived);
  free(crowd->slots);
}

static void merge_received(int fd) {
  int on = 1;
  setsockopt(fd, SOL_UDP, UDP_GRO, &on, sizeof on);
}

static int open_crowd(struct crowd *crowd, int subscribers, int burst, int size) {
  struct sockaddr_in address;
  *crowd = (struct crowd){.subscribers = subscribers, .burst = burst, .size = size};
  crowd->to = calloc((size_t)subscribers, sizeof *crowd->to);
  crowd->receivers = calloc((size_t)subscribers, sizeof *crowd->receivers);
  crowd->keys = calloc((size_t)subscribers, sizeof *crowd->keys);
  crowd->reporting = calloc((size_t)subscribers, sizeof *crowd->reporting);
  crowd->reading = calloc((size_t)subscribers, sizeof *crowd->reading);
  crowd->arrived = aligned_alloc(64, (size_t)MAX_BATCH * SLOT);
  crowd->slots = aligned_alloc(64, (size_t)MAX_BATCH * SLOT);
  crowd->encrypting = packet_loop_keyed(1);
  crowd->decrypting = packet_loop_keyed(0);
  crowd->publisher = packet_loop_open(&address);
  crowd->server = packet_loop_open(&crowd->server_address);
  int status = crowd->publisher < 0 || crowd->server < 0 ? errno : 0;
  if (crowd->server >= 0) merge_received(crowd->server);
  for (int s = 0; s < subscribers; s++) {
    uint8_t key[16] = {9, (uint8_t)(s >> 8), (uint8_t)s};
    crowd->keys[s] = packet_loop_keyed_by(1, key);
    crowd->reporting[s] = packet_loop_keyed_by(1, key);
    crowd->reading[s] = packet_loop_keyed_by(0, key);
    crowd->receivers[s] = status == 0 ? packet_loop_open(&crowd->to[s]) : -1;
    if (crowd->receivers[s] >= 0) merge_received(crowd->receivers[s]);
    else if (status == 0) status = errno;
  }
  return status;
}

static void put16(uint8_t *at, uint16_t value) {
  at[0] = (uint8_t)(value >> 8);
  at[1] = (uint8_t)value;
}

static void put32(uint8_t *at, uint32_t value) {
  put16(at, (uint16_t)(value >> 16));
  put16(at + 2, (uint16_t)value);
}

/// What the publisher sends next, behind each other in slots of `stride` bytes.
static void publish(struct crowd *crowd, uint8_t *into, int stride) {
  for (int k = 0; k < crowd->burst; k++) {
    uint8_t packet[SLOT] = {0x80, 96};
    put16(packet + 2, crowd->sequence++);
    packet_loop_protect(crowd->encrypting, packet, crowd->size, into + k * stride);
  }
}

/// Sends `count` plain packets on, which lie `stride` bytes apart, to everybody. They are written to.
static void forward(struct crowd *crowd, uint8_t *plain, int count, int stride) {
  int together = MAX_BATCH / count;
  for (int s = 0; s < crowd->subscribers; s += together) {
    int some = crowd->subscribers - s < together ? crowd->subscribers - s : together;
    for (int d = 0; d < some; d++) {
      for (int k = 0; k < count; k++) {
        uint8_t *packet = plain + k * stride;
        put16(packet + 2, (uint16_t)(crowd->bursts * (uint32_t)count + (uint32_t)(k + s + d)));
        put32(packet + 4, crowd->bursts * 3000 + (uint32_t)(s + d));
        put32(packet + 8, (uint32_t)(s + d));
        packet_loop_protect(crowd->keys[s + d], packet, crowd->size, crowd->slots + (k * some + d) * SLOT);
      }
    }
    packet_loop_send(crowd->server, crowd->to + s, some, crowd->slots, count, crowd->size + TAG);
  }
  crowd->bursts++;
}

/// Takes what has arrived and throws it away; its bytes.
static uint64_t empty(int fd) {
  uint8_t byte;
  uint64_t total = 0;
  ssize_t count;
  while ((count = recv(fd, &byte, sizeof byte, MSG_DONTWAIT | MSG_TRUNC)) >= 0) total += (uint64_t)count;
  return total;
}

static int is_usable(int subscribers, int burst, int size) {
  return burst >= 1 && burst <= MAX_BATCH && subscribers >= 1 && size >= HEADER && size + TAG <= SLOT;
}

int packet_loop_forward(int bursts, int subscribers, int burst, int size, packet_loop_result *result) {
  memset(result, 0, sizeof *result);
  if (!is_usable(subscribers, burst, size)) return EINVAL;
  struct crowd crowd;
  int status = open_crowd(&crowd, subscribers, burst, size);
  uint8_t *plain = aligned_alloc(64, (size_t)MAX_BATCH * SLOT);
  for (int i = 0; i < bursts && status == 0; i++) {
    publish(&crowd, crowd.arrived, SLOT);
    double started = packet_loop_thread_cpu();
    for (int k = 0; k < burst; k++) {
      memcpy(plain + k * SLOT, crowd.arrived + k * SLOT, (size_t)(size + TAG));
      if (!packet_loop_unprotect(crowd.decrypting, plain + k * SLOT, size + TAG)) status = EBADMSG;
    }
    forward(&crowd, plain, burst, SLOT);
    result->sent += (uint64_t)(subscribers * burst);
    result->cpu_seconds += packet_loop_thread_cpu() - started;
    for (int s = 0; s < subscribers; s++) result->received += empty(crowd.receivers[s]) / (uint64_t)(size + TAG);
  }
  free(plain);
  close_crowd(&crowd);
  return status;
}

// MARK: With everybody at work

/// What the threads of `packet_loop_forward_live` share.
struct live {
  struct crowd *crowd;
  int bursts;
  int64_t interval;
  uint64_t received;
  /// Ends the subscribers' thread.
  int ended;
  /// Time between two reports of a subscriber's.
  int64_t feedback;
};

/// A report of twenty packets with a header of RTCP's, SRTCP's index left out.
enum { REPORT = 64, RECEIVER_REPORT = 205 };

static int64_t nanoseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void *publish_in_time(void *context) {
  struct live *live = context;
  struct crowd *crowd = live->crowd;
  struct sockaddr_in to = crowd->server_address;
  struct timespec next;
  clock_gettime(CLOCK_MONOTONIC, &next);
  for (int i = 0; i < live->bursts; i++) {
    publish(crowd, crowd->arrived, SLOT);
    packet_loop_send(crowd->publisher, &to, 1, crowd->arrived, crowd->burst, crowd->size + TAG);
    next.tv_nsec += live->interval;
    while (next.tv_nsec >= 1000000000) {
      next.tv_nsec -= 1000000000;
      next.tv_sec++;
    }
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
  }
  return NULL;
}

static void *subscribe(void *context) {
  struct live *live = context;
  struct crowd *crowd = live->crowd;
  struct epoll_event events[64];
  uint64_t bytes = 0;
  uint8_t report[SLOT] = {0x80, RECEIVER_REPORT}, protected[SLOT];
  // Each reports for the first time at another moment.
  int64_t *due = calloc((size_t)crowd->subscribers, sizeof *due);
  int64_t started = nanoseconds();
  for (int s = 0; s < crowd->subscribers; s++) due[s] = started + live->feedback * (s + 1) / crowd->subscribers;
  int poller = epoll_create1(0);
  for (int s = 0; s < crowd->subscribers; s++) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = crowd->receivers[s]};
    epoll_ctl(poller, EPOLL_CTL_ADD, crowd->receivers[s], &event);
  }
  while (!__atomic_load_n(&live->ended, __ATOMIC_ACQUIRE)) {
    int count = epoll_wait(poller, events, 64, 1);
    for (int i = 0; i < count; i++) bytes += empty(events[i].data.fd);
    int64_t now = nanoseconds();
    for (int s = 0; s < crowd->subscribers; s++) {
      if (due[s] > now) continue;
      due[s] += live->feedback;
      put32(report + 8, (uint32_t)s);
      int size = packet_loop_protect(crowd->reporting[s], report, REPORT, protected);
      sendto(crowd->receivers[s], protected, (size_t)size, 0, (struct sockaddr *)&crowd->server_address,
             sizeof crowd->server_address);
    }
  }
  free(due);
  close(poller);
  live->received = bytes / (uint64_t)(crowd->size + TAG);
  return NULL;
}

static int read_report(struct crowd *crowd, uint8_t *report, int count) {
  uint32_t s = (uint32_t)report[10] << 8 | report[11];
  return s < (uint32_t)crowd->subscribers && packet_loop_unprotect(crowd->reading[s], report, count);
}

/// Serves until the publisher has sent everything, or for a second nothing.
static int serve(struct crowd *crowd, uint64_t wanted, packet_loop_result *result) {
  uint8_t *memory = aligned_alloc(64, 65536);
  int poller = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  epoll_ctl(poller, EPOLL_CTL_ADD, crowd->server, &event);
  int status = 0;
  uint64_t taken = 0;
  int stride = crowd->size + TAG;
  while (status == 0 && taken < wanted) {
    if (epoll_wait(poller, &event, 1, 1000) <= 0) {
      status = ETIMEDOUT;
      break;
    }
    ssize_t total;
    while ((total = recv(crowd->server, memory, 65536, MSG_DONTWAIT)) > 0) {
      if (memory[1] == RECEIVER_REPORT) {
        if (!read_report(crowd, memory, (int)total)) status = EBADMSG;
        continue;
      }
      int count = (int)(total / stride);
      for (int k = 0; k < count; k++)
        if (!packet_loop_unprotect(crowd->decrypting, memory + k * stride, stride)) status = EBADMSG;
      forward(crowd, memory, count, stride);
      taken += (uint64_t)count;
    }
  }
  result->sent = taken * (uint64_t)crowd->subscribers;
  close(poller);
  free(memory);
  return status;
}

int packet_loop_forward_live(
    int bursts, int subscribers, int burst, int size, int64_t interval_ns, int64_t feedback_ns,
    packet_loop_result *result) {
  memset(result, 0, sizeof *result);
  if (!is_usable(subscribers, burst, size) || burst * (size + TAG) > MERGE) return EINVAL;
  struct crowd crowd;
  int status = open_crowd(&crowd, subscribers, burst, size);
  struct live live = {.crowd = &crowd, .bursts = bursts, .interval = interval_ns, .feedback = feedback_ns};
  pthread_t publishing, subscribing;
  if (status == 0) status = pthread_create(&subscribing, NULL, subscribe, &live);
  if (status == 0) {
    status = pthread_create(&publishing, NULL, publish_in_time, &live);
    if (status == 0) {
      double started = packet_loop_thread_cpu();
      status = serve(&crowd, (uint64_t)bursts * (uint64_t)burst, result);
      result->cpu_seconds = packet_loop_thread_cpu() - started;
      pthread_join(publishing, NULL);
    }
    __atomic_store_n(&live.ended, 1, __ATOMIC_RELEASE);
    pthread_join(subscribing, NULL);
    result->received = live.received;
  }
  close_crowd(&crowd);
  return status;
}
