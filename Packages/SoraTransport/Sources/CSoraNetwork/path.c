#define _GNU_SOURCE
#include "CSoraNetwork.h"
#include "addresses.h"

#include <errno.h>
#include <time.h>
// After time.h, whose types it uses without saying so.
#include <linux/errqueue.h>
#include <unistd.h>

static int read_extended(struct msghdr *header, struct sock_extended_err *out) {
  for (struct cmsghdr *item = CMSG_FIRSTHDR(header); item != NULL; item = CMSG_NXTHDR(header, item)) {
    if ((item->cmsg_level == IPPROTO_IP && item->cmsg_type == IP_RECVERR) ||
        (item->cmsg_level == IPPROTO_IPV6 && item->cmsg_type == IPV6_RECVERR)) {
      memcpy(out, CMSG_DATA(item), sizeof *out);
      return 1;
    }
  }
  return 0;
}

int sora_net_next_error(int fd, sora_net_error *out) {
  union socket_address name;
  // IP_RECVERR or IPV6_RECVERR with the sender of the ICMP message, and what else was asked for.
  union {
    struct cmsghdr alignment;
    char bytes[512];
  } control;
  struct msghdr header;
  memset(out, 0, sizeof *out);
  for (;;) {
    memset(&header, 0, sizeof header);
    memset(&name, 0, sizeof name);
    header.msg_name = &name;
    header.msg_namelen = sizeof name;
    header.msg_control = &control;
    header.msg_controllen = sizeof control.bytes;
    // The datagram that comes with it is of no interest.
    if (recvmsg(fd, &header, MSG_ERRQUEUE | MSG_DONTWAIT) >= 0) break;
    if (errno != EINTR) return 0;
  }
  struct sock_extended_err error;
  if (!read_extended(&header, &error)) {
    // Cut off, or of a kind that nobody asked for: taken all the same.
    out->code = EIO;
    return 1;
  }
  out->code = (int32_t)error.ee_errno;
  out->is_local = error.ee_origin == SO_EE_ORIGIN_LOCAL;
  if (error.ee_errno == EMSGSIZE) out->mtu = error.ee_info;
  if (header.msg_namelen > 0) from_system(&name.any, &out->to);
  return 1;
}

int sora_net_path_mtu(const sora_net_address *local, const sora_net_address *to) {
  if (local->family != to->family) return -EAFNOSUPPORT;
  union socket_address name;
  int fd = socket(to->family == 4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_UDP);
  if (fd < 0) return -errno;
  sora_net_address any_port = *local;
  any_port.port = 0;
  socklen_t length = to_system(&any_port, &name);
  if (bind(fd, &name.any, length) != 0) goto fail;
  length = to_system(to, &name);
  // Sends nothing: looks up the route, where the kernel keeps what it has learnt.
  if (connect(fd, &name.any, length) != 0) goto fail;
  int mtu = 0;
  length = sizeof mtu;
  int result = to->family == 4 ? getsockopt(fd, IPPROTO_IP, IP_MTU, &mtu, &length)
                               : getsockopt(fd, IPPROTO_IPV6, IPV6_MTU, &mtu, &length);
  if (result != 0) goto fail;
  close(fd);
  return mtu;

fail:;
  int error = errno;
  close(fd);
  return -error;
}
