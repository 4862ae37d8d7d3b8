#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct sora_avf_functions sora_avf;
struct sora_sws_functions sora_sws;

static pthread_once_t once = PTHREAD_ONCE_INIT, scaler_once = PTHREAD_ONCE_INIT;
static char failure[256], scaler_failure[256];

static void *find(void *library, const char *function, const char *name, char *reason, size_t capacity) {
  void *found = reason[0] ? NULL : dlsym(library, function);
  if (!found && !reason[0]) snprintf(reason, capacity, "%s lacks %s", name, function);
  return found;
}

static void *open_library(const char *base, int major, char *name, size_t size, char *reason, size_t capacity) {
  // The structures below are those of this major version.
  snprintf(name, size, "%s.so.%d", base, major);
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library) snprintf(reason, capacity, "%s", dlerror());
  return library;
}

static void load(void) {
  char name[32];
  void *library = open_library("libavformat", LIBAVFORMAT_VERSION_MAJOR, name, sizeof name, failure, sizeof failure);
  if (!library) return;
  // A handle finds what the library itself is linked with, too: libavcodec, libavutil and libswresample.
#define X(function) sora_avf.function = (__typeof__(sora_avf.function))find(library, #function, name, failure, sizeof failure);
  SORA_AVF_FUNCTIONS(X)
#undef X
  if (failure[0]) return;
  // What it says of broken files concerns nobody but us, and its contexts have no level of their own. The process's is an app's
  // to set: where one has, it stays.
  if (sora_avf.av_log_get_level() == AV_LOG_INFO) sora_avf.av_log_set_level(AV_LOG_FATAL);
}

static void load_scaler(void) {
  char name[32];
  void *library = open_library("libswscale", LIBSWSCALE_VERSION_MAJOR, name, sizeof name, scaler_failure, sizeof scaler_failure);
  if (!library) return;
#define X(function) sora_sws.function = (__typeof__(sora_sws.function))find(library, #function, name, scaler_failure, sizeof scaler_failure);
  SORA_SWS_FUNCTIONS(X)
#undef X
}

static int told(const char *reason, char *text, size_t capacity) {
  if (!reason[0]) return 0;
  snprintf(text, capacity, "%s", reason);
  return -1;
}

int sora_avf_load(char *text, size_t capacity) {
  pthread_once(&once, load);
  return told(failure, text, capacity);
}

int sora_avf_load_scaler(char *text, size_t capacity) {
  pthread_once(&scaler_once, load_scaler);
  return told(scaler_failure, text, capacity);
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
