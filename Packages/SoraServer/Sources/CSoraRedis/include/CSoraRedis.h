// One connection to a Redis, over hiredis, which is loaded with the first. Calls block within the connection's time-out.
#ifndef CSORA_REDIS_H
#define CSORA_REDIS_H

#include <stddef.h>

struct sora_redis;

enum sora_redis_kind {
  SORA_REDIS_NONE,
  SORA_REDIS_TEXT,
  SORA_REDIS_INTEGER,
  SORA_REDIS_LIST,
  SORA_REDIS_ERROR,
};

/// A part of a reply. Replies are flat: a list stands before its elements.
struct sora_redis_part {
  enum sora_redis_kind kind;
  long long integer;
  /// Bytes of a text or an error.
  size_t length;
  /// Elements of a list.
  size_t count;
};

/// Loads hiredis, once. 0, or -1 with a reason.
int sora_redis_load(char *reason, size_t capacity);

#define SORA_REDIS_ADDRESS_SIZE 128

/// Asks the system for a host's addresses, at most so many: texts of SORA_REDIS_ADDRESS_SIZE bytes, one behind the other. How many; 0 with
/// a reason where there are none. Takes as long as the system's resolver.
size_t sora_redis_resolve(const char *host, char *addresses, size_t most, char *reason, size_t capacity);

/// Connects to an address, or to a name that is resolved first. NULL, with a reason, where that fails. The calling thread gets no SIGPIPE
/// from now on, which hiredis would have it get.
struct sora_redis *sora_redis_open(const char *host, int port, int milliseconds, char *reason, size_t capacity);

/// Sends a command, whose arguments stand one behind the other in `bytes`, and waits for the reply. Its number of parts; -1 where the
/// connection broke, the reply didn't come in time, or it is too large. The connection is of no use then.
long sora_redis_run(
    struct sora_redis *redis, const unsigned char *bytes, const size_t *lengths, int count, char *reason,
    size_t capacity);

/// Of the last reply. SORA_REDIS_NONE beyond its end.
struct sora_redis_part sora_redis_part(const struct sora_redis *redis, size_t index);

/// Copies a text or an error of the last reply. How many bytes.
size_t sora_redis_text(const struct sora_redis *redis, size_t index, unsigned char *bytes, size_t capacity);

void sora_redis_close(struct sora_redis *redis);

#endif
