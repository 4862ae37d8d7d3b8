// What Swift can't call by itself in libx264: a macro that makes up a function's name, and a log with variable arguments.
#ifndef CSORA_X264_H
#define CSORA_X264_H

#include <stdint.h>
#include <x264.h>

enum { SORA_X264_LOG_SIZE = 256 };

// Sends the library's errors to `text` (SORA_X264_LOG_SIZE bytes, which must outlive the encoder): the last one is kept.
void sora_x264_log_to(x264_param_t *parameters, char *text);

x264_t *sora_x264_open(x264_param_t *parameters);

/// Loads libx264, once, before anything else of it is called; NULL, or why it can't be. From any thread.
const char *sora_x264_load(void);

#endif
