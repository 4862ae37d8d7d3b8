#ifndef FUZZER_ENTRY_H
#define FUZZER_ENTRY_H

#include <stddef.h>
#include <stdint.h>

typedef int (*sora_fuzzer_callback)(const uint8_t *_Nullable bytes, size_t count);

/// Runs libFuzzer with arguments in the form of main's; returns its exit status.
int sora_fuzzer_run(int *_Nonnull count, char *_Nullable *_Nullable *_Nonnull arguments,
                    sora_fuzzer_callback _Nonnull callback);

/// A file without a name, in memory; below 0 where there is none.
int sora_fuzzer_memory_file(void);

#endif
