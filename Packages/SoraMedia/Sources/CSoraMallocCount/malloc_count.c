#define _GNU_SOURCE
#include "CSoraMallocCount.h"

#include <errno.h>
#include <link.h>
#include <malloc.h>
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

#if defined(__GLIBC__) && !defined(SANITIZED)

// initial-exec: reaching the counters must not allocate.
static __thread uint64_t allocations __attribute__((tls_model("initial-exec")));
static __thread uint64_t excluded __attribute__((tls_model("initial-exec")));
static __thread uint64_t bytes __attribute__((tls_model("initial-exec")));
static __thread int64_t live __attribute__((tls_model("initial-exec")));

uint64_t sora_malloc_count(void) { return allocations; }
uint64_t sora_malloc_count_of_own(void) { return allocations - excluded; }
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

#define MOST_LIBRARIES 16
static struct {
  uintptr_t start, end;
} libraries[MOST_LIBRARIES];
static atomic_int library_count;
static pthread_mutex_t excluding = PTHREAD_MUTEX_INITIALIZER;

static int find(struct dl_phdr_info *info, size_t size, void *name) {
  (void)size;
  if (strstr(info->dlpi_name, name) == NULL) return 0;
  for (int index = 0; index < info->dlpi_phnum; index++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[index];
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
    uintptr_t start = info->dlpi_addr + part->p_vaddr;
    for (int known = 0; known < library_count; known++)
      if (libraries[known].start == start) return 1;
    if (library_count == MOST_LIBRARIES) return 0;
    libraries[library_count].start = start;
    libraries[library_count].end = start + part->p_memsz;
    library_count++;
    return 1;
  }
  return 0;
}

int sora_malloc_exclude(const char *name) {
  pthread_mutex_lock(&excluding);
  int found = dl_iterate_phdr(find, (void *)name);
  pthread_mutex_unlock(&excluding);
  return found;
}

static void note(size_t size, void *caller) {
  allocations++;
  bytes += size;
  for (int index = 0; index < library_count; index++)
    if ((uintptr_t)caller >= libraries[index].start && (uintptr_t)caller < libraries[index].end) excluded++;
}

#define CALLER __builtin_return_address(0)

// By the block's own size, which freeing it gives back.
static void *keep(void *memory) {
  live += (int64_t)malloc_usable_size(memory);
  return memory;
}

void *malloc(size_t size) {
  note(size, CALLER);
  return keep(__libc_malloc(size));
}

void *calloc(size_t count, size_t size) {
  note(count * size, CALLER);
  return keep(__libc_calloc(count, size));
}

void *realloc(void *memory, size_t size) {
  note(size, CALLER);
  int64_t before = (int64_t)malloc_usable_size(memory);
  void *moved = __libc_realloc(memory, size);
  // Where it fails the block stays as it is; with size 0 it is freed.
  if (moved != NULL || size == 0) live -= before;
  return keep(moved);
}

void *memalign(size_t alignment, size_t size) {
  note(size, CALLER);
  return keep(__libc_memalign(alignment, size));
}

void *aligned_alloc(size_t alignment, size_t size) {
  note(size, CALLER);
  return keep(__libc_memalign(alignment, size));
}

int posix_memalign(void **out, size_t alignment, size_t size) {
  if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0) return EINVAL;
  note(size, CALLER);
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
uint64_t sora_malloc_count_of_own(void) { return 0; }
int sora_malloc_exclude(const char *name) {
  (void)name;
  return 0;
}
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
