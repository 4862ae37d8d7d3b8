#include "cast.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

struct sora_cast {
  int wake;
  sora_portal *portal;
  sora_stream *stream;
  sora_cast_text text;
};

void sora_cast_say(sora_cast_text *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text->bytes, sizeof text->bytes, format, arguments);
  va_end(arguments);
}

int64_t sora_cast_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

sora_cast *sora_cast_make(void) {
  sora_cast *cast = calloc(1, sizeof *cast);
  if (!cast) return NULL;
  cast->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (cast->wake >= 0) return cast;
  free(cast);
  return NULL;
}

void sora_cast_end(sora_cast *cast) {
  sora_stream_close(cast->stream);
  sora_portal_close(cast->portal);
  cast->stream = NULL;
  cast->portal = NULL;
}

void sora_cast_free(sora_cast *cast) {
  sora_cast_end(cast);
  close(cast->wake);
  free(cast);
}

void sora_cast_wake(sora_cast *cast) {
  const uint64_t one = 1;
  if (write(cast->wake, &one, sizeof one) < 0) return;
}

const char *sora_cast_message(const sora_cast *cast) { return cast->text.bytes; }

// MARK: The portal

sora_cast_status sora_cast_connect(sora_cast *cast, const char *address, sora_cast_offer *out) {
  memset(out, 0, sizeof *out);
  if (cast->portal) return SORA_CAST_DONE;
  return sora_portal_open(address, &cast->text, out, &cast->portal);
}

sora_cast_status sora_cast_create(sora_cast *cast) {
  return cast->portal ? sora_portal_create(cast->portal, cast->wake) : SORA_CAST_CLOSED;
}

sora_cast_status sora_cast_select(
    sora_cast *cast, uint32_t kinds, uint32_t cursor_mode, uint32_t persist_mode, const char *token) {
  if (!cast->portal) return SORA_CAST_CLOSED;
  return sora_portal_select(cast->portal, cast->wake, kinds, cursor_mode, persist_mode, token);
}

sora_cast_status sora_cast_start(sora_cast *cast) {
  return cast->portal ? sora_portal_start(cast->portal, cast->wake) : SORA_CAST_CLOSED;
}

const char *sora_cast_token(const sora_cast *cast) { return cast->portal ? sora_portal_token(cast->portal) : NULL; }

// MARK: Pixels

sora_cast_status sora_cast_open_stream(sora_cast *cast, uint32_t frames_per_second) {
  if (!cast->portal || cast->stream) return SORA_CAST_CLOSED;
  int fd = -1;
  uint32_t node = 0;
  const sora_cast_status status = sora_portal_open_remote(cast->portal, &fd, &node);
  if (status != SORA_CAST_DONE) return status;
  return sora_stream_open(fd, node, frames_per_second, &cast->text, &cast->stream);
}

static int64_t earlier(int64_t one, int64_t other) { return other < 0 || one < other ? one : other; }

sora_cast_status sora_cast_wait(sora_cast *cast, int32_t milliseconds, int32_t is_pause, sora_cast_changes *out) {
  memset(out, 0, sizeof *out);
  if (!cast->portal || !cast->stream) return SORA_CAST_CLOSED;
  const int64_t end = sora_cast_now() + milliseconds;
  while (1) {
    struct pollfd files[3] = {
        {.fd = cast->wake, .events = POLLIN}, {.fd = sora_stream_file(cast->stream), .events = POLLIN}};
    sora_cast_status status = sora_stream_process(cast->stream, out);
    if (status == SORA_CAST_DONE) status = sora_portal_process(cast->portal);
    if (status != SORA_CAST_DONE) return status;
    const int64_t left = end - sora_cast_now();
    if (left <= 0 || out->is_resized || (out->is_drawn && !is_pause)) return SORA_CAST_DONE;
    const int64_t most = earlier(left, sora_portal_prepare(cast->portal, &files[2]));
    if (poll(files, 3, most > INT_MAX ? INT_MAX : (int)most) < 0 && errno != EINTR) return SORA_CAST_LOST;
    if (files[0].revents & POLLIN) return SORA_CAST_WOKEN;
  }
}

int32_t sora_cast_take(sora_cast *cast, sora_cast_frame *out) {
  memset(out, 0, sizeof *out);
  return cast->stream ? sora_stream_take(cast->stream, out) : 0;
}

void sora_cast_give_back(sora_cast *cast) {
  if (cast->stream) sora_stream_give_back(cast->stream);
}
