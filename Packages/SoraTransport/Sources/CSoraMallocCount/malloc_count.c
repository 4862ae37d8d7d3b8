#include "CSoraMallocCount.h"

#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdlib.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif

#if defined(__GLIBC__) && !defined(SANITIZED)

// initial-exec: reaching the counters must not allocate.
static __thread uint64_t allocations __attribute__((tls_model("initial-exec")));
static __thread uint64_t bytes __attribute__((tls_model("initial-exec")));
static __thread int64_t live __attribute__((tls_model("initial-exec")));

uint64_t sora_malloc_count(void) { return allocations; }
uint64_t sora_malloc_bytes(void) { return bytes; }
int64_t sora_malloc_live_bytes(void) { return live; }
uint64_t sora_malloc_in_use(void) {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}
int sora_malloc_count_is_on(void) { return 1; }

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static void note(size_t size) {
  allocations++;
  bytes += size;
}

// By the block's own size, which freeing it gives back.
static void *keep(void *memory) {
  live += (int64_t)malloc_usable_size(memory);
  return memory;
}

void *malloc(size_t size) {
  note(size);
  return keep(__libc_malloc(size));
}

void *calloc(size_t count, size_t size) {
  note(count * size);
  return keep(__libc_calloc(count, size));
}

void *realloc(void *memory, size_t size) {
  note(size);
  int64_t before = (int64_t)malloc_usable_size(memory);
  void *moved = __libc_realloc(memory, size);
  // Where it fails the block stays as it is; with size 0 it is freed.
  if (moved != NULL || size == 0) live -= before;
  return keep(moved);
}

void *memalign(size_t alignment, size_t size) {
  note(size);
  return keep(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size) {
  note(size);
  return keep(__libc_memalign(alignment, size));
}

int posix_memalign(void **out, size_t alignment, size_t size) {
  if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0) return EINVAL;
  note(size);
  void *memory = __libc_memalign(alignment, size);
  if (memory == NULL) return ENOMEM;
  *out = keep(memory);
  return 0;
}

void free(void *memory) {
  live -= (int64_t)malloc_usable_size(memory);
  __libc_free(memory);
}

#else

uint64_t sora_malloc_count(void) { return 0; }
uint64_t sora_malloc_bytes(void) { return 0; }
int64_t sora_malloc_live_bytes(void) { return 0; }
uint64_t sora_malloc_in_use(void) { return 0; }
int sora_malloc_count_is_on(void) { return 0; }

#endif

int sora_malloc_count_is_telling(void) {
#ifdef __OPTIMIZE__
  return sora_malloc_count_is_on();
#else
  return 0;
#endif
}
