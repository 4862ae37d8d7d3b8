#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "xcb.h"

struct sora_x11_functions xcb;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int is_loaded;

static void *open_library(const char *name) { return dlopen(name, RTLD_NOW | RTLD_LOCAL); }

static int find(void *library, const char *name, void *function) {
  void *found = dlsym(library, name);
  if (!found) return 0;
  memcpy(function, &found, sizeof found);
  return 1;
}

#define FIND(name) && find(library, #name, &xcb.name)

/// An extension without its library, or without one function of it, isn't there.
#define EXTENSION(file, FUNCTIONS, id, member) \
  do { \
    void *library = open_library(file); \
    if (library && !(1 FUNCTIONS(FIND) && find(library, id, &xcb.member))) xcb.member = NULL; \
  } while (0)

static void load(void) {
  void *library = open_library("libxcb.so.1");
  if (!library || !(1 XCB_FUNCTIONS(FIND))) return;
  EXTENSION("libxcb-shm.so.0", SHM_FUNCTIONS, "xcb_shm_id", shm);
  EXTENSION("libxcb-damage.so.0", DAMAGE_FUNCTIONS, "xcb_damage_id", damage);
  EXTENSION("libxcb-xfixes.so.0", FIXES_FUNCTIONS, "xcb_xfixes_id", fixes);
  EXTENSION("libxcb-randr.so.0", RANDR_FUNCTIONS, "xcb_randr_id", randr);
  EXTENSION("libxcb-composite.so.0", COMPOSITE_FUNCTIONS, "xcb_composite_id", composite);
  is_loaded = 1;
}

int sora_x11_load(void) {
  pthread_once(&once, load);
  return is_loaded;
}
