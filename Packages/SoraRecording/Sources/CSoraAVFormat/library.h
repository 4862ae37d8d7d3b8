// libavformat and what comes with it, by pointers that `sora_avf_load` fills.
#ifndef CSORA_AVFORMAT_LIBRARY_H
#define CSORA_AVFORMAT_LIBRARY_H

#include <stdbool.h>

#include <libavcodec/avcodec.h>
#include <libavcodec/bsf.h>
#include <libavformat/avformat.h>
#include <libavutil/display.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>

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
  X(avio_open2)                  \
  X(avio_closep)                 \
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
  X(av_strerror)                 \
  X(avcodec_find_decoder)        \
  X(avcodec_alloc_context3)      \
  X(avcodec_free_context)        \
  X(avcodec_parameters_to_context) \
  X(avcodec_open2)               \
  X(avcodec_send_packet)         \
  X(avcodec_receive_frame)       \
  X(avcodec_flush_buffers)       \
  X(av_frame_alloc)              \
  X(av_frame_free)               \
  X(av_stream_get_side_data)     \
  X(av_display_rotation_get)     \
  X(swr_alloc_set_opts2)         \
  X(swr_init)                    \
  X(swr_convert)                 \
  X(swr_get_delay)               \
  X(swr_get_out_samples)         \
  X(swr_free)

// Loaded with the first picture that is decoded: nothing else needs it.
#define SORA_SWS_FUNCTIONS(X)    \
  X(sws_getCachedContext)        \
  X(sws_getCoefficients)         \
  X(sws_setColorspaceDetails)    \
  X(sws_scale)                   \
  X(sws_freeContext)

struct sora_avf_functions {
#define X(name) __typeof__(&name) name;
  SORA_AVF_FUNCTIONS(X)
#undef X
};

extern struct sora_avf_functions sora_avf;

struct sora_sws_functions {
#define X(name) __typeof__(&name) name;
  SORA_SWS_FUNCTIONS(X)
#undef X
};

extern struct sora_sws_functions sora_sws;

static const AVRational sora_nanoseconds = {1, 1000000000};

struct sora_demux {
  AVFormatContext *context;
  /// NULL for numbered pictures.
  AVIOContext *file;
  AVPacket *packet;
  /// Tracks when the file was opened; some formats find more later, which aren't read.
  int tracks;
  /// For each track what turns lengths into start codes; NULL where none is needed.
  AVBSFContext **filters;
  /// Frames come out of this filter before the file is read on; -1 for none.
  int draining;
};

/// The width with square pixels, in whole samples of chroma.
static inline int sora_shown_width(int width, AVRational aspect) {
  if (width <= 0 || aspect.num <= 0 || aspect.den <= 0 || aspect.num == aspect.den) return width;
  double ratio = av_q2d(aspect);
  // Nobody means more than that.
  if (ratio < 0.1 || ratio > 10) return width;
  return (int)(width * ratio / 2 + 0.5) * 2;
}

/// What a track says of its pixels' shape.
static inline AVRational sora_aspect(const AVStream *stream) {
  return stream->sample_aspect_ratio.num > 0 ? stream->sample_aspect_ratio : stream->codecpar->sample_aspect_ratio;
}

enum AVCodecID sora_avf_codec_id(enum sora_avf_codec codec);
enum sora_avf_codec sora_avf_codec_of(enum AVCodecID id);

#endif
