#include "CSoraUsrsctp.h"

#include <errno.h>

#if __has_include(<usrsctp.h>)

#include <stdlib.h>
#include <string.h>

#include "library.h"

/// Known to the library by a number in an address's place: it may name a peer that is gone.
struct sora_usrsctp_peer {
  uintptr_t number;
  struct socket *socket;
  int listens;
  uint16_t remote_port;
  sora_usrsctp_callbacks callbacks;
};

/// By number minus one; NULL for those that are gone.
static sora_usrsctp_peer **peers;
static size_t peer_count, peer_room;

uint64_t sora_usrsctp_callback_count;

static sora_usrsctp_peer *find_peer(void *number) {
  uintptr_t index = (uintptr_t)number - 1;
  return index < peer_count ? peers[index] : NULL;
}

int sora_usrsctp_output(void *address, void *bytes, size_t count, uint8_t tos, uint8_t set_df) {
  (void)tos, (void)set_df;
  sora_usrsctp_peer *peer = find_peer(address);
  sora_usrsctp_callback_count++;
  if (peer) peer->callbacks.packet(peer->callbacks.context, bytes, count);
  return 0;
}

static void tell(sora_usrsctp_peer *peer, enum sora_usrsctp_event event, uint32_t detail) {
  peer->callbacks.event(peer->callbacks.context, event, detail);
}

static void tell_association(sora_usrsctp_peer *peer, const struct sctp_assoc_change *change, size_t count) {
  uint32_t features = 0;
  switch (change->sac_state) {
    case SCTP_COMM_UP:
      for (size_t i = 0; i + sizeof *change < count; i++) {
        switch (change->sac_info[i]) {
          case SCTP_ASSOC_SUPPORTS_PR: features |= sora_usrsctp_partial_reliability; break;
          case SCTP_ASSOC_SUPPORTS_RE_CONFIG: features |= sora_usrsctp_stream_reset; break;
          case SCTP_ASSOC_SUPPORTS_INTERLEAVING: features |= sora_usrsctp_interleaving; break;
          default: break;
        }
      }
      return tell(peer, sora_usrsctp_up, features);
    case SCTP_COMM_LOST: return tell(peer, sora_usrsctp_lost, change->sac_error);
    case SCTP_RESTART: return tell(peer, sora_usrsctp_restarted, 0);
    case SCTP_SHUTDOWN_COMP: return tell(peer, sora_usrsctp_shut_down, 0);
    case SCTP_CANT_STR_ASSOC: return tell(peer, sora_usrsctp_not_started, change->sac_error);
    default: return;
  }
}

static void tell_reset(sora_usrsctp_peer *peer, const struct sctp_stream_reset_event *reset) {
  enum sora_usrsctp_event event = sora_usrsctp_outgoing_reset;
  if (reset->strreset_flags & (SCTP_STREAM_RESET_DENIED | SCTP_STREAM_RESET_FAILED)) {
    event = sora_usrsctp_reset_failed;
  } else if (reset->strreset_flags & SCTP_STREAM_RESET_INCOMING_SSN) {
    event = sora_usrsctp_incoming_reset;
  }
  size_t streams = (reset->strreset_length - sizeof *reset) / sizeof(uint16_t);
  for (size_t i = 0; i < streams; i++) tell(peer, event, reset->strreset_stream_list[i]);
}

static void notify(sora_usrsctp_peer *peer, const void *data, size_t count) {
  const union sctp_notification *notification = data;
  if (count < sizeof notification->sn_header) return;
  switch (notification->sn_header.sn_type) {
    case SCTP_ASSOC_CHANGE:
      if (count >= sizeof notification->sn_assoc_change) tell_association(peer, &notification->sn_assoc_change, count);
      break;
    case SCTP_STREAM_RESET_EVENT:
      if (count >= sizeof notification->sn_strreset_event) tell_reset(peer, &notification->sn_strreset_event);
      break;
    case SCTP_PARTIAL_DELIVERY_EVENT:
      tell(peer, sora_usrsctp_delivery_aborted, notification->sn_pdapi_event.pdapi_stream);
      break;
    default: break;
  }
}

static int receive(
    struct socket *socket, union sctp_sockstore from, void *data, size_t count, struct sctp_rcvinfo info, int flags,
    void *number) {
  (void)socket, (void)from;
  sora_usrsctp_peer *peer = find_peer(number);
  sora_usrsctp_callback_count++;
  if (peer && data) {
    if (flags & MSG_NOTIFICATION) {
      notify(peer, data, count);
    } else {
      peer->callbacks.message(
          peer->callbacks.context, info.rcv_sid, ntohl(info.rcv_ppid), (info.rcv_flags & SCTP_UNORDERED) != 0, data, count,
          (flags & MSG_EOR) != 0);
    }
  }
  free(data);
  return 1;
}

static int set(struct socket *socket, int level, int option, const void *value, socklen_t size) {
  return usrsctp.setsockopt(socket, level, option, value, size);
}

/// Not in the library's public header; the number is that of FreeBSD's netinet/sctp.h.
static const int interleaving_supported = 0x1206;

