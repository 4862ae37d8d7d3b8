#define _GNU_SOURCE
#include "CSoraNetwork.h"
#include "addresses.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
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
#ifndef SO_RXQ_OVFL
#define SO_RXQ_OVFL 40
#endif

// MARK: Interfaces

static uint8_t prefix_length(const struct sockaddr *mask) {
  if (mask == NULL) return 0;
  sora_net_address bits;
  if (!from_system(mask, &bits)) return 0;
  return (uint8_t)(__builtin_popcountll(bits.high) + __builtin_popcountll(bits.low));
}

int sora_net_list_addresses(sora_net_interface_address *out, int capacity) {
  struct ifaddrs *list;
  if (getifaddrs(&list) != 0) return -errno;
  int count = 0;
  for (struct ifaddrs *entry = list; entry != NULL; entry = entry->ifa_next) {
    sora_net_address address;
    if (entry->ifa_addr == NULL || !(entry->ifa_flags & IFF_UP)) continue;
    if (!from_system(entry->ifa_addr, &address)) continue;
    if (count < capacity) {
      sora_net_interface_address *item = &out[count];
      memset(item, 0, sizeof *item);
      strncpy(item->name, entry->ifa_name, sizeof item->name - 1);
      item->address = address;
      item->index = if_nametoindex(entry->ifa_name);
      item->is_loopback = (entry->ifa_flags & IFF_LOOPBACK) != 0;
      item->prefix_length = prefix_length(entry->ifa_netmask);
    }
    count++;
  }
  freeifaddrs(list);
  return count;
}

// MARK: Sockets

static void set_buffer(int fd, int option, int forced, int size) {
  if (size <= 0) return;
  // The forced form passes the system's limit, where the process may.
  if (setsockopt(fd, SOL_SOCKET, forced, &size, sizeof size) != 0)
    setsockopt(fd, SOL_SOCKET, option, &size, sizeof size);
}

// Each may fail on an odd kernel, and then that is what isn't told.
static void set_path_options(int fd, int family, int refuses_fragments) {
  int on = 1;
  int discovery = IP_PMTUDISC_DO;
  if (family == AF_INET) {
    setsockopt(fd, IPPROTO_IP, IP_RECVTOS, &on, sizeof on);
    setsockopt(fd, IPPROTO_IP, IP_RECVERR, &on, sizeof on);
    if (refuses_fragments)
      setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &discovery, sizeof discovery);
    return;
  }
  discovery = IPV6_PMTUDISC_DO;
  setsockopt(fd, IPPROTO_IPV6, IPV6_RECVTCLASS, &on, sizeof on);
  setsockopt(fd, IPPROTO_IPV6, IPV6_RECVERR, &on, sizeof on);
  if (refuses_fragments)
    setsockopt(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, &discovery, sizeof discovery);
}

int sora_net_udp_open(
    const sora_net_address *address, sora_net_udp_options *options, sora_net_address *bound) {
  int family = address->family == 4 ? AF_INET : AF_INET6;
  int fd = socket(family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_UDP);
  if (fd < 0) return -errno;
  int on = 1;
  if (family == AF_INET6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on) != 0) goto fail;

  set_buffer(fd, SO_RCVBUF, SO_RCVBUFFORCE, options->receive_buffer);
  set_buffer(fd, SO_SNDBUF, SO_SNDBUFFORCE, options->send_buffer);
  // Counts what the kernel drops; without it the count stays 0.
  setsockopt(fd, SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof on);
  set_path_options(fd, family, options->refuses_fragments);
  if (options->receive_offload)
    options->receive_offload = setsockopt(fd, SOL_UDP, UDP_GRO, &on, sizeof on) == 0;
  int segment = 0;
  socklen_t size = sizeof segment;
  options->segmentation_offload = getsockopt(fd, SOL_UDP, UDP_SEGMENT, &segment, &size) == 0;

  union socket_address name;
  socklen_t length = to_system(address, &name);
  if (bind(fd, &name.any, length) != 0) goto fail;
  length = sizeof name;
  if (getsockname(fd, &name.any, &length) != 0) goto fail;
  from_system(&name.any, bound);
  return fd;

fail:;
  int error = errno;
  close(fd);
  return -error;
}

// MARK: Receiving

