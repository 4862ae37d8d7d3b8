#define _GNU_SOURCE
#include "CSoraNetwork.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int sora_net_changes_open(void) {
  int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);
  if (fd < 0) return -errno;
  struct sockaddr_nl address;
  memset(&address, 0, sizeof address);
  address.nl_family = AF_NETLINK;
  address.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR;
  if (bind(fd, (struct sockaddr *)&address, sizeof address) < 0) {
    int error = errno;
    close(fd);
    return -error;
  }
  return fd;
}

int sora_net_changes_read(int fd) {
  _Alignas(struct nlmsghdr) char buffer[8192];
  int changed = 0;
  // Bounded: a flood of messages is reported again by epoll.
  for (int round = 0; round < 64; round++) {
    struct sockaddr_nl from;
    socklen_t size = sizeof from;
    ssize_t count =
        recvfrom(fd, buffer, sizeof buffer, MSG_DONTWAIT, (struct sockaddr *)&from, &size);
    if (count < 0) {
      // Messages were lost: whatever they said, look again.
      if (errno == ENOBUFS) changed = 1;
      if (errno == EINTR || errno == ENOBUFS) continue;
      return changed;
    }
    // Only the kernel, whose port is 0, may say so.
    if (size != sizeof from || from.nl_pid != 0) continue;
    int left = (int)count;
    for (struct nlmsghdr *message = (struct nlmsghdr *)buffer; NLMSG_OK(message, left);
         message = NLMSG_NEXT(message, left)) {
      switch (message->nlmsg_type) {
        case RTM_NEWADDR:
        case RTM_DELADDR:
        case RTM_NEWLINK:
        case RTM_DELLINK:
          changed = 1;
          break;
        default:
          break;
      }
    }
  }
  return changed;
}
