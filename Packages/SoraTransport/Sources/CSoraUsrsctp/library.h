// What is used of the library, and its surroundings.
#ifndef C_SORA_USRSCTP_LIBRARY_H
#define C_SORA_USRSCTP_LIBRARY_H

#include <usrsctp.h>

#define USRSCTP_FUNCTIONS(F) \
  F(init_nothreads) \
  F(handle_timers) \
  F(register_address) \
  F(deregister_address) \
  F(socket) \
  F(set_non_blocking) \
  F(setsockopt) \
  F(bind) \
  F(connect) \
  F(listen) \
  F(accept) \
  F(sendv) \
  F(shutdown) \
  F(close) \
  F(conninput) \
  F(sysctl_set_sctp_ecn_enable) \
  F(sysctl_set_sctp_asconf_enable) \
  F(sysctl_set_sctp_auth_enable) \
  F(sysctl_set_sctp_pr_enable) \
  F(sysctl_set_sctp_reconfig_enable)

#define DECLARE(name) __typeof__(usrsctp_##name) *name;
struct sora_usrsctp_library {
  USRSCTP_FUNCTIONS(DECLARE)
};
#undef DECLARE

extern struct sora_usrsctp_library usrsctp;

/// Sends the calls of a loaded library's imported function elsewhere. 1 if there was one.
int sora_usrsctp_redirect(void *library, const char *name, void *to);

/// Redirects the library's clock and randomness to this module's. 1 if all were found.
int sora_usrsctp_isolate(void *library);

/// Packets, messages and events so far, of all peers.
extern uint64_t sora_usrsctp_callback_count;

/// A packet of the library's own, from the peer whose address it is.
int sora_usrsctp_output(void *address, void *bytes, size_t count, uint8_t tos, uint8_t set_df);

#endif
