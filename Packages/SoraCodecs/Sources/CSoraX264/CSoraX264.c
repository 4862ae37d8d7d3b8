#include "CSoraX264.h"

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
