#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "library.h"

struct sora_mux {
  AVFormatContext *context;
  AVPacket *packet;
  int file;
  int error;
  int64_t position, end;
  /// Where the last whole fragment or block ends.
  int64_t whole;
  int is_started;
  /// The path of a file that wasn't there before: it goes again where nothing is written to it.
  char *made;
};

/// What a call has written is whole, or is cut off where it failed: readers refuse a file that ends in a fragment's head.
static int settle(sora_mux *mux) {
  if (!mux->error) {
    mux->whole = mux->end;
    return 0;
  }
  // Of what is no file of a disk nothing can be cut off.
  if (mux->whole > 0 && mux->end > mux->whole && ftruncate(mux->file, mux->whole) == 0) mux->end = mux->whole;
  return AVERROR(mux->error);
}

static int write_file(void *opaque, uint8_t *bytes, int count) {
  sora_mux *mux = opaque;
  int done = 0;
  // What comes after a failure would stand in the wrong place.
  if (mux->error) return AVERROR(mux->error);
  while (done < count) {
    ssize_t written = write(mux->file, bytes + done, count - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      mux->error = written < 0 ? errno : ENOSPC;
      return AVERROR(mux->error);
    }
    done += written;
    mux->position += written;
    if (mux->position > mux->end) mux->end = mux->position;
  }
  return count;
}

static int64_t seek_file(void *opaque, int64_t offset, int whence) {
  sora_mux *mux = opaque;
  if (whence & AVSEEK_SIZE) return mux->end;
  off_t place = lseek(mux->file, offset, whence & ~AVSEEK_FORCE);
  if (place < 0) return AVERROR(errno);
  mux->position = place;
  return place;
}

int sora_mux_open(const char *path, const char *format, sora_mux **result) {
  sora_mux *mux = calloc(1, sizeof *mux);
  if (!mux) return AVERROR(ENOMEM);
  int code = AVERROR(ENOMEM);
  // What lies there stays until there is something to take its place.
  mux->file = open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0644);
  if (mux->file >= 0) {
    mux->made = strdup(path);
  } else if (errno == EEXIST) {
    mux->file = open(path, O_CREAT | O_RDWR | O_CLOEXEC, 0644);
  }
  if (mux->file < 0) {
    code = AVERROR(errno);
    goto failed;
  }
  code = sora_avf.avformat_alloc_output_context2(&mux->context, NULL, format, NULL);
  if (code < 0) goto failed;
  code = AVERROR(ENOMEM);
  mux->packet = sora_avf.av_packet_alloc();
  if (!mux->packet) goto failed;
  enum { BUFFER = 1 << 16 };
  unsigned char *buffer = sora_avf.av_malloc(BUFFER);
  if (!buffer) goto failed;
  mux->context->pb = sora_avf.avio_alloc_context(buffer, BUFFER, 1, mux, NULL, write_file, seek_file);
  if (!mux->context->pb) {
    sora_avf.av_freep(&buffer);
    goto failed;
  }
  mux->context->pb->seekable = lseek(mux->file, 0, SEEK_CUR) >= 0 ? AVIO_SEEKABLE_NORMAL : 0;
  mux->context->flags |= AVFMT_FLAG_CUSTOM_IO | AVFMT_FLAG_FLUSH_PACKETS;
  // Times are the caller's: nothing is shifted, and a track that is silent holds up the others for this long at most.
  mux->context->avoid_negative_ts = AVFMT_AVOID_NEG_TS_DISABLED;
  mux->context->max_interleave_delta = 500000;
  *result = mux;
  return 0;
failed:
  sora_mux_close(mux);
  return code;
}

static int set_extra(AVCodecParameters *parameters, const void *extra, size_t size) {
  if (size == 0) return 0;
  if (size > 1 << 20) return AVERROR(EINVAL);
  parameters->extradata = sora_avf.av_mallocz(size + AV_INPUT_BUFFER_PADDING_SIZE);
  if (!parameters->extradata) return AVERROR(ENOMEM);
  memcpy(parameters->extradata, extra, size);
  parameters->extradata_size = (int)size;
  return 0;
}

static int is_mp4(const sora_mux *mux) { return strcmp(mux->context->oformat->name, "mp4") == 0; }

int sora_mux_add_video(sora_mux *mux, enum sora_avf_codec codec, int width, int height, int bit_depth, int rotation, struct sora_avf_colors colors,
                       const void *extra, size_t size) {
  AVStream *stream = sora_avf.avformat_new_stream(mux->context, NULL);
  if (!stream) return AVERROR(ENOMEM);
  AVCodecParameters *parameters = stream->codecpar;
  parameters->codec_type = AVMEDIA_TYPE_VIDEO;
  parameters->codec_id = sora_avf_codec_id(codec);
  parameters->width = width;
  parameters->height = height;
  parameters->format = bit_depth == 12 ? AV_PIX_FMT_YUV420P12 : bit_depth == 10 ? AV_PIX_FMT_YUV420P10 : AV_PIX_FMT_YUV420P;
  if (colors.matrix != 0) {
    // The library counts as H.273 does.
    parameters->color_primaries = (enum AVColorPrimaries)colors.primaries;
    parameters->color_trc = (enum AVColorTransferCharacteristic)colors.transfer;
    parameters->color_space = (enum AVColorSpace)colors.matrix;
    parameters->color_range = colors.is_full_range ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
  }
  if (codec == SORA_AVF_VP9) parameters->profile = bit_depth > 8 ? FF_PROFILE_VP9_2 : FF_PROFILE_VP9_0;
  // The kind of entry whose parameter sets may change with a key frame: senders do so with their size.
  if (is_mp4(mux) && codec == SORA_AVF_H264) parameters->codec_tag = MKTAG('a', 'v', 'c', '3');
  if (is_mp4(mux) && codec == SORA_AVF_H265) parameters->codec_tag = MKTAG('h', 'e', 'v', '1');
  stream->time_base = (AVRational){1, 90000};
  if (rotation) {
    int32_t *matrix = sora_avf.av_malloc(9 * sizeof *matrix);
    if (!matrix) return AVERROR(ENOMEM);
    sora_avf.av_display_rotation_set(matrix, rotation);
    if (sora_avf.av_stream_add_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, (uint8_t *)matrix, 9 * sizeof *matrix) < 0)
      sora_avf.av_freep(&matrix);
  }
  int code = set_extra(parameters, extra, size);
  return code < 0 ? code : stream->index;
}