typedef union receive_control {
  struct cmsghdr alignment;
  // UDP_GRO, SO_RXQ_OVFL, and IP_TOS or IPV6_TCLASS.
  char bytes[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(uint32_t)) + CMSG_SPACE(sizeof(int))];
} receive_control;

struct receiver {
  sora_net_receiver shared;
  uint32_t slot_size;
  // Headers that the kernel has written to: those of the messages of the last call.
  int used;
  uint8_t *memory;
  struct mmsghdr *headers;
  struct iovec *vectors;
  union socket_address *names;
  receive_control *controls;
};

sora_net_receiver *sora_net_receiver_create(int slots, int slot_size) {
  struct receiver *receiver = calloc(1, sizeof *receiver);
  if (receiver == NULL) return NULL;
  // Slots of a power of two would all start on the same few cache sets.
  size_t stride = (((size_t)slot_size + 63) & ~(size_t)63) + 21 * 64;
  receiver->shared.slots = slots;
  receiver->slot_size = (uint32_t)slot_size;
  receiver->shared.messages = calloc((size_t)slots, sizeof *receiver->shared.messages);
  receiver->memory = aligned_alloc(64, stride * (size_t)slots);
  receiver->headers = calloc((size_t)slots, sizeof *receiver->headers);
  receiver->vectors = calloc((size_t)slots, sizeof *receiver->vectors);
  receiver->names = calloc((size_t)slots, sizeof *receiver->names);
  receiver->controls = calloc((size_t)slots, sizeof *receiver->controls);
  if (!receiver->shared.messages || !receiver->memory || !receiver->headers || !receiver->vectors ||
      !receiver->names || !receiver->controls) {
    sora_net_receiver_destroy(&receiver->shared);
    return NULL;
  }
  for (int i = 0; i < slots; i++) {
    receiver->shared.messages[i].data = receiver->memory + stride * (size_t)i;
    receiver->vectors[i].iov_base = receiver->shared.messages[i].data;
    receiver->vectors[i].iov_len = (size_t)slot_size;
    receiver->headers[i].msg_hdr.msg_iov = &receiver->vectors[i];
    receiver->headers[i].msg_hdr.msg_iovlen = 1;
    receiver->headers[i].msg_hdr.msg_name = &receiver->names[i];
    receiver->headers[i].msg_hdr.msg_control = &receiver->controls[i];
  }
  receiver->used = slots;
  return &receiver->shared;
}

void sora_net_receiver_destroy(sora_net_receiver *shared) {
  struct receiver *receiver = (struct receiver *)shared;
  if (receiver == NULL) return;
  free(receiver->shared.messages);
  free(receiver->memory);
  free(receiver->headers);
  free(receiver->vectors);
  free(receiver->names);
  free(receiver->controls);
  free(receiver);
}

static void read_control(struct msghdr *header, sora_net_message *message) {
  for (struct cmsghdr *item = CMSG_FIRSTHDR(header); item != NULL; item = CMSG_NXTHDR(header, item)) {
    if (item->cmsg_level == SOL_UDP && item->cmsg_type == UDP_GRO) {
      int segment;
      memcpy(&segment, CMSG_DATA(item), sizeof segment);
      if (segment > 0) message->segment = (uint32_t)segment;
    } else if (item->cmsg_level == SOL_SOCKET && item->cmsg_type == SO_RXQ_OVFL) {
      memcpy(&message->overflow, CMSG_DATA(item), sizeof message->overflow);
    } else if (item->cmsg_level == IPPROTO_IP && item->cmsg_type == IP_TOS) {
      message->ecn = *CMSG_DATA(item) & 3;
    } else if (item->cmsg_level == IPPROTO_IPV6 && item->cmsg_type == IPV6_TCLASS) {
      int class;
      memcpy(&class, CMSG_DATA(item), sizeof class);
      message->ecn = class & 3;
    }
  }
}

