#include "CSoraAllocationProbe.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif

// The transport package's counter, where both packages' tests are one program. Its malloc is the one that is linked then.
extern uint64_t sora_malloc_count(void) __attribute__((weak));

#if defined(__GLIBC__) && !defined(SANITIZED)

// initial-exec: reaching the counter must not allocate.
static __thread uint64_t allocations __attribute__((tls_model("initial-exec")));

uint64_t sora_allocation_count(void) {
  return sora_malloc_count ? sora_malloc_count() : allocations;
}
int sora_allocation_count_is_on(void) { return 1; }

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

__attribute__((weak)) void *malloc(size_t size) {
  allocations++;
  return __libc_malloc(size);
}

__attribute__((weak)) void *calloc(size_t count, size_t size) {
  allocations++;
  return __libc_calloc(count, size);
}

__attribute__((weak)) void *realloc(void *memory, size_t size) {
  allocations++;
  return __libc_realloc(memory, size);
}

__attribute__((weak)) void *memalign(size_t alignment, size_t size) {
  allocations++;
  return __libc_memalign(alignment, size);
}

__attribute__((weak)) void *aligned_alloc(size_t alignment, size_t size) {
  allocations++;
  return __libc_memalign(alignment, size);
}

__attribute__((weak)) int posix_memalign(void **out, size_t alignment, size_t size) {
  if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0) return EINVAL;
  allocations++;
  void *memory = __libc_memalign(alignment, size);
  if (memory == NULL) return ENOMEM;
  *out = memory;
  return 0;
}

#else

uint64_t sora_allocation_count(void) { return 0; }
int sora_allocation_count_is_on(void) { return 0; }

#endif