int sora_mux_add_audio(sora_mux *mux, enum sora_avf_codec codec, int channels, const void *extra, size_t size) {
  AVStream *stream = sora_avf.avformat_new_stream(mux->context, NULL);
  if (!stream) return AVERROR(ENOMEM);
  AVCodecParameters *parameters = stream->codecpar;
  parameters->codec_type = AVMEDIA_TYPE_AUDIO;
  parameters->codec_id = sora_avf_codec_id(codec);
  parameters->sample_rate = 48000;
  parameters->frame_size = 960;
  sora_avf.av_channel_layout_default(&parameters->ch_layout, channels);
  stream->time_base = (AVRational){1, 48000};
  int code = set_extra(parameters, extra, size);
  return code < 0 ? code : stream->index;
}

int sora_mux_describe(sora_mux *mux, const char *key, const char *value) {
  return sora_avf.av_dict_set(&mux->context->metadata, key, value, 0);
}

int sora_mux_start(sora_mux *mux, int fragment_ms) {
  AVDictionary *options = NULL;
  if (is_mp4(mux)) {
    // Each fragment says its own time, so that a track may begin later than another.
    sora_avf.av_dict_set(&options, "movflags", "frag_keyframe+empty_moov+default_base_moof+frag_discont", 0);
    sora_avf.av_dict_set(&options, "use_editlist", "0", 0);
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)fragment_ms * 1000);
    sora_avf.av_dict_set(&options, "frag_duration", text, 0);
  } else {
    char text[32];
    snprintf(text, sizeof text, "%d", fragment_ms);
    sora_avf.av_dict_set(&options, "cluster_time_limit", text, 0);
  }
  // Of what is no file of a disk nothing can be cut off.
  if (ftruncate(mux->file, 0) != 0) errno = 0;
  int code = sora_avf.avformat_write_header(mux->context, &options);
  sora_avf.av_dict_free(&options);
  if (code < 0) return code;
  mux->is_started = 1;
  sora_avf.avio_flush(mux->context->pb);
  return settle(mux);
}

int sora_mux_write(sora_mux *mux, int track, const void *data, size_t size, int64_t time, int64_t duration, int is_key) {
  if (!mux->is_started || track < 0 || track >= (int)mux->context->nb_streams) return AVERROR(EINVAL);
  if (size > INT32_MAX - AV_INPUT_BUFFER_PADDING_SIZE) return AVERROR(EINVAL);
  int code = sora_avf.av_new_packet(mux->packet, (int)size);
  if (code < 0) return code;
  memcpy(mux->packet->data, data, size);
  AVRational base = mux->context->streams[track]->time_base;
  mux->packet->stream_index = track;
  mux->packet->pts = mux->packet->dts = sora_avf.av_rescale_q(time, sora_nanoseconds, base);
  mux->packet->duration = sora_avf.av_rescale_q(duration, sora_nanoseconds, base);
  if (is_key) mux->packet->flags |= AV_PKT_FLAG_KEY;
  code = sora_avf.av_interleaved_write_frame(mux->context, mux->packet);
  sora_avf.av_packet_unref(mux->packet);
  int failure = settle(mux);
  if (failure) return failure;
  return code == AVERROR_INVALIDDATA ? SORA_AVF_INVALID : code < 0 ? code : 0;
}

int sora_mux_finish(sora_mux *mux) {
  if (!mux->is_started) return 0;
  mux->is_started = 0;
  int code = sora_avf.av_write_trailer(mux->context);
  sora_avf.avio_flush(mux->context->pb);
  int failure = settle(mux);
  return failure ? failure : code < 0 ? code : 0;
}

int sora_mux_errno(const sora_mux *mux) { return mux->error; }

int64_t sora_mux_bytes(const sora_mux *mux) { return mux->end; }

void sora_mux_close(sora_mux *mux) {
  if (!mux) return;
  if (mux->context) {
    AVIOContext *io = mux->context->pb;
    if (mux->is_started) {
      // The queue's packets and the muxer's memory go with the trailer only; nothing of it reaches the file.
      if (!mux->error) mux->error = EBADF;
      sora_avf.av_write_trailer(mux->context);
    }
    sora_avf.avformat_free_context(mux->context);
    if (io) {
      sora_avf.av_freep(&io->buffer);
      sora_avf.avio_context_free(&io);
    }
  }
  if (mux->packet) sora_avf.av_packet_free(&mux->packet);
  if (mux->made && mux->end == 0) unlink(mux->made);
  free(mux->made);
  if (mux->file >= 0) close(mux->file);
  free(mux);
}
