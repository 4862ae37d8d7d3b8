#define _GNU_SOURCE
#include "FuzzerEntry.h"

#include <sys/mman.h>

// Part of libFuzzer's library without main; it has no header for C.
int LLVMFuzzerRunDriver(int *count, char ***arguments, sora_fuzzer_callback callback);

int sora_fuzzer_run(int *count, char ***arguments, sora_fuzzer_callback callback) {
  return LLVMFuzzerRunDriver(count, arguments, callback);
}

int sora_fuzzer_memory_file(void) { return memfd_create("fuzz", MFD_CLOEXEC); }
