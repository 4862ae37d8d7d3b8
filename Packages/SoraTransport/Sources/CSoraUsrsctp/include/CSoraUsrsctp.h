// Only for tests and benchmarks: usrsctp as the other end of an SCTP association, or as both. The library is loaded at run
// time. It runs within the functions below (the one thread that it starts waits for addresses to come and go), and what it
// asks the system for, the time and randomness, it gets from here: so it runs in virtual time, and a seed decides everything
// it does.
//
// The library is one for a process: whoever uses it does so on one thread at a time.
#ifndef C_SORA_USRSCTP_H
#define C_SORA_USRSCTP_H

#include <stddef.h>
#include <stdint.h>

/// 1 if the library is there, could be loaded and takes its time from here.
int sora_usrsctp_load(void);

/// The library's time, nanoseconds: 0 at first. It only grows.
int64_t sora_usrsctp_now(void);

/// Puts the time forward, and runs the timers that end until then, in steps of at most a millisecond. It stops after a step in
/// which something was sent or told. Gives the time that it came to.
int64_t sora_usrsctp_run_until(int64_t nanoseconds);

/// Where the random numbers that the library draws from now on start.
void sora_usrsctp_seed(uint64_t seed);

typedef struct sora_usrsctp_peer sora_usrsctp_peer;

enum sora_usrsctp_event {
  /// The association is up; `detail` holds the `sora_usrsctp_feature`s that both ends have.
  sora_usrsctp_up,
  /// It ended by SHUTDOWN.
  sora_usrsctp_shut_down,
  /// It was lost or aborted; `detail` is the error cause of RFC 9260 §3.3.10, 0 if unknown.
  sora_usrsctp_lost,
  /// It never came up.
  sora_usrsctp_not_started,
  /// The peer started anew.
  sora_usrsctp_restarted,
  /// The peer has closed its stream `detail` (RFC 6525).
  sora_usrsctp_incoming_reset,
  /// The peer has agreed that our stream `detail` is closed.
  sora_usrsctp_outgoing_reset,
  /// The peer didn't agree, or the attempt failed.
  sora_usrsctp_reset_failed,
  /// A message of stream `detail`, whose beginning was delivered, was given up by the peer.
  sora_usrsctp_delivery_aborted,
};

enum sora_usrsctp_feature {
  sora_usrsctp_partial_reliability = 1,
  sora_usrsctp_stream_reset = 2,
  sora_usrsctp_interleaving = 4,
};

enum sora_usrsctp_reliability {
  sora_usrsctp_reliable,
  /// The value is how often a message is sent again.
  sora_usrsctp_retransmissions,
  /// The value is milliseconds.
  sora_usrsctp_lifetime,
};

/// Called from within the functions below. They may not call any of these.
typedef struct sora_usrsctp_callbacks {
  void *context;
  void (*packet)(void *context, const void *bytes, size_t count);
  /// A message, or where the library doesn't wait for all of it, a piece.
  void (*message)(
      void *context, uint16_t stream, uint32_t protocol, int unordered, const void *bytes, size_t count, int is_end);
  void (*event)(void *context, enum sora_usrsctp_event event, uint32_t detail);
} sora_usrsctp_callbacks;

typedef struct sora_usrsctp_options {
  uint16_t local_port;
  uint16_t remote_port;
  /// Of each direction.
  uint16_t streams;
  /// Whether it offers RFC 8260's I-DATA.
  int interleaving;
  /// Bytes of the largest packet.
  uint32_t mtu;
  /// Bytes. No message may be larger than the send buffer.
  uint32_t send_buffer;
  uint32_t receive_buffer;
} sora_usrsctp_options;

/// NULL where the library refuses, with the reason in errno.
sora_usrsctp_peer *sora_usrsctp_create(const sora_usrsctp_options *options, const sora_usrsctp_callbacks *callbacks);

/// Aborts what isn't closed, without a callback.
void sora_usrsctp_destroy(sora_usrsctp_peer *peer);

// Each returns 0, or an errno.

int sora_usrsctp_connect(sora_usrsctp_peer *peer);
int sora_usrsctp_listen(sora_usrsctp_peer *peer);

/// EWOULDBLOCK where the send buffer has no room for the message.
int sora_usrsctp_send(
    sora_usrsctp_peer *peer, uint16_t stream, uint32_t protocol, int unordered, enum sora_usrsctp_reliability reliability,
    uint32_t value, const void *bytes, size_t count);

/// Closes the outgoing half of streams. EALREADY while an earlier reset goes on.
int sora_usrsctp_reset(sora_usrsctp_peer *peer, const uint16_t *streams, size_t count);
int sora_usrsctp_shutdown(sora_usrsctp_peer *peer);
int sora_usrsctp_abort(sora_usrsctp_peer *peer);

/// A packet from the other end.
void sora_usrsctp_receive(sora_usrsctp_peer *peer, const void *bytes, size_t count);

#endif
