#define _GNU_SOURCE
#include "CSoraNetwork.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif

// MARK: Threads

struct start {
  void (*body)(void *);
  void *context;
};

static void *run(void *argument) {
  struct start start = *(struct start *)argument;
  free(argument);
  start.body(start.context);
  return NULL;
}

int sora_net_thread_start(const char *name, void (*body)(void *), void *context) {
  struct start *start = malloc(sizeof *start);
  if (start == NULL) return -ENOMEM;
  start->body = body;
  start->context = context;

  // The thread inherits the mask: signals are for the application's own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  int error = pthread_create(&thread, NULL, run, start);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (error != 0) {
    free(start);
    return -error;
  }
  pthread_setname_np(thread, name);
  pthread_detach(thread);
  return 0;
}

static __thread const void *current_loop;

const void *sora_net_current_loop(void) { return current_loop; }
void sora_net_set_current_loop(const void *loop) { current_loop = loop; }

// MARK: Waiting

static int result(int value) { return value < 0 ? -errno : value; }

int sora_net_poller_open(void) { return result(epoll_create1(EPOLL_CLOEXEC)); }

static int control(int poller, int operation, int fd, uint64_t token, uint32_t events) {
  struct epoll_event event;
  memset(&event, 0, sizeof event);
  event.events = events;
  event.data.u64 = token;
  return result(epoll_ctl(poller, operation, fd, &event));
}

int sora_net_poller_add(int poller, int fd, uint64_t token) {
  return control(poller, EPOLL_CTL_ADD, fd, token, EPOLLIN);
}

int sora_net_poller_watch_writable(int poller, int fd, uint64_t token, int on) {
  return control(poller, EPOLL_CTL_MOD, fd, token, on ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

int sora_net_poller_remove(int poller, int fd) {
  return control(poller, EPOLL_CTL_DEL, fd, 0, 0);
}

static int wait_events(int poller, struct epoll_event *events, int capacity, int64_t timeout) {
  // 0: not known yet, 1: there, -1: the kernel (before 5.11) or a seccomp filter says no.
  static _Atomic int precise = 0;
  if (timeout <= 0) return epoll_wait(poller, events, capacity, timeout < 0 ? -1 : 0);
  if (precise >= 0) {
    struct timespec limit = {timeout / 1000000000, timeout % 1000000000};
    int count = (int)syscall(SYS_epoll_pwait2, poller, events, capacity, &limit, NULL, 0);
    if (count >= 0 || (errno != ENOSYS && errno != EPERM)) {
      if (count >= 0 && precise == 0) precise = 1;
      return count;
    }
    precise = -1;
  }
  // Rounded up, so that a deadline has passed when the wait ends.
  int64_t milliseconds = (timeout + 999999) / 1000000;
  return epoll_wait(poller, events, capacity, milliseconds > 3600000 ? 3600000 : (int)milliseconds);
}

int sora_net_poller_wait(int poller, sora_net_event *out, int capacity, int64_t timeout) {
  struct epoll_event events[128];
  if (capacity > 128) capacity = 128;
  int count = wait_events(poller, events, capacity, timeout);
  if (count < 0) return errno == EINTR ? 0 : -errno;
  for (int i = 0; i < count; i++) {
    uint32_t ready = 0;
    if (events[i].events & EPOLLIN) ready |= SORA_NET_READABLE;
    if (events[i].events & EPOLLOUT) ready |= SORA_NET_WRITABLE;
    if (events[i].events & (EPOLLERR | EPOLLHUP)) ready |= SORA_NET_FAILED;
    out[i].token = events[i].data.u64;
    out[i].ready = ready;
  }
  return count;
}

int sora_net_wake_open(void) { return result(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

void sora_net_wake_signal(int fd) {
  uint64_t one = 1;
  // Fails only when the counter is full, and then the loop is awake anyway.
  ssize_t ignored = write(fd, &one, sizeof one);
  (void)ignored;
}

void sora_net_wake_drain(int fd) {
  uint64_t count;
  ssize_t ignored = read(fd, &count, sizeof count);
  (void)ignored;
}

void sora_net_close(int fd) { close(fd); }
