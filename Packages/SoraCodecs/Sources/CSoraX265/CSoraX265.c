#include "CSoraX265.h"

#include <CSoraLazy.h>
#include <dlfcn.h>
#include <stddef.h>

#define LIBRARY "libx265.so." SORA_LAZY_TEXT(X265_BUILD)

x265_encoder *sora_x265_open(x265_param *parameters) { return x265_encoder_open(parameters); }

const char *sora_x265_version(void) {
  // A variable, which nothing can stand for; the library is loaded by now.
  void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_NOLOAD);
  const char *const *version = library ? dlsym(library, "x265_version_str") : NULL;
  const char *text = version ? *version : "";
  if (library) dlclose(library);
  return text;
}

// MARK: Loading

#define X265_FUNCTIONS(X) \
  X(x265_encoder_close) X(x265_encoder_encode) X(x265_encoder_open) X(x265_param_alloc) X(x265_param_apply_profile) \
  X(x265_param_default_preset) X(x265_param_free) X(x265_param_parse) X(x265_picture_alloc) X(x265_picture_free) \
  X(x265_picture_init)

SORA_LAZY_LIBRARY(sora_x265_load, LIBRARY, X265_FUNCTIONS)
