// libavformat and what comes with it, by pointers that `sora_avf_load` fills.
#ifndef CSORA_AVFORMAT_LIBRARY_H
#define CSORA_AVFORMAT_LIBRARY_H

#include <libavcodec/avcodec.h>
#include <libavcodec/bsf.h>
#include <libavformat/avformat.h>
#include <libavutil/display.h>

#include "CSoraAVFormat.h"

#define SORA_AVF_FUNCTIONS(X)    \
  X(avformat_version)            \
  X(avformat_alloc_context)      \
  X(avformat_alloc_output_context2) \
  X(avformat_free_context)       \
  X(avformat_new_stream)         \
  X(avformat_write_header)       \
  X(av_interleaved_write_frame)  \
  X(av_write_trailer)            \
  X(avio_alloc_context)          \
  X(avio_context_free)           \
  X(avio_flush)                  \
  X(avformat_open_input)         \
  X(avformat_find_stream_info)   \
  X(avformat_close_input)        \
  X(avformat_seek_file)          \
  X(av_read_frame)               \
  X(av_stream_add_side_data)     \
  X(av_packet_alloc)             \
  X(av_packet_free)              \
  X(av_packet_unref)             \
  X(av_new_packet)               \
  X(av_bsf_get_by_name)          \
  X(av_bsf_alloc)                \
  X(av_bsf_init)                 \
  X(av_bsf_send_packet)          \
  X(av_bsf_receive_packet)       \
  X(av_bsf_flush)                \
  X(av_bsf_free)                 \
  X(avcodec_get_name)            \
  X(avcodec_parameters_copy)     \
  X(av_malloc)                   \
  X(av_mallocz)                  \
  X(av_freep)                    \
  X(av_dict_set)                 \
  X(av_dict_free)                \
  X(av_rescale_q)                \
  X(av_display_rotation_set)     \
  X(av_channel_layout_default)   \
  X(av_log_get_level)            \
  X(av_log_set_level)            \
  X(av_strerror)

struct sora_avf_functions {
#define X(name) __typeof__(&name) name;
  SORA_AVF_FUNCTIONS(X)
#undef X
};

extern struct sora_avf_functions sora_avf;

static const AVRational sora_nanoseconds = {1, 1000000000};

enum AVCodecID sora_avf_codec_id(enum sora_avf_codec codec);
enum sora_avf_codec sora_avf_codec_of(enum AVCodecID id);

#endif
