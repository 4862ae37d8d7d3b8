// Tells the thread sanitizer of two ways in which Swift orders memory accesses, both of which end in the standard
// library, which isn't instrumented. Linked into the tests before that library, so that their calls come here first.
//
// Each function does what the standard library does, by calling it, and reports the edge that this gives: no access
// is left out of what the sanitizer looks at, and a race beside a lock is still one (check.swift shows both).
//
// The names are mangled ones of Swift 6.3's library. Where one changes, the reports come back.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

void __tsan_acquire(void *address);
void __tsan_release(void *address);

static void *next(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (found == NULL) {
    fprintf(stderr, "sanitizer/edges.c: the Swift libraries have no %s\n", name);
    abort();
  }
  return found;
}

// The standard library's function of this name, looked up once; threads that do so at once find the same.
#define NEXT(type, name)                                    \
  ({                                                        \
    static type found;                                      \
    type known = __atomic_load_n(&found, __ATOMIC_RELAXED); \
    if (known == NULL) {                                    \
      known = (type)next(name);                             \
      __atomic_store_n(&found, known, __ATOMIC_RELAXED);    \
    }                                                       \
    known;                                                  \
  })

// MARK: Mutex
//
// A free mutex is taken and given back by atomic instructions in the caller's own code, which the sanitizer sees. One
// that is contended is passed on in these functions and by the kernel (FUTEX_LOCK_PI), which it doesn't.

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

typedef SWIFT void (*Lock)(uint32_t thread, SELF void *handle);
typedef SWIFT bool (*TryLock)(SELF void *handle);
typedef SWIFT void (*Unlock)(SELF void *handle);

SWIFT void lock(uint32_t thread, SELF void *handle) __asm__(LOCK);
SWIFT bool try_lock(SELF void *handle) __asm__(TRY_LOCK);
SWIFT void unlock(SELF void *handle) __asm__(UNLOCK);

SWIFT void lock(uint32_t thread, SELF void *handle) {
  NEXT(Lock, LOCK)(thread, handle);
  __tsan_acquire(handle);
}

SWIFT bool try_lock(SELF void *handle) {
  bool is_locked = NEXT(TryLock, TRY_LOCK)(handle);
  if (is_locked) __tsan_acquire(handle);
  return is_locked;
}

SWIFT void unlock(SELF void *handle) {
  __tsan_release(handle);
  NEXT(Unlock, UNLOCK)(handle);
}

// MARK: Reference counts
//
// Our pools hand an object out again when theirs is the only reference. Every release of a reference happens before the
// count of one is read (it is written with release order and read with acquire order).

#define IS_UNIQUE "$ss25isKnownUniquelyReferencedySbxzRlzClF"
#define IS_UNIQUE_OPTIONAL "$ss25isKnownUniquelyReferencedySbxSgzRlzClF"

typedef SWIFT bool (*IsUnique)(void **object, void *type);
typedef void (*Release)(void *object);

SWIFT bool is_unique(void **object, void *type) __asm__(IS_UNIQUE);
SWIFT bool is_unique_optional(void **object, void *type) __asm__(IS_UNIQUE_OPTIONAL);
void swift_release(void *object);

void swift_release(void *object) {
  // Objects that are immortal and null have no count.
  if ((intptr_t)object > 0) __tsan_release(object);
  NEXT(Release, "swift_release")(object);
}

SWIFT bool is_unique(void **object, void *type) {
  bool is_unique = NEXT(IsUnique, IS_UNIQUE)(object, type);
  if (is_unique) __tsan_acquire(*object);
  return is_unique;
}

SWIFT bool is_unique_optional(void **object, void *type) {
  bool is_unique = NEXT(IsUnique, IS_UNIQUE_OPTIONAL)(object, type);
  if (is_unique) __tsan_acquire(*object);
  return is_unique;
}