static int configure(struct socket *socket, const sora_usrsctp_options *options) {
  const int level = IPPROTO_SCTP;
  uint32_t on = 1;
  int send_buffer = (int)options->send_buffer, receive_buffer = (int)options->receive_buffer;
  struct linger linger = {.l_onoff = 1, .l_linger = 0};
  struct sctp_initmsg init = {
      .sinit_num_ostreams = options->streams, .sinit_max_instreams = options->streams, .sinit_max_attempts = 8};
  struct sctp_assoc_value resets = {.assoc_id = SCTP_FUTURE_ASSOC, .assoc_value = SCTP_ENABLE_RESET_STREAM_REQ};
  struct sctp_assoc_value interleaving = {.assoc_id = SCTP_FUTURE_ASSOC, .assoc_value = 1};
  int levels = 2;
  // For such addresses the library counts without the common header.
  struct sctp_paddrparams path = {
      .spp_flags = SPP_PMTUD_DISABLE, .spp_pathmtu = options->mtu - (uint32_t)sizeof(struct sctp_common_header)};
  static const uint16_t events[] = {SCTP_ASSOC_CHANGE, SCTP_STREAM_RESET_EVENT, SCTP_PARTIAL_DELIVERY_EVENT};

  if (usrsctp.set_non_blocking(socket, 1) != 0
      || set(socket, SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof send_buffer) != 0
      || set(socket, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer) != 0
      || set(socket, SOL_SOCKET, SO_LINGER, &linger, sizeof linger) != 0
      // Only whole messages are told, where they fit.
      || set(socket, level, SCTP_PARTIAL_DELIVERY_POINT, &options->receive_buffer, sizeof options->receive_buffer) != 0
      || set(socket, level, SCTP_NODELAY, &on, sizeof on) != 0
      || set(socket, level, SCTP_INITMSG, &init, sizeof init) != 0
      || set(socket, level, SCTP_ENABLE_STREAM_RESET, &resets, sizeof resets) != 0
      || set(socket, level, SCTP_PEER_ADDR_PARAMS, &path, sizeof path) != 0)
    return 0;
  // Pieces of several messages may come in turns, which is what the library has interleaving for.
  if (options->interleaving
      && (set(socket, level, SCTP_FRAGMENT_INTERLEAVE, &levels, sizeof levels) != 0
          || set(socket, level, interleaving_supported, &interleaving, sizeof interleaving) != 0))
    return 0;
  for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
    struct sctp_event event = {.se_assoc_id = SCTP_FUTURE_ASSOC, .se_type = events[i], .se_on = 1};
    if (set(socket, level, SCTP_EVENT, &event, sizeof event) != 0) return 0;
  }
  return 1;
}

static struct sockaddr_conn address_of(const sora_usrsctp_peer *peer, uint16_t port) {
  return (struct sockaddr_conn){.sconn_family = AF_CONN, .sconn_port = htons(port), .sconn_addr = (void *)peer->number};
}

static sora_usrsctp_peer *add_peer(void) {
  if (peer_count == peer_room) {
    size_t room = peer_room ? 2 * peer_room : 64;
    sora_usrsctp_peer **more = realloc(peers, room * sizeof *more);
    if (!more) return NULL;
    peers = more;
    peer_room = room;
  }
  sora_usrsctp_peer *peer = calloc(1, sizeof *peer);
  if (!peer) return NULL;
  peers[peer_count++] = peer;
  peer->number = peer_count;
  usrsctp.register_address((void *)peer->number);
  return peer;
}

sora_usrsctp_peer *sora_usrsctp_create(const sora_usrsctp_options *options, const sora_usrsctp_callbacks *callbacks) {
  if (!sora_usrsctp_load()) {
    errno = ENOSYS;
    return NULL;
  }
  sora_usrsctp_peer *peer = add_peer();
  if (!peer) return NULL;
  peer->callbacks = *callbacks;
  peer->remote_port = options->remote_port;
  peer->socket = usrsctp.socket(AF_CONN, SOCK_STREAM, IPPROTO_SCTP, receive, NULL, 0, (void *)peer->number);
  struct sockaddr_conn local = address_of(peer, options->local_port);
  if (!peer->socket || !configure(peer->socket, options)
      || usrsctp.bind(peer->socket, (struct sockaddr *)&local, sizeof local) != 0) {
    int reason = errno;
    sora_usrsctp_destroy(peer);
    errno = reason;
    return NULL;
  }
  return peer;
}

void sora_usrsctp_destroy(sora_usrsctp_peer *peer) {
  // First, so that what closing gives isn't told.
  peers[peer->number - 1] = NULL;
  if (peer->socket) usrsctp.close(peer->socket);
  usrsctp.deregister_address((void *)peer->number);
  free(peer);
}

int sora_usrsctp_connect(sora_usrsctp_peer *peer) {
  struct sockaddr_conn remote = address_of(peer, peer->remote_port);
  if (usrsctp.connect(peer->socket, (struct sockaddr *)&remote, sizeof remote) == 0 || errno == EINPROGRESS) return 0;
  return errno;
}

