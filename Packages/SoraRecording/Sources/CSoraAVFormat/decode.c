#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "library.h"

struct sora_decoder {
  AVCodecContext *context;
  AVPacket *packet;
  AVFrame *frame;
  /// Of the track, where a frame doesn't say.
  AVRational aspect;
  struct SwsContext *scaler;
  SwrContext *resampler;
  /// What the resampler takes.
  AVChannelLayout layout;
  int format, sample_rate;
  int16_t *samples;
  int capacity;
};

enum { sound_rate = 48000, most_threads = 4, shortest_side = 16, longest_side = 8192 };

int sora_decoder_open(const sora_demux *demux, int track, sora_decoder **result) {
  if (track < 0 || track >= demux->tracks) return AVERROR(EINVAL);
  const AVStream *stream = demux->context->streams[track];
  const AVCodecParameters *parameters = demux->filters[track] ? demux->filters[track]->par_out : stream->codecpar;
  const AVCodec *codec = sora_avf.avcodec_find_decoder(parameters->codec_id);
  if (!codec) return AVERROR_DECODER_NOT_FOUND;
  sora_decoder *decoder = calloc(1, sizeof *decoder);
  if (!decoder) return AVERROR(ENOMEM);
  int code = AVERROR(ENOMEM);
  decoder->context = sora_avf.avcodec_alloc_context3(codec);
  decoder->packet = sora_avf.av_packet_alloc();
  decoder->frame = sora_avf.av_frame_alloc();
  if (!decoder->context || !decoder->packet || !decoder->frame) goto failed;
  code = sora_avf.avcodec_parameters_to_context(decoder->context, parameters);
  if (code < 0) goto failed;
  decoder->context->pkt_timebase = sora_nanoseconds;
  decoder->context->max_pixels = (int64_t)longest_side * longest_side;
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  decoder->context->thread_count = cores < 1 ? 1 : cores > most_threads ? most_threads : (int)cores;
  // Pictures side by side would come late, and those of many codecs are whole by themselves.
  decoder->context->thread_type = FF_THREAD_SLICE;
  code = sora_avf.avcodec_open2(decoder->context, codec, NULL);
  if (code < 0) goto failed;
  decoder->aspect = sora_aspect(stream);
  *result = decoder;
  return 0;
failed:
  sora_decoder_close(decoder);
  return code;
}

static int64_t known(int64_t time) { return time == SORA_AVF_NO_TIME ? AV_NOPTS_VALUE : time; }

int sora_decoder_send(sora_decoder *decoder, const void *data, size_t size, int64_t time, int64_t decode_time, int is_key) {
  if (!data) return sora_avf.avcodec_send_packet(decoder->context, NULL);
  if (size > INT32_MAX - AV_INPUT_BUFFER_PADDING_SIZE) return SORA_AVF_INVALID;
  // Decoders read beyond the end, into room that a packet has.
  int code = sora_avf.av_new_packet(decoder->packet, (int)size);
  if (code < 0) return code;
  memcpy(decoder->packet->data, data, size);
  decoder->packet->pts = known(time);
  decoder->packet->dts = known(decode_time);
  if (is_key) decoder->packet->flags |= AV_PKT_FLAG_KEY;
  code = sora_avf.avcodec_send_packet(decoder->context, decoder->packet);
  sora_avf.av_packet_unref(decoder->packet);
  return code;
}

/// What comes out are two channels at most, at one rate.
static int receive_sound(sora_decoder *decoder, struct sora_avf_decoded *decoded) {
  AVFrame *frame = decoder->frame;
  if (frame->nb_samples <= 0 || frame->sample_rate <= 0 || frame->ch_layout.nb_channels <= 0) return SORA_AVF_INVALID;
  AVChannelLayout target;
  memset(&target, 0, sizeof target);
  sora_avf.av_channel_layout_default(&target, frame->ch_layout.nb_channels > 1 ? 2 : 1);
  bool is_same = decoder->resampler && decoder->format == frame->format && decoder->sample_rate == frame->sample_rate &&
                 decoder->layout.order == frame->ch_layout.order && decoder->layout.nb_channels == frame->ch_layout.nb_channels &&
                 decoder->layout.u.mask == frame->ch_layout.u.mask;
  if (!is_same) {
    sora_avf.swr_free(&decoder->resampler);
    int code = sora_avf.swr_alloc_set_opts2(
        &decoder->resampler, &target, AV_SAMPLE_FMT_S16, sound_rate, &frame->ch_layout, frame->format, frame->sample_rate, 0, NULL);
    if (code >= 0) code = sora_avf.swr_init(decoder->resampler);
    if (code < 0) {
      sora_avf.swr_free(&decoder->resampler);
      return code;
    }
    decoder->format = frame->format;
    decoder->sample_rate = frame->sample_rate;
    // Compared, never freed: the map of a custom order is the frame's.
    decoder->layout = frame->ch_layout;
  }
  int64_t held = sora_avf.swr_get_delay(decoder->resampler, 1000000000);
  int room = sora_avf.swr_get_out_samples(decoder->resampler, frame->nb_samples);
  if (room < 0) return room;
  if (room > decoder->capacity) {
    int16_t *samples = realloc(decoder->samples, (size_t)room * 2 * sizeof *samples);
    if (!samples) return AVERROR(ENOMEM);
    decoder->samples = samples;
    decoder->capacity = room;
  }
  uint8_t *output = (uint8_t *)decoder->samples;
  int count = sora_avf.swr_convert(decoder->resampler, &output, room, (const uint8_t **)frame->extended_data, frame->nb_samples);
  if (count < 0) return count;
  decoded->samples = decoder->samples;
  decoded->sample_count = count;
  decoded->channels = target.nb_channels;
  // What the resampler held back comes first. A file may say a time that nothing comes before: then it isn't known.
  if (decoded->time != SORA_AVF_NO_TIME && __builtin_sub_overflow(decoded->time, held, &decoded->time))
    decoded->time = SORA_AVF_NO_TIME;
  return 0;
}

