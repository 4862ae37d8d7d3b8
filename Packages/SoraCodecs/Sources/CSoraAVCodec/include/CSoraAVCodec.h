// What Swift can't read of libavcodec: its error codes are made by macros.
#ifndef CSORA_AVCODEC_H
#define CSORA_AVCODEC_H

#include <libavutil/error.h>
#include <stddef.h>

enum {
  /// The decoder wants more input before it has a picture.
  SORA_AV_AGAIN = AVERROR(EAGAIN),
  SORA_AV_NO_MEMORY = AVERROR(ENOMEM),
  SORA_AV_INVALID = AVERROR(EINVAL),
};

/// Writes the text of an error code into `text`, with a zero at its end.
void sora_av_error_text(int code, char *text, size_t capacity);

/// libavcodec's version as it runs, such as 59.37.100: its three numbers in `major`, `minor`, `micro`.
void sora_av_version(int *major, int *minor, int *micro);

/// Loads libavcodec, once, before anything else of it is called; NULL, or why it can't be. From any thread.
const char *sora_av_load(void);

#endif
