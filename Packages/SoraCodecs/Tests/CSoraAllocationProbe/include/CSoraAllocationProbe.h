// Counts this thread's heap allocations, except those that a codec's library makes for itself. Only for tests: a program that
// links this target gets its malloc and relatives from here, and they pass every call on.
#ifndef CSORA_ALLOCATION_PROBE_H
#define CSORA_ALLOCATION_PROBE_H

#include <stdint.h>

/// Allocations (malloc, calloc, realloc and the aligned forms) that the calling thread has made so far.
uint64_t sora_allocation_count(void);

/// From now on, calls from the loaded library whose file name contains `name` aren't counted. For up to sixteen libraries;
/// returns whether there is one of that name.
int sora_allocation_exclude(const char *name);

/// Whether allocations are counted: not in debug builds, whose Swift allocates more, nor under sanitizers, nor without
/// glibc, nor where SoraTransport's CSoraMallocCount is linked too, whose malloc is the one that is used then.
int sora_allocation_count_is_on(void);

#endif
