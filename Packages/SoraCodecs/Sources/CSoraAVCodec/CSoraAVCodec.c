#include "CSoraAVCodec.h"

#include <CSoraLazy.h>
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

// MARK: Loading

// Those of libavutil are found through libavcodec, which is linked with it.
#define AV_FUNCTIONS(X) \
  X(av_buffer_alloc) X(av_buffer_create) X(av_buffer_is_writable) X(av_buffer_ref) X(av_buffer_unref) \
  X(av_frame_alloc) X(av_frame_free) X(av_frame_unref) X(av_packet_alloc) X(av_packet_free) X(av_packet_unref) \
  X(av_strerror) X(avcodec_align_dimensions) X(avcodec_alloc_context3) X(avcodec_find_decoder) \
  X(avcodec_flush_buffers) X(avcodec_free_context) X(avcodec_open2) X(avcodec_receive_frame) X(avcodec_send_packet) \
  X(avcodec_version)

SORA_LAZY_LIBRARY(sora_av_load, "libavcodec.so." SORA_LAZY_TEXT(LIBAVCODEC_VERSION_MAJOR), AV_FUNCTIONS)
