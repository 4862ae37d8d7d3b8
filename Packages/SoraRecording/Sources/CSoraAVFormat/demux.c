#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "library.h"

_Static_assert(
    SORA_AVF_END == AVERROR_EOF && SORA_AVF_INVALID == AVERROR_INVALIDDATA && SORA_AVF_AGAIN == AVERROR(EAGAIN),
    "the codes that Swift compares with");

static int add_filter(sora_demux *demux, int index) {
  AVStream *stream = demux->context->streams[index];
  const char *name = stream->codecpar->codec_id == AV_CODEC_ID_H264   ? "h264_mp4toannexb"
                     : stream->codecpar->codec_id == AV_CODEC_ID_HEVC ? "hevc_mp4toannexb"
                                                                      : NULL;
  if (!name) return 0;
  const AVBitStreamFilter *filter = sora_avf.av_bsf_get_by_name(name);
  if (!filter) return AVERROR_BSF_NOT_FOUND;
  int code = sora_avf.av_bsf_alloc(filter, &demux->filters[index]);
  if (code < 0) return code;
  code = sora_avf.avcodec_parameters_copy(demux->filters[index]->par_in, stream->codecpar);
  if (code < 0) return code;
  demux->filters[index]->time_base_in = stream->time_base;
  return sora_avf.av_bsf_init(demux->filters[index]);
}

/// Opens the file, where the path is one. Formats that are lists of other files then find no protocol left to open those with.
static int open_file(sora_demux *demux, const char *url, AVDictionary **options) {
  AVDictionary *own = NULL;
  sora_avf.av_dict_set(&own, "protocol_whitelist", "file", 0);
  int code = sora_avf.avio_open2(&demux->file, url, AVIO_FLAG_READ, NULL, &own);
  sora_avf.av_dict_free(&own);
  // Numbered pictures are each opened by a name that the path says.
  if (code == AVERROR(ENOENT)) return sora_avf.av_dict_set(options, "protocol_whitelist", "file", 0);
  if (code < 0) return code;
  demux->context = sora_avf.avformat_alloc_context();
  if (!demux->context) return AVERROR(ENOMEM);
  demux->context->pb = demux->file;
  return sora_avf.av_dict_set(options, "protocol_whitelist", "none", 0);
}

int sora_demux_open(const char *path, const char *frame_rate, sora_demux **result) {
  sora_demux *demux = calloc(1, sizeof *demux);
  if (!demux) return AVERROR(ENOMEM);
  demux->draining = -1;
  AVDictionary *options = NULL;
  int code = AVERROR(ENOMEM);
  // "file:" keeps a name with a colon from being taken for an address.
  size_t length = strlen(path) + 6;
  char *url = malloc(length);
  demux->packet = sora_avf.av_packet_alloc();
  if (!url || !demux->packet) goto failed;
  snprintf(url, length, "file:%s", path);
  code = open_file(demux, url, &options);
  if (code < 0) goto failed;
  // Only formats without times of their own know this one.
  if (frame_rate) sora_avf.av_dict_set(&options, "framerate", frame_rate, 0);
  code = sora_avf.avformat_open_input(&demux->context, url, NULL, &options);
  if (code < 0) goto failed;
  code = sora_avf.avformat_find_stream_info(demux->context, NULL);
  if (code < 0) goto failed;
  code = AVERROR(ENOMEM);
  demux->filters = calloc(demux->context->nb_streams + 1, sizeof *demux->filters);
  if (!demux->filters) goto failed;
  demux->tracks = (int)demux->context->nb_streams;
  for (int i = 0; i < demux->tracks; i++) {
    code = add_filter(demux, i);
    if (code < 0) goto failed;
  }
  sora_avf.av_dict_free(&options);
  free(url);
  *result = demux;
  return 0;
failed:
  sora_avf.av_dict_free(&options);
  free(url);
  sora_demux_close(demux);
  return code;
}

int sora_demux_tracks(const sora_demux *demux) { return demux->tracks; }

/// How often a track is to be turned by 90 degrees clockwise before it is shown, as films of phones are.
static int quarter_turns(const AVStream *stream) {
  size_t size = 0;
  const uint8_t *matrix = sora_avf.av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &size);
  if (!matrix || size < 9 * sizeof(int32_t)) return 0;
  double turned = sora_avf.av_display_rotation_get((const int32_t *)matrix);
  if (isnan(turned)) return 0;
  // The library counts against the clock.
  return ((int)lround(-turned / 90) % 4 + 4) % 4;
}

/// Whether a call's decoders have pixels of this kind: of H.264 and H.265 profiles with 4:2:0 of 8 bits alone are negotiated, of VP9 and AV1
/// those with 10 bits as well. What the file doesn't say is taken for it.
static bool has_call_pixels(const AVCodecParameters *parameters) {
  switch (parameters->format) {
    case AV_PIX_FMT_NONE:
    case AV_PIX_FMT_YUV420P:
    case AV_PIX_FMT_YUVJ420P: return true;
    case AV_PIX_FMT_YUV420P10: return parameters->codec_id == AV_CODEC_ID_VP9 || parameters->codec_id == AV_CODEC_ID_AV1;
    default: return false;
  }
}

