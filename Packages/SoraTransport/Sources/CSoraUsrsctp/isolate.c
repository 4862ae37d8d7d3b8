// The library asks the system for the time and for randomness. Here it gets both from the test: its imported functions
// are entries of a table that the dynamic linker has filled, and two of them are filled again.
#define _GNU_SOURCE

#include "CSoraUsrsctp.h"

static int64_t now;
static uint64_t random_state;

int64_t sora_usrsctp_now(void) { return now; }
void sora_usrsctp_seed(uint64_t seed) { random_state = seed; }

#if __has_include(<usrsctp.h>)

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "library.h"

/// Not 0, so that no time of the library is one that it takes for none.
static const int64_t start_seconds = 1000000;

static int virtual_gettimeofday(struct timeval *time, void *zone) {
  (void)zone;
  time->tv_sec = start_seconds + now / 1000000000;
  time->tv_usec = now % 1000000000 / 1000;
  return 0;
}

/// SplitMix64 (Steele, Lea and Flood 2014).
static uint64_t next_random(void) {
  uint64_t z = random_state += 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

/// The library makes no other system call this way than getrandom.
static long virtual_syscall(long number, ...) {
  if (number != SYS_getrandom) {
    errno = ENOSYS;
    return -1;
  }
  va_list arguments;
  va_start(arguments, number);
  uint8_t *bytes = va_arg(arguments, uint8_t *);
  size_t count = va_arg(arguments, size_t);
  va_end(arguments);
  for (size_t i = 0; i < count; i += 8) {
    uint64_t word = next_random();
    memcpy(bytes + i, &word, count - i < 8 ? count - i : 8);
  }
  return (long)count;
}

#if __x86_64__
#define IS_FUNCTION(type) ((type) == R_X86_64_JUMP_SLOT || (type) == R_X86_64_GLOB_DAT)
#elif __aarch64__
#define IS_FUNCTION(type) ((type) == R_AARCH64_JUMP_SLOT || (type) == R_AARCH64_GLOB_DAT)
#else
#define IS_FUNCTION(type) 0
#endif

/// The linker may have made the table read-only: this makes it writable for the one write.
static int write_slot(uintptr_t slot, void *value) {
  uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE), page = slot & ~(size - 1);
  if (mprotect((void *)page, size, PROT_READ | PROT_WRITE) != 0) return 0;
  memcpy((void *)slot, &value, sizeof value);
  return 1;
}

static int redirect_in(
    const ElfW(Rela) *table, size_t count, const ElfW(Sym) *symbols, const char *names, uintptr_t base, const char *name,
    void *to) {
  int found = 0;
  for (size_t i = 0; i < count; i++) {
    if (!IS_FUNCTION(ELF64_R_TYPE(table[i].r_info))) continue;
    if (strcmp(names + symbols[ELF64_R_SYM(table[i].r_info)].st_name, name) != 0) continue;
    found |= write_slot(base + table[i].r_offset, to);
  }
  return found;
}

int sora_usrsctp_redirect(void *library, const char *name, void *to) {
  struct link_map *map;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) return 0;
  const ElfW(Rela) *calls = NULL, *data = NULL;
  size_t calls_size = 0, data_size = 0;
  const ElfW(Sym) *symbols = NULL;
  const char *names = NULL;
  for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
    switch (entry->d_tag) {
      case DT_JMPREL: calls = (const void *)entry->d_un.d_ptr; break;
      case DT_PLTRELSZ: calls_size = entry->d_un.d_val; break;
      case DT_RELA: data = (const void *)entry->d_un.d_ptr; break;
      case DT_RELASZ: data_size = entry->d_un.d_val; break;
      case DT_SYMTAB: symbols = (const void *)entry->d_un.d_ptr; break;
      case DT_STRTAB: names = (const void *)entry->d_un.d_ptr; break;
      default: break;
    }
  }
  if (!symbols || !names) return 0;
  int found = 0;
  if (calls) found |= redirect_in(calls, calls_size / sizeof *calls, symbols, names, map->l_addr, name, to);
  if (data) found |= redirect_in(data, data_size / sizeof *data, symbols, names, map->l_addr, name, to);
  return found;
}

int sora_usrsctp_isolate(void *library) {
  return sora_usrsctp_redirect(library, "gettimeofday", (void *)virtual_gettimeofday)
      && sora_usrsctp_redirect(library, "syscall", (void *)virtual_syscall);
}

int64_t sora_usrsctp_run_until(int64_t nanoseconds) {
  const int64_t tick = 1000000;
  const uint64_t before = sora_usrsctp_callback_count;
  // The library counts whole milliseconds.
  while (now / tick < nanoseconds / tick) {
    now = (now / tick + 1) * tick;
    usrsctp.handle_timers(1);
    if (sora_usrsctp_callback_count != before) return now;
  }
  if (now < nanoseconds) now = nanoseconds;
  return now;
}

#else

int64_t sora_usrsctp_run_until(int64_t nanoseconds) {
  if (now < nanoseconds) now = nanoseconds;
  return now;
}

#endif
