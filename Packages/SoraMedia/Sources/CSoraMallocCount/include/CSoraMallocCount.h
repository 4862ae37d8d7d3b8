// Counts this thread's heap allocations. Only for tests: a program that links this target gets its malloc,
// calloc, realloc, memalign and free from here, and they pass every call on to the C library.
#ifndef CSORA_MALLOC_COUNT_H
#define CSORA_MALLOC_COUNT_H

#include <stdint.h>

/// Allocations (malloc, calloc, realloc and the aligned forms) that the calling thread has made so far.
uint64_t sora_malloc_count(void);

/// Bytes that the calling thread has asked for in those allocations.
uint64_t sora_malloc_bytes(void);

/// `sora_malloc_count` without the allocations that excluded libraries have made.
uint64_t sora_malloc_count_of_own(void);

/// From now on `sora_malloc_count_of_own` leaves out what is called from the loaded library whose file name contains `name`. For up to sixteen
/// libraries; returns whether there is one of that name.
int sora_malloc_exclude(const char *name);

/// Bytes that the calling thread has allocated and not freed, as the allocator rounds them. What another thread frees isn't seen.
int64_t sora_malloc_live_bytes(void);

/// Bytes that all threads hold of the heap: without what the allocator keeps free between them.
uint64_t sora_malloc_in_use(void);

/// Whether allocations are counted: not under sanitizers, nor with a C library other than glibc.
int sora_malloc_count_is_on(void);

/// Whether what is counted says something of the code: it is on, and the build is optimized, by which every target is compiled but those tests
/// that say otherwise. Without the optimizer, Swift's own plumbing allocates.
int sora_malloc_count_is_telling(void);

#endif