void sora_demux_track(const sora_demux *demux, int index, struct sora_avf_track *track) {
  memset(track, 0, sizeof *track);
  if (index < 0 || index >= demux->tracks) return;
  const AVStream *stream = demux->context->streams[index];
  const AVCodecParameters *parameters = stream->codecpar;
  bool is_cover = stream->disposition & AV_DISPOSITION_ATTACHED_PIC;
  bool goes_as_it_is = parameters->codec_type != AVMEDIA_TYPE_VIDEO || has_call_pixels(parameters);
  track->codec = goes_as_it_is ? sora_avf_codec_of(parameters->codec_id) : SORA_AVF_OTHER;
  track->kind = is_cover ? 0 : parameters->codec_type == AVMEDIA_TYPE_VIDEO ? 1 : parameters->codec_type == AVMEDIA_TYPE_AUDIO ? 2 : 0;
  track->is_decodable = track->kind != 0 && sora_avf.avcodec_find_decoder(parameters->codec_id) != NULL;
  if (stream->avg_frame_rate.num > 0 && stream->avg_frame_rate.den > 0) track->frame_rate = av_q2d(stream->avg_frame_rate);
  // What is decoded is made square; what goes as it is can't be.
  track->width = track->codec == SORA_AVF_OTHER ? sora_shown_width(parameters->width, sora_aspect(stream)) : parameters->width;
  track->height = parameters->height;
  track->quarter_turns = quarter_turns(stream);
  track->channels = parameters->ch_layout.nb_channels;
  track->sample_rate = parameters->sample_rate;
  snprintf(track->name, sizeof track->name, "%s", sora_avf.avcodec_get_name(parameters->codec_id));
}

int64_t sora_demux_duration(const sora_demux *demux) {
  int64_t duration = demux->context->duration;
  if (duration == AV_NOPTS_VALUE || duration < 0 || duration > INT64_MAX / 1000) return SORA_AVF_NO_TIME;
  // The heads of these say when the file ends; the library's own estimates say how long it is.
  const char *format = demux->context->iformat->name;
  int64_t start = demux->context->start_time;
  if (start != AV_NOPTS_VALUE && start > 0 && start < duration && (strstr(format, "matroska") || strstr(format, "mp4"))) duration -= start;
  return duration * 1000;
}

static int64_t nanoseconds(int64_t value, AVRational base) {
  if (value == AV_NOPTS_VALUE) return SORA_AVF_NO_TIME;
  return sora_avf.av_rescale_q(value, base, sora_nanoseconds);
}

int sora_demux_read(sora_demux *demux, struct sora_avf_frame *frame) {
  for (;;) {
    sora_avf.av_packet_unref(demux->packet);
    if (demux->draining >= 0) {
      int code = sora_avf.av_bsf_receive_packet(demux->filters[demux->draining], demux->packet);
      if (code < 0) {
        demux->draining = -1;
        // A frame that can't be read is left out; the file goes on.
        continue;
      }
    } else {
      int code = sora_avf.av_read_frame(demux->context, demux->packet);
      if (code < 0) return code;
      int index = demux->packet->stream_index;
      if (index < 0 || index >= demux->tracks) continue;
      if (demux->filters[index]) {
        if (sora_avf.av_bsf_send_packet(demux->filters[index], demux->packet) >= 0) demux->draining = index;
        continue;
      }
    }
    AVPacket *packet = demux->packet;
    if (!packet->data || packet->size <= 0) continue;
    AVRational base = demux->context->streams[packet->stream_index]->time_base;
    frame->track = packet->stream_index;
    frame->data = packet->data;
    frame->size = packet->size;
    frame->time = nanoseconds(packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts, base);
    frame->decode_time = nanoseconds(packet->dts, base);
    frame->duration = nanoseconds(packet->duration, base);
    frame->is_key = !!(packet->flags & AV_PKT_FLAG_KEY);
    return 0;
  }
}

int sora_demux_seek(sora_demux *demux, int64_t time) {
  int64_t microseconds = time / 1000;
  int code = sora_avf.avformat_seek_file(demux->context, -1, INT64_MIN, microseconds, microseconds, 0);
  if (code < 0) return code;
  for (int i = 0; i < demux->tracks; i++)
    if (demux->filters[i]) sora_avf.av_bsf_flush(demux->filters[i]);
  demux->draining = -1;
  return 0;
}

void sora_demux_close(sora_demux *demux) {
  if (!demux) return;
  if (demux->filters)
    for (int i = 0; i < demux->tracks; i++) sora_avf.av_bsf_free(&demux->filters[i]);
  free(demux->filters);
  sora_avf.avformat_close_input(&demux->context);
  sora_avf.avio_closep(&demux->file);
  if (demux->packet) sora_avf.av_packet_free(&demux->packet);
  free(demux);
}
