#include "CSoraX264.h"

#include <CSoraLazy.h>
#include <stdarg.h>
#include <stdio.h>

static void note(void *text, int level, const char *format, va_list arguments) {
  if (text != NULL && level <= X264_LOG_ERROR)
    vsnprintf(text, SORA_X264_LOG_SIZE, format, arguments);
}

void sora_x264_log_to(x264_param_t *parameters, char *text) {
  parameters->pf_log = note;
  parameters->p_log_private = text;
  parameters->i_log_level = X264_LOG_ERROR;
}

x264_t *sora_x264_open(x264_param_t *parameters) { return x264_encoder_open(parameters); }

// MARK: Loading

#define X264_FUNCTIONS(X) \
  X(x264_encoder_close) X(x264_encoder_encode) X(x264_encoder_open) X(x264_encoder_reconfig) \
  X(x264_param_apply_profile) X(x264_param_default_preset) X(x264_picture_init)

SORA_LAZY_LIBRARY(sora_x264_load, "libx264.so." SORA_LAZY_TEXT(X264_BUILD), X264_FUNCTIONS)
