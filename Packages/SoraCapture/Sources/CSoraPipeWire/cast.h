// The two halves of a cast. Each is confined to the cast's thread.
#ifndef SORA_PIPEWIRE_CAST_H
#define SORA_PIPEWIRE_CAST_H

#include <poll.h>
#include <stdarg.h>

#include "CSoraPipeWire.h"

enum { SORA_CAST_TEXT = 256 };

/// What went wrong, for people.
typedef struct sora_cast_text {
  char bytes[SORA_CAST_TEXT];
} sora_cast_text;

__attribute__((format(printf, 2, 3))) void sora_cast_say(sora_cast_text *text, const char *format, ...);
/// Milliseconds on CLOCK_MONOTONIC.
int64_t sora_cast_now(void);

// MARK: portal.c

typedef struct sora_portal sora_portal;

sora_cast_status sora_portal_open(const char *address, sora_cast_text *text, sora_cast_offer *offer, sora_portal **out);
/// Ends the session, and the question where one is open. Takes NULL.
void sora_portal_close(sora_portal *portal);
sora_cast_status sora_portal_create(sora_portal *portal, int wake);
sora_cast_status sora_portal_select(
    sora_portal *portal, int wake, uint32_t kinds, uint32_t cursor_mode, uint32_t persist_mode, const char *token);
sora_cast_status sora_portal_start(sora_portal *portal, int wake);
const char *sora_portal_token(const sora_portal *portal);
/// The way to PipeWire and the number of the stream there. The file descriptor is the caller's.
sora_cast_status sora_portal_open_remote(sora_portal *portal, int *fd, uint32_t *node);
/// What to poll for; returns in how many milliseconds at most `sora_portal_process` is due, below 0 for never.
int64_t sora_portal_prepare(sora_portal *portal, struct pollfd *file);
/// Takes what has come; `SORA_CAST_CLOSED` where the session is over.
sora_cast_status sora_portal_process(sora_portal *portal);

// MARK: stream.c

typedef struct sora_stream sora_stream;

/// Takes the file descriptor over.
sora_cast_status sora_stream_open(int fd, uint32_t node, uint32_t frames_per_second, sora_cast_text *text, sora_stream **out);
/// Takes NULL.
void sora_stream_close(sora_stream *stream);
int sora_stream_file(sora_stream *stream);
/// Takes what has come, and tells of it.
sora_cast_status sora_stream_process(sora_stream *stream, sora_cast_changes *out);
int32_t sora_stream_take(sora_stream *stream, sora_cast_frame *out);
void sora_stream_give_back(sora_stream *stream);

#endif
