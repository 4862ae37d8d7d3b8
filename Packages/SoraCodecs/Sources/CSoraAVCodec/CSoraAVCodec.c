#include "CSoraAVCodec.h"

#include <libavcodec/avcodec.h>

void sora_av_error_text(int code, char *text, size_t capacity) {
  av_make_error_string(text, capacity, code);
}

void sora_av_version(int *major, int *minor, int *micro) {
  unsigned version = avcodec_version();
  *major = AV_VERSION_MAJOR(version);
  *minor = AV_VERSION_MINOR(version);
  *micro = AV_VERSION_MICRO(version);
}
