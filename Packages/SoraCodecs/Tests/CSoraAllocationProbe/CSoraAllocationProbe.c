#define _GNU_SOURCE
#include "CSoraAllocationProbe.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif

// Tells whether the transport package's counter is in the same program: its malloc is the one that is linked then.
extern uint64_t sora_malloc_count(void) __attribute__((weak));

#if defined(__GLIBC__) && !defined(SANITIZED)

// initial-exec: reaching the counter must not allocate.
static __thread uint64_t allocations __attribute__((tls_model("initial-exec")));

#define MOST_EXCLUDED 16
static uintptr_t excluded_starts[MOST_EXCLUDED], excluded_ends[MOST_EXCLUDED];
static atomic_int excluded_count;
static pthread_mutex_t excluding = PTHREAD_MUTEX_INITIALIZER;

uint64_t sora_allocation_count(void) { return allocations; }
int sora_allocation_count_is_on(void) {
#ifdef __OPTIMIZE__
  return sora_malloc_count == NULL;
#else
  return 0;
#endif
}

static int find(struct dl_phdr_info *info, size_t size, void *name) {
  (void)size;
  if (strstr(info->dlpi_name, name) == NULL) return 0;
  for (int index = 0; index < info->dlpi_phnum; index++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[index];
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
    uintptr_t start = info->dlpi_addr + part->p_vaddr;
    for (int known = 0; known < excluded_count; known++)
      if (excluded_starts[known] == start) return 1;
    if (excluded_count == MOST_EXCLUDED) return 0;
    excluded_starts[excluded_count] = start;
    excluded_ends[excluded_count] = start + part->p_memsz;
    excluded_count++;
    return 1;
  }
  return 0;
}

int sora_allocation_exclude(const char *name) {
  pthread_mutex_lock(&excluding);
  int found = dl_iterate_phdr(find, (void *)name);
  pthread_mutex_unlock(&excluding);
  return found;
}

static int is_excluded(uintptr_t caller) {
  for (int index = 0; index < excluded_count; index++)
    if (caller >= excluded_starts[index] && caller < excluded_ends[index]) return 1;
  return 0;
}

#define NOTE()                                                                    \
  do {                                                                            \
    if (!is_excluded((uintptr_t)__builtin_return_address(0))) allocations++;      \
  } while (0)

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

__attribute__((weak)) void *malloc(size_t size) {
  NOTE();
  return __libc_malloc(size);
}

__attribute__((weak)) void *calloc(size_t count, size_t size) {
  NOTE();
  return __libc_calloc(count, size);
}

__attribute__((weak)) void *realloc(void *memory, size_t size) {
  NOTE();
  return __libc_realloc(memory, size);
}

__attribute__((weak)) void *memalign(size_t alignment, size_t size) {
  NOTE();
  return __libc_memalign(alignment, size);
}

__attribute__((weak)) void *aligned_alloc(size_t alignment, size_t size) {
  NOTE();
  return __libc_memalign(alignment, size);
}

__attribute__((weak)) int posix_memalign(void **out, size_t alignment, size_t size) {
  if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0) return EINVAL;
  NOTE();
  void *memory = __libc_memalign(alignment, size);
  if (memory == NULL) return ENOMEM;
  *out = memory;
  return 0;
}

#else

uint64_t sora_allocation_count(void) { return 0; }
int sora_allocation_exclude(const char *name) {
  (void)name;
  return 0;
}
int sora_allocation_count_is_on(void) { return 0; }

#endif