int sora_usrsctp_listen(sora_usrsctp_peer *peer) {
  if (usrsctp.listen(peer->socket, 1) != 0) return errno;
  peer->listens = 1;
  return 0;
}

int sora_usrsctp_send(
    sora_usrsctp_peer *peer, uint16_t stream, uint32_t protocol, int unordered, enum sora_usrsctp_reliability reliability,
    uint32_t value, const void *bytes, size_t count) {
  if (!peer->socket) return ENOTCONN;
  struct sctp_sendv_spa how = {.sendv_flags = SCTP_SEND_SNDINFO_VALID};
  how.sendv_sndinfo.snd_sid = stream;
  how.sendv_sndinfo.snd_flags = SCTP_EOR | (unordered ? SCTP_UNORDERED : 0);
  how.sendv_sndinfo.snd_ppid = htonl(protocol);
  if (reliability != sora_usrsctp_reliable) {
    how.sendv_flags |= SCTP_SEND_PRINFO_VALID;
    how.sendv_prinfo.pr_policy = reliability == sora_usrsctp_lifetime ? SCTP_PR_SCTP_TTL : SCTP_PR_SCTP_RTX;
    how.sendv_prinfo.pr_value = value;
  }
  ssize_t sent = usrsctp.sendv(peer->socket, bytes, count, NULL, 0, &how, sizeof how, SCTP_SENDV_SPA, 0);
  if (sent < 0) return errno;
  return (size_t)sent == count ? 0 : EMSGSIZE;
}

int sora_usrsctp_reset(sora_usrsctp_peer *peer, const uint16_t *streams, size_t count) {
  if (!peer->socket) return ENOTCONN;
  size_t size = sizeof(struct sctp_reset_streams) + count * sizeof *streams;
  struct sctp_reset_streams *reset = calloc(1, size);
  if (!reset) return ENOMEM;
  reset->srs_flags = SCTP_STREAM_RESET_OUTGOING;
  reset->srs_number_streams = (uint16_t)count;
  memcpy(reset->srs_stream_list, streams, count * sizeof *streams);
  int failed = usrsctp.setsockopt(peer->socket, IPPROTO_SCTP, SCTP_RESET_STREAMS, reset, (socklen_t)size);
  int reason = errno;
  free(reset);
  return failed ? reason : 0;
}

int sora_usrsctp_shutdown(sora_usrsctp_peer *peer) {
  if (!peer->socket) return ENOTCONN;
  return usrsctp.shutdown(peer->socket, SHUT_WR) == 0 ? 0 : errno;
}

int sora_usrsctp_abort(sora_usrsctp_peer *peer) {
  if (!peer->socket) return ENOTCONN;
  // It lingers for no time, which is an ABORT. Nothing is told of it.
  usrsctp.close(peer->socket);
  peer->socket = NULL;
  tell(peer, sora_usrsctp_lost, 0);
  return 0;
}

void sora_usrsctp_receive(sora_usrsctp_peer *peer, const void *bytes, size_t count) {
  usrsctp.conninput((void *)peer->number, bytes, count, 0);
  if (!peer->listens) return;
  struct socket *accepted = usrsctp.accept(peer->socket, NULL, NULL);
  if (!accepted) return;
  // The association goes on with the accepted socket; nobody else is expected.
  usrsctp.close(peer->socket);
  peer->socket = accepted;
  peer->listens = 0;
  usrsctp.set_non_blocking(accepted, 1);
}

#else

sora_usrsctp_peer *sora_usrsctp_create(const sora_usrsctp_options *options, const sora_usrsctp_callbacks *callbacks) {
  (void)options, (void)callbacks;
  errno = ENOSYS;
  return NULL;
}

// Nobody has a peer to call these with.
void sora_usrsctp_destroy(sora_usrsctp_peer *peer) { (void)peer; }
int sora_usrsctp_connect(sora_usrsctp_peer *peer) { return (void)peer, ENOSYS; }
int sora_usrsctp_listen(sora_usrsctp_peer *peer) { return (void)peer, ENOSYS; }
int sora_usrsctp_shutdown(sora_usrsctp_peer *peer) { return (void)peer, ENOSYS; }
int sora_usrsctp_abort(sora_usrsctp_peer *peer) { return (void)peer, ENOSYS; }
void sora_usrsctp_receive(sora_usrsctp_peer *peer, const void *bytes, size_t count) { (void)peer, (void)bytes, (void)count; }
int sora_usrsctp_reset(sora_usrsctp_peer *peer, const uint16_t *streams, size_t count) {
  return (void)peer, (void)streams, (void)count, ENOSYS;
}
int sora_usrsctp_send(
    sora_usrsctp_peer *peer, uint16_t stream, uint32_t protocol, int unordered, enum sora_usrsctp_reliability reliability,
    uint32_t value, const void *bytes, size_t count) {
  (void)peer, (void)stream, (void)protocol, (void)unordered, (void)reliability, (void)value, (void)bytes, (void)count;
  return ENOSYS;
}

#endif