int sora_net_receive(sora_net_receiver *shared, int fd) {
  struct receiver *receiver = (struct receiver *)shared;
  for (int i = 0; i < receiver->used; i++) {
    // The kernel overwrites these with what it used.
    receiver->headers[i].msg_hdr.msg_namelen = sizeof receiver->names[i];
    receiver->headers[i].msg_hdr.msg_controllen = sizeof receiver->controls[i];
  }
  int count = recvmmsg(fd, receiver->headers, (unsigned)shared->slots, MSG_DONTWAIT, NULL);
  receiver->used = count > 0 ? count : 0;
  if (count < 0) return -errno;
  for (int i = 0; i < count; i++) {
    struct msghdr *header = &receiver->headers[i].msg_hdr;
    sora_net_message *message = &shared->messages[i];
    message->count = receiver->headers[i].msg_len;
    if (message->count > receiver->slot_size) message->count = receiver->slot_size;
    message->segment = 0;
    message->overflow = 0;
    message->ecn = 0;
    message->truncated = (header->msg_flags & MSG_TRUNC) != 0;
    if (header->msg_namelen == 0 || !from_system(&receiver->names[i].any, &message->from))
      message->truncated = 1;
    if (header->msg_controllen > 0) read_control(header, message);
  }
  return count;
}

// MARK: Sending

typedef union send_control {
  struct cmsghdr alignment;
  // UDP_SEGMENT, and IP_TOS or IPV6_TCLASS.
  char bytes[CMSG_SPACE(sizeof(uint16_t)) + CMSG_SPACE(sizeof(int))];
} send_control;

struct sora_net_sender {
  int messages;
  int datagrams;
  struct mmsghdr headers[SORA_NET_SEND_MESSAGES];
  union socket_address names[SORA_NET_SEND_MESSAGES];
  send_control controls[SORA_NET_SEND_MESSAGES];
  struct iovec vectors[SORA_NET_SEND_DATAGRAMS];
};

sora_net_sender *sora_net_sender_create(void) { return calloc(1, sizeof(sora_net_sender)); }

void sora_net_sender_destroy(sora_net_sender *sender) { free(sender); }

void sora_net_sender_reset(sora_net_sender *sender) {
  sender->messages = 0;
  sender->datagrams = 0;
}

// Puts one more item behind those that a message has.
static void add_control(
    struct msghdr *header, send_control *control, int level, int type, const void *value, size_t size) {
  struct cmsghdr *item = (struct cmsghdr *)(control->bytes + header->msg_controllen);
  item->cmsg_level = level;
  item->cmsg_type = type;
  item->cmsg_len = CMSG_LEN(size);
  memcpy(CMSG_DATA(item), value, size);
  header->msg_control = control;
  header->msg_controllen += CMSG_SPACE(size);
}

int sora_net_sender_add(
    sora_net_sender *sender, const sora_net_slot *first, int count, uint16_t segment) {
  if (sender->messages == SORA_NET_SEND_MESSAGES) return 0;
  if (sender->datagrams + count > SORA_NET_SEND_DATAGRAMS) return 0;
  int index = sender->messages++;
  struct iovec *vectors = &sender->vectors[sender->datagrams];
  sender->datagrams += count;
  const sora_net_slot *slot = first;
  for (int i = 0; i < count; i++, slot = slot->next) {
    vectors[i].iov_base = slot->data;
    vectors[i].iov_len = slot->count;
  }
  struct msghdr *header = &sender->headers[index].msg_hdr;
  memset(header, 0, sizeof *header);
  header->msg_name = &sender->names[index];
  header->msg_namelen = to_system(&first->to, &sender->names[index]);
  header->msg_iov = vectors;
  header->msg_iovlen = (size_t)count;
  send_control *control = &sender->controls[index];
  if (segment != 0) add_control(header, control, SOL_UDP, UDP_SEGMENT, &segment, sizeof segment);
  if (first->ecn != 0) {
    int class = (int)first->ecn;
    int is_v4 = first->to.family == 4;
    add_control(
        header, control, is_v4 ? IPPROTO_IP : IPPROTO_IPV6, is_v4 ? IP_TOS : IPV6_TCLASS, &class,
        sizeof class);
  }
  return 1;
}

int sora_net_sender_send(sora_net_sender *sender, int fd) {
  int flags = MSG_DONTWAIT | MSG_NOSIGNAL;
  // One message, as most turns have, costs the kernel less by itself.
  int count = sender->messages == 1
                  ? (sendmsg(fd, &sender->headers[0].msg_hdr, flags) < 0 ? -1 : 1)
                  : sendmmsg(fd, sender->headers, (unsigned)sender->messages, flags);
  return count < 0 ? -errno : count;
}
