#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "libraries.h"

struct sora_cast_functions lib;

static int find(void *library, const char *name, void *function) {
  void *found = dlsym(library, name);
  if (!found) return 0;
  memcpy(function, &found, sizeof found);
  return 1;
}

#define FIND(name) && find(library, #name, &lib.name)

// D-Bus by sd-bus and not by libdbus: a message is one call with its signature, and its headers need no folder of their own, which
// a package can name only together with the library that is to be linked. Where there is no systemd, elogind and basu bring the same.
static pthread_once_t bus_once = PTHREAD_ONCE_INIT;
static int has_bus;

static void load_bus(void) {
  static const char *const names[] = {"libsystemd.so.0", "libelogind.so.0", "libbasu.so.0"};
  for (size_t i = 0; i < sizeof names / sizeof names[0] && !has_bus; i++) {
    void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    has_bus = library && (1 BUS_FUNCTIONS(FIND));
  }
}

int sora_cast_load_bus(void) {
  pthread_once(&bus_once, load_bus);
  return has_bus;
}

static pthread_once_t pipewire_once = PTHREAD_ONCE_INIT;
static int has_pipewire;

static void load_pipewire(void) {
  void *library = dlopen("libpipewire-0.3.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!library || !(1 PIPEWIRE_FUNCTIONS(FIND))) return;
  lib.pw_init(NULL, NULL);
  has_pipewire = 1;
}

int sora_cast_load_pipewire(void) {
  pthread_once(&pipewire_once, load_pipewire);
  return has_pipewire;
}
