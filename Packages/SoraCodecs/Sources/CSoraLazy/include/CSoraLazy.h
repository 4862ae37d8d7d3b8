// Functions of a library that is loaded when it is used first, under their own names: who calls them is compiled with the library's
// header and knows of nothing. A library's file lists its functions and has them made here; `sora_lazy_load` comes before any of
// them is called. Linked, each codec's library would be loaded by every app, and Debian's libavcodec brings a hundred more.
#ifndef CSORA_LAZY_H
#define CSORA_LAZY_H

typedef struct sora_lazy_function {
  const char *name;
  void **target;
} sora_lazy_function;

/// Loads the library and finds its functions, once; NULL, or why that failed. From any thread.
const char *sora_lazy_load(const char *file, const sora_lazy_function *functions, int count);

// What is called is a jump to what was found. Nothing else knows how arguments are passed, so that any function can be one.
#if defined(__x86_64__)
#define SORA_LAZY_JUMP(name) "endbr64\n jmp *sora_lazy_" #name "(%rip)\n"
#elif defined(__aarch64__)
#define SORA_LAZY_JUMP(name) \
  "hint #34\n adrp x16, sora_lazy_" #name "\n ldr x16, [x16, :lo12:sora_lazy_" #name "]\n br x16\n"
#else
#error "write SORA_LAZY_JUMP for this processor: a jump to the address in sora_lazy_NAME, with no other register changed"
#endif

// Twice, so that a name that is a macro of the library's header becomes what it stands for.
#define SORA_LAZY_FUNCTION(name) SORA_LAZY_FUNCTION_NAMED(name)
#define SORA_LAZY_FUNCTION_NAMED(name) \
  __attribute__((visibility("hidden"), used)) void *sora_lazy_##name; \
  __asm__( \
      ".pushsection .text\n .globl " #name "\n .hidden " #name "\n .type " #name ", @function\n .p2align 4\n" #name ":\n" \
      SORA_LAZY_JUMP(name) " .size " #name ", . - " #name "\n .popsection\n");
#define SORA_LAZY_ENTRY(name) SORA_LAZY_ENTRY_NAMED(name)
#define SORA_LAZY_ENTRY_NAMED(name) {#name, &sora_lazy_##name},

/// Makes the functions of a list, and `load`, which loads the library.
#define SORA_LAZY_LIBRARY(load, file, LIST) \
  LIST(SORA_LAZY_FUNCTION) \
  const char *load(void) { \
    static const sora_lazy_function functions[] = {LIST(SORA_LAZY_ENTRY)}; \
    return sora_lazy_load(file, functions, (int)(sizeof functions / sizeof functions[0])); \
  }

#define SORA_LAZY_TEXT(number) SORA_LAZY_TEXT_OF(number)
#define SORA_LAZY_TEXT_OF(number) #number

#endif
