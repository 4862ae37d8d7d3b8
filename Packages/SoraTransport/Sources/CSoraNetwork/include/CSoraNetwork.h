// The system calls behind `NetworkLoop`: epoll, eventfd and batched UDP. Nothing here decides anything;
// the loop's logic is in Swift. Functions return -errno where they fail.
#ifndef CSORA_NETWORK_H
#define CSORA_NETWORK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// MARK: Addresses

/// An IP address and a port, in host byte order.
typedef struct sora_net_address {
  /// The upper 64 bits of an IPv6 address; 0 for IPv4.
  uint64_t high;
  /// The lower 64 bits of an IPv6 address, or the 32 bits of an IPv4 address.
  uint64_t low;
  /// The interface of a link-local IPv6 address; 0 otherwise.
  uint32_t scope;
  uint16_t port;
  /// 4 or 6.
  uint16_t family;
} sora_net_address;

/// One address of one interface that is up.
typedef struct sora_net_interface_address {
  char name[16];
  sora_net_address address;
  uint32_t index;
  uint8_t is_loopback;
  uint8_t prefix_length;
} sora_net_interface_address;

/// Writes up to `capacity` addresses and returns how many there are (possibly more), or -errno.
int sora_net_list_addresses(sora_net_interface_address *out, int capacity);

/// Opens a netlink socket that becomes readable when an address or an interface changes. A descriptor or -errno.
int sora_net_changes_open(void);
/// Reads what has come. 1 where an address or an interface changed, 0 where nothing that matters did.
int sora_net_changes_read(int fd);

// MARK: Threads

/// Starts a detached thread with all signals blocked. `name` has at most 15 characters. 0 or -errno.
int sora_net_thread_start(const char *name, void (*body)(void *), void *context);

/// The loop whose thread this is, or NULL. Set once by each loop's thread.
const void *sora_net_current_loop(void);
void sora_net_set_current_loop(const void *loop);

// MARK: Waiting

enum {
  SORA_NET_READABLE = 1,
  SORA_NET_WRITABLE = 2,
  SORA_NET_FAILED = 4,
};

typedef struct sora_net_event {
  uint64_t token;
  uint32_t ready;
} sora_net_event;

int sora_net_poller_open(void);
int sora_net_poller_add(int poller, int fd, uint64_t token);
int sora_net_poller_watch_writable(int poller, int fd, uint64_t token, int on);
int sora_net_poller_remove(int poller, int fd);
/// Waits for at most `timeout` nanoseconds (negative: for ever). `capacity` is at most 128.
int sora_net_poller_wait(int poller, sora_net_event *out, int capacity, int64_t timeout);

int sora_net_wake_open(void);
void sora_net_wake_signal(int fd);
void sora_net_wake_drain(int fd);

void sora_net_close(int fd);

// MARK: UDP

typedef struct sora_net_udp_options {
  /// Bytes; what the kernel grants may be less.
  int32_t receive_buffer;
  int32_t send_buffer;
  /// In: whether to ask for UDP_GRO. Out: whether it is on.
  int32_t receive_offload;
  /// Out: whether the kernel knows UDP_SEGMENT.
  int32_t segmentation_offload;
  /// Whether datagrams beyond the path's MTU are refused (IP_PMTUDISC_DO); else the system decides.
  int32_t refuses_fragments;
} sora_net_udp_options;

/// Opens a non-blocking socket bound to `address` and writes the address it got to `bound`. A descriptor or -errno.
int sora_net_udp_open(
    const sora_net_address *address, sora_net_udp_options *options, sora_net_address *bound);

/// A received message: one datagram, or several of `segment` bytes each (the last may be shorter) when
/// `segment` is not 0.
typedef struct sora_net_message {
  uint8_t *data;
  uint32_t count;
  uint32_t segment;
  /// Datagrams that the kernel has dropped on this socket so far because its buffer was full, modulo 2^32;
  /// 0 when it doesn't say.
  uint32_t overflow;
  /// Whether the datagram was longer than the slot.
  uint16_t truncated;
  /// The two ECN bits of the IP header.
  uint16_t ecn;
  sora_net_address from;
} sora_net_message;

typedef struct sora_net_receiver {
  int slots;
  sora_net_message *messages;
} sora_net_receiver;

/// Memory for `slots` messages of up to `slot_size` bytes. NULL when there is none.
sora_net_receiver *sora_net_receiver_create(int slots, int slot_size);
void sora_net_receiver_destroy(sora_net_receiver *receiver);
/// Fills `messages` from the socket with one recvmmsg; never blocks. The number of messages or -errno.
int sora_net_receive(sora_net_receiver *receiver, int fd);

// MARK: Paths

/// What an ICMP message says of a datagram that was sent, or the kernel of one that it refused to send.
typedef struct sora_net_error {
  /// The errno that it amounts to.
  int32_t code;
  /// Whether the kernel refused a datagram; else an ICMP message came.
  int32_t is_local;
  /// With EMSGSIZE: bytes of the longest IP packet that the path takes.
  uint32_t mtu;
  /// Where the datagram was to go; its family is 0 where that isn't known.
  sora_net_address to;
} sora_net_error;

/// Takes the oldest entry of a socket's error queue; never blocks. 1, or 0 where there is none.
int sora_net_next_error(int fd, sora_net_error *out);

/// Bytes of the longest IP packet that the path from `local` (whose port doesn't matter) to `to` takes as far as the
/// kernel knows, or -errno.
int sora_net_path_mtu(const sora_net_address *local, const sora_net_address *to);

// MARK: Sending

/// A datagram that waits to be sent.
typedef struct sora_net_slot {
  struct sora_net_slot *next;
  uint8_t *data;
  uint32_t count;
  uint32_t capacity;
  sora_net_address to;
  /// The two ECN bits of its IP header.
  uint32_t ecn;
} sora_net_slot;

enum {
  /// Messages of one sendmmsg.
  SORA_NET_SEND_MESSAGES = 64,
  /// Datagrams of one sendmmsg.
  SORA_NET_SEND_DATAGRAMS = 512,
  /// Datagrams of one message: UDP_MAX_SEGMENTS of Linux before 6.9.
  SORA_NET_SEND_SEGMENTS = 64,
};

typedef struct sora_net_sender sora_net_sender;

sora_net_sender *sora_net_sender_create(void);
void sora_net_sender_destroy(sora_net_sender *sender);
/// Forgets the messages added before.
void sora_net_sender_reset(sora_net_sender *sender);
/// Adds `count` slots of the list `first` as one message, split by the kernel into datagrams of `segment` bytes
/// when that is not 0. All of them have the first one's destination and ECN bits. 0 when there is no room.
int sora_net_sender_add(
    sora_net_sender *sender, const sora_net_slot *first, int count, uint16_t segment);
/// Sends what was added with one sendmmsg. The number of messages sent or -errno (of the first message).
int sora_net_sender_send(sora_net_sender *sender, int fd);

#ifdef __cplusplus
}
#endif

#endif
