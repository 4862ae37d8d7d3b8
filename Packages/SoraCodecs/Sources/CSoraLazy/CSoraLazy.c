#include "CSoraLazy.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread char reason[256];

static const char *load(const char *file, const sora_lazy_function *functions, int count) {
  // The last one is written last: where it is there, all are.
  if (__atomic_load_n(functions[count - 1].target, __ATOMIC_ACQUIRE)) return NULL;
  void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  for (int i = 0; library && i < count; i++) {
    void *found = dlsym(library, functions[i].name);
    if (!found) break;
    __atomic_store_n(functions[i].target, found, __ATOMIC_RELEASE);
    if (i == count - 1) return NULL;
  }
  const char *text = dlerror();
  snprintf(reason, sizeof reason, "%s", text ? text : file);
  if (library) dlclose(library);
  return reason;
}

const char *sora_lazy_load(const char *file, const sora_lazy_function *functions, int count) {
  if (__atomic_load_n(functions[count - 1].target, __ATOMIC_ACQUIRE)) return NULL;
  pthread_mutex_lock(&lock);
  const char *result = load(file, functions, count);
  pthread_mutex_unlock(&lock);
  return result;
}