static int shown_width(const sora_decoder *decoder) {
  const AVFrame *frame = decoder->frame;
  return sora_shown_width(frame->width, frame->sample_aspect_ratio.num > 0 ? frame->sample_aspect_ratio : decoder->aspect);
}

/// Whether a frame's samples have more than 8 bits, in the formats that films come in.
static bool is_deep(const AVFrame *frame) {
  switch (frame->format) {
    case AV_PIX_FMT_YUV420P10:
    case AV_PIX_FMT_YUV422P10:
    case AV_PIX_FMT_YUV444P10:
    case AV_PIX_FMT_P010:
    case AV_PIX_FMT_YUV420P12:
    case AV_PIX_FMT_YUV422P12:
    case AV_PIX_FMT_YUV444P12: return true;
    default: return false;
  }
}

int sora_decoder_receive(sora_decoder *decoder, struct sora_avf_decoded *decoded) {
  memset(decoded, 0, sizeof *decoded);
  int code = sora_avf.avcodec_receive_frame(decoder->context, decoder->frame);
  if (code < 0) return code;
  AVFrame *frame = decoder->frame;
  int64_t time = frame->best_effort_timestamp;
  decoded->time = time == AV_NOPTS_VALUE ? SORA_AVF_NO_TIME : time;
  if (decoder->context->codec_type == AVMEDIA_TYPE_AUDIO) return receive_sound(decoder, decoded);
  int width = shown_width(decoder);
  if (width < shortest_side || width > longest_side || frame->height < shortest_side || frame->height > longest_side || !frame->data[0])
    return SORA_AVF_INVALID;
  decoded->width = width;
  decoded->height = frame->height;
  decoded->bit_depth = is_deep(frame) ? 10 : 8;
  return 0;
}

/// Whether a frame uses 0 to 255 for what others have between 16 and 235 (H.273 §8.3).
static bool is_full_range(const AVFrame *frame) {
  switch (frame->format) {
    case AV_PIX_FMT_YUVJ420P:
    case AV_PIX_FMT_YUVJ422P:
    case AV_PIX_FMT_YUVJ444P:
    case AV_PIX_FMT_YUVJ440P:
    case AV_PIX_FMT_YUVJ411P: return true;
    case AV_PIX_FMT_GRAY8:
    case AV_PIX_FMT_GRAY16LE:
    case AV_PIX_FMT_GRAY16BE:
    case AV_PIX_FMT_YA8: return frame->color_range != AVCOL_RANGE_MPEG;
    default: return frame->color_range == AVCOL_RANGE_JPEG;
  }
}

int sora_decoder_picture(sora_decoder *decoder, uint8_t *const planes[3], const int strides[3]) {
  const AVFrame *frame = decoder->frame;
  int width = shown_width(decoder);
  decoder->scaler = sora_sws.sws_getCachedContext(
      decoder->scaler, frame->width, frame->height, frame->format, width, frame->height,
      is_deep(frame) ? AV_PIX_FMT_YUV420P10 : AV_PIX_FMT_YUV420P,
      SWS_BILINEAR | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT, NULL, NULL, NULL);
  if (!decoder->scaler) return AVERROR(EINVAL);
  int matrix = frame->colorspace == AVCOL_SPC_BT709 ? SWS_CS_ITU709
               : frame->colorspace == AVCOL_SPC_BT2020_NCL || frame->colorspace == AVCOL_SPC_BT2020_CL ? SWS_CS_BT2020
                                                                                                       : SWS_CS_ITU601;
  // Where the context can't be told, there is nothing to tell: it copies.
  sora_sws.sws_setColorspaceDetails(
      decoder->scaler, sora_sws.sws_getCoefficients(matrix), is_full_range(frame), sora_sws.sws_getCoefficients(SWS_CS_ITU601), 0, 0,
      1 << 16, 1 << 16);
  int rows = sora_sws.sws_scale(decoder->scaler, (const uint8_t *const *)frame->data, frame->linesize, 0, frame->height, planes, strides);
  return rows == frame->height ? 0 : SORA_AVF_INVALID;
}

void sora_decoder_reset(sora_decoder *decoder) {
  sora_avf.avcodec_flush_buffers(decoder->context);
  sora_avf.swr_free(&decoder->resampler);
}

void sora_decoder_close(sora_decoder *decoder) {
  if (!decoder) return;
  if (decoder->scaler) sora_sws.sws_freeContext(decoder->scaler);
  sora_avf.swr_free(&decoder->resampler);
  if (decoder->frame) sora_avf.av_frame_free(&decoder->frame);
  if (decoder->packet) sora_avf.av_packet_free(&decoder->packet);
  if (decoder->context) sora_avf.avcodec_free_context(&decoder->context);
  free(decoder->samples);
  free(decoder);
}
