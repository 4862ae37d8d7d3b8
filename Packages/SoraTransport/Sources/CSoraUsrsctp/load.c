#include "CSoraUsrsctp.h"

// Without the library's header this module can still be built, and says that there is no library.
#if __has_include(<usrsctp.h>)

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "library.h"

struct sora_usrsctp_library usrsctp;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int is_loaded;

static int find(void *library, const char *name, void *function) {
  void *found = dlsym(library, name);
  if (!found) return 0;
  memcpy(function, &found, sizeof found);
  return 1;
}

#define FIND(name) &&find(library, "usrsctp_" #name, &usrsctp.name)

static void load(void) {
  void *library = dlopen("libusrsctp.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!library || !(1 USRSCTP_FUNCTIONS(FIND)) || !sora_usrsctp_isolate(library)) return;
  usrsctp.init_nothreads(0, sora_usrsctp_output, NULL);
  // As browsers have had it: none of what a single path behind DTLS has no use for.
  usrsctp.sysctl_set_sctp_ecn_enable(0);
  usrsctp.sysctl_set_sctp_asconf_enable(0);
  usrsctp.sysctl_set_sctp_auth_enable(0);
  usrsctp.sysctl_set_sctp_pr_enable(1);
  usrsctp.sysctl_set_sctp_reconfig_enable(1);
  is_loaded = 1;
}

int sora_usrsctp_load(void) {
  pthread_once(&once, load);
  return is_loaded;
}

#else

int sora_usrsctp_load(void) { return 0; }

#endif
