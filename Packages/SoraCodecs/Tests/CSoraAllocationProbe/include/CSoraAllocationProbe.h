// Counts this thread's heap allocations. Only for tests: a program that links this target gets its malloc and relatives
// from here, or from SoraTransport's CSoraMallocCount where that is linked too; they pass every call on.
#ifndef CSORA_ALLOCATION_PROBE_H
#define CSORA_ALLOCATION_PROBE_H

#include <stdint.h>

/// Allocations (malloc, calloc, realloc and the aligned forms) that the calling thread has made so far.
uint64_t sora_allocation_count(void);

/// Whether allocations are counted: not under sanitizers, nor with a C library other than glibc.
int sora_allocation_count_is_on(void);

#endif
