// Addresses between this module's form and the system's. Private; inline, since each packet takes a pair of them.
#ifndef CSORA_NETWORK_ADDRESSES_H
#define CSORA_NETWORK_ADDRESSES_H

#include "CSoraNetwork.h"

#include <arpa/inet.h>
#include <endian.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

union socket_address {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
};

static inline socklen_t to_system(const sora_net_address *address, union socket_address *out) {
  memset(out, 0, sizeof *out);
  if (address->family == 4) {
    out->v4.sin_family = AF_INET;
    out->v4.sin_port = htons(address->port);
    out->v4.sin_addr.s_addr = htonl((uint32_t)address->low);
    return sizeof out->v4;
  }
  out->v6.sin6_family = AF_INET6;
  out->v6.sin6_port = htons(address->port);
  out->v6.sin6_scope_id = address->scope;
  uint64_t halves[2] = {htobe64(address->high), htobe64(address->low)};
  memcpy(&out->v6.sin6_addr, halves, sizeof halves);
  return sizeof out->v6;
}

static inline int from_system(const struct sockaddr *address, sora_net_address *out) {
  memset(out, 0, sizeof *out);
  if (address->sa_family == AF_INET) {
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
    out->family = 4;
    out->port = ntohs(v4->sin_port);
    out->low = ntohl(v4->sin_addr.s_addr);
    return 1;
  }
  if (address->sa_family == AF_INET6) {
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;
    uint64_t halves[2];
    memcpy(halves, &v6->sin6_addr, sizeof halves);
    out->family = 6;
    out->port = ntohs(v6->sin6_port);
    out->high = be64toh(halves[0]);
    out->low = be64toh(halves[1]);
    out->scope = v6->sin6_scope_id;
    return 1;
  }
  return 0;
}

#endif
