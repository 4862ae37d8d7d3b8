#include "CSoraRedis.h"

#include <dlfcn.h>
#include <hiredis/hiredis.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

// What a reply may have: a list of some thousand nodes has less.
#define MOST_PARTS 65536
#define MOST_DEPTH 8

#define TEXT_OF(name) #name
#define TEXT(name) TEXT_OF(name)

#define FUNCTIONS(X) \
  X(redisConnectWithTimeout) X(redisSetTimeout) X(redisCommandArgv) X(freeReplyObject) X(redisFree)

static struct {
#define MEMBER(name) __typeof__(name) *name;
  FUNCTIONS(MEMBER)
#undef MEMBER
} hiredis;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char failure[256];

static void load(void) {
  // The structures are those of the header's version.
  void *library = dlopen("libhiredis.so." TEXT(HIREDIS_SONAME), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(failure, sizeof failure, "%s", dlerror());
    return;
  }
#define FIND(name) \
  if (!failure[0]) { \
    void *found = dlsym(library, #name); \
    if (!found) snprintf(failure, sizeof failure, "libhiredis lacks %s", #name); \
    memcpy(&hiredis.name, &found, sizeof found); \
  }
  FUNCTIONS(FIND)
#undef FIND
}

int sora_redis_load(char *reason, size_t capacity) {
  pthread_once(&once, load);
  if (!failure[0]) return 0;
  snprintf(reason, capacity, "%s", failure);
  return -1;
}

size_t sora_redis_resolve(const char *host, char *addresses, size_t most, char *reason, size_t capacity) {
  struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
  struct addrinfo *list = NULL;
  int error = getaddrinfo(host, NULL, &hints, &list);
  if (error) {
    snprintf(reason, capacity, "%s: %s", host, gai_strerror(error));
    return 0;
  }
  size_t count = 0;
  for (struct addrinfo *entry = list; entry && count < most; entry = entry->ai_next) {
    char *text = addresses + count * SORA_REDIS_ADDRESS_SIZE;
    if (!getnameinfo(entry->ai_addr, entry->ai_addrlen, text, SORA_REDIS_ADDRESS_SIZE, NULL, 0, NI_NUMERICHOST)) count++;
  }
  freeaddrinfo(list);
  if (!count) snprintf(reason, capacity, "%s has no address", host);
  return count;
}

struct sora_redis {
  redisContext *context;
  redisReply *reply;
  const redisReply **parts;
  size_t count;
};

struct sora_redis *sora_redis_open(const char *host, int port, int milliseconds, char *reason, size_t capacity) {
  if (sora_redis_load(reason, capacity) != 0) return NULL;
  sigset_t pipe;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe, NULL);
  struct timeval time = {milliseconds / 1000, milliseconds % 1000 * 1000};
  struct sora_redis *redis = calloc(1, sizeof *redis);
  if (redis) redis->parts = calloc(MOST_PARTS, sizeof *redis->parts);
  if (redis && redis->parts) redis->context = hiredis.redisConnectWithTimeout(host, port, time);
  if (!redis || !redis->parts || !redis->context) {
    snprintf(reason, capacity, "out of memory");
  } else if (redis->context->err) {
    snprintf(reason, capacity, "%s", redis->context->errstr);
  } else if (hiredis.redisSetTimeout(redis->context, time) != REDIS_OK) {
    snprintf(reason, capacity, "%s", redis->context->errstr);
  } else {
    return redis;
  }
  sora_redis_close(redis);
  return NULL;
}

// Whether the reply has no more than what is taken.
static int flatten(struct sora_redis *redis, const redisReply *reply, int depth) {
  if (!reply || depth > MOST_DEPTH || redis->count == MOST_PARTS) return 0;
  redis->parts[redis->count++] = reply;
  if (reply->type != REDIS_REPLY_ARRAY) return 1;
  for (size_t i = 0; i < reply->elements; i++)
    if (!flatten(redis, reply->element[i], depth + 1)) return 0;
  return 1;
}

long sora_redis_run(
    struct sora_redis *redis, const unsigned char *bytes, const size_t *lengths, int count, char *reason,
    size_t capacity) {
  redis->count = 0;
  if (redis->reply) hiredis.freeReplyObject(redis->reply);
  redis->reply = NULL;
  const char **arguments = calloc((size_t)(count > 0 ? count : 1), sizeof *arguments);
  if (!arguments) {
    snprintf(reason, capacity, "out of memory");
    return -1;
  }
  const char *next = (const char *)bytes;
  for (int i = 0; i < count; i++) {
    arguments[i] = next;
    next += lengths[i];
  }
  redis->reply = hiredis.redisCommandArgv(redis->context, count, arguments, lengths);
  free(arguments);
  if (!redis->reply) {
    snprintf(reason, capacity, "%s", redis->context->errstr);
    return -1;
  }
  if (!flatten(redis, redis->reply, 0)) {
    redis->count = 0;
    snprintf(reason, capacity, "a reply was too large");
    return -1;
  }
  return (long)redis->count;
}

struct sora_redis_part sora_redis_part(const struct sora_redis *redis, size_t index) {
  struct sora_redis_part part = {SORA_REDIS_NONE, 0, 0, 0};
  if (index >= redis->count) return part;
  const redisReply *reply = redis->parts[index];
  switch (reply->type) {
    case REDIS_REPLY_STRING:
    case REDIS_REPLY_STATUS:
      part.kind = SORA_REDIS_TEXT;
      part.length = reply->len;
      break;
    case REDIS_REPLY_ERROR:
      part.kind = SORA_REDIS_ERROR;
      part.length = reply->len;
      break;
    case REDIS_REPLY_INTEGER:
      part.kind = SORA_REDIS_INTEGER;
      part.integer = reply->integer;
      break;
    case REDIS_REPLY_ARRAY:
      part.kind = SORA_REDIS_LIST;
      part.count = reply->elements;
      break;
    default: break;
  }
  return part;
}

size_t sora_redis_text(const struct sora_redis *redis, size_t index, unsigned char *bytes, size_t capacity) {
  struct sora_redis_part part = sora_redis_part(redis, index);
  if (part.kind != SORA_REDIS_TEXT && part.kind != SORA_REDIS_ERROR) return 0;
  size_t length = part.length < capacity ? part.length : capacity;
  if (length) memcpy(bytes, redis->parts[index]->str, length);
  return length;
}

void sora_redis_close(struct sora_redis *redis) {
  if (!redis) return;
  if (redis->reply) hiredis.freeReplyObject(redis->reply);
  if (redis->context) hiredis.redisFree(redis->context);
  free(redis->parts);
  free(redis);
}
