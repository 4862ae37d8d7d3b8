#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct sora_avf_functions sora_avf;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char failure[256];

static void load(void) {
  // The structures below are those of this major version.
  char name[32];
  snprintf(name, sizeof name, "libavformat.so.%d", LIBAVFORMAT_VERSION_MAJOR);
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(failure, sizeof failure, "%s", dlerror());
    return;
  }
  // A handle finds what the library itself is linked with, too: libavcodec and libavutil.
#define X(function)                                                              \
  sora_avf.function = (__typeof__(sora_avf.function))dlsym(library, #function);  \
  if (!sora_avf.function) {                                                      \
    snprintf(failure, sizeof failure, "%s lacks " #function, name);              \
    return;                                                                      \
  }
  SORA_AVF_FUNCTIONS(X)
#undef X
  // What it says of broken files concerns nobody but us, and its contexts have no level of their own. The process's is an app's
  // to set: where one has, it stays.
  if (sora_avf.av_log_get_level() == AV_LOG_INFO) sora_avf.av_log_set_level(AV_LOG_FATAL);
}

int sora_avf_load(char *text, size_t capacity) {
  pthread_once(&once, load);
  if (!failure[0]) return 0;
  snprintf(text, capacity, "%s", failure);
  return -1;
}

void sora_avf_text(int code, char *text, size_t capacity) {
  if (capacity == 0) return;
  text[0] = 0;
  sora_avf.av_strerror(code, text, capacity);
}

void sora_avf_version(int *major, int *minor, int *micro) {
  unsigned version = sora_avf.avformat_version();
  *major = AV_VERSION_MAJOR(version);
  *minor = AV_VERSION_MINOR(version);
  *micro = AV_VERSION_MICRO(version);
}

static const struct {
  enum sora_avf_codec own;
  enum AVCodecID id;
} codecs[] = {
    {SORA_AVF_VP8, AV_CODEC_ID_VP8},   {SORA_AVF_VP9, AV_CODEC_ID_VP9},   {SORA_AVF_AV1, AV_CODEC_ID_AV1},
    {SORA_AVF_H264, AV_CODEC_ID_H264}, {SORA_AVF_H265, AV_CODEC_ID_HEVC}, {SORA_AVF_OPUS, AV_CODEC_ID_OPUS},
};

enum AVCodecID sora_avf_codec_id(enum sora_avf_codec codec) {
  for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++)
    if (codecs[i].own == codec) return codecs[i].id;
  return AV_CODEC_ID_NONE;
}

enum sora_avf_codec sora_avf_codec_of(enum AVCodecID id) {
  for (size_t i = 0; i < sizeof codecs / sizeof *codecs; i++)
    if (codecs[i].id == id) return codecs[i].own;
  return SORA_AVF_OTHER;
}
