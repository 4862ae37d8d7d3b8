#include <errno.h>
#include <spa/param/buffers.h>
#include <spa/param/video/format-utils.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cast.h"
#include "libraries.h"

enum { LARGEST_SIDE = 16384 };

struct sora_stream {
  struct pw_loop *loop;
  struct pw_context *context;
  struct pw_core *core;
  struct pw_stream *stream;
  struct spa_hook core_hook, stream_hook;
  sora_cast_text *text;
  // Whether it is over, and whether a format was agreed on so far.
  int is_lost, is_agreed;
  struct spa_video_info_raw format;
  /// The newest buffer with pixels, which is ours until it is queued again, and what it shows.
  struct pw_buffer *held;
  sora_cast_frame frame;
  int is_new;
  // The size that was told last.
  int32_t width, height;
  uint64_t broken;
};

// MARK: A frame

/// Whether a buffer shows something; what, in `out`. What the other side wrote is read once, for it may change it at any time.
static int read_frame(sora_stream *stream, const struct spa_buffer *buffer, sora_cast_frame *out) {
  if (!stream->format.size.width || buffer->n_datas < 1 || !buffer->datas[0].data || !buffer->datas[0].chunk) return 0;
  const struct spa_data *data = &buffer->datas[0];
  const struct spa_chunk chunk = *data->chunk;
  const struct spa_meta_header *meta = spa_buffer_find_meta_data(buffer, SPA_META_Header, sizeof *meta);
  struct spa_meta_header header = {.pts = -1};
  if (meta) header = *meta;
  // A buffer without pixels tells that the pointer moved.
  if (chunk.size == 0 || (chunk.flags & SPA_CHUNK_FLAG_CORRUPTED) || (header.flags & SPA_META_HEADER_FLAG_CORRUPTED)) return 0;

  int64_t left = 0, top = 0, width = stream->format.size.width, height = stream->format.size.height;
  const int64_t row = width * 4, stride = chunk.stride > 0 ? chunk.stride : row;
  const uint32_t offset = data->maxsize > 0 ? chunk.offset % data->maxsize : 0;
  if (stride < row || (int64_t)offset + stride * (height - 1) + row > (int64_t)data->maxsize) {
    stream->broken++;
    return 0;
  }
  // A window's picture may be a part of a larger one.
  const struct spa_meta_region *region = spa_buffer_find_meta_data(buffer, SPA_META_VideoCrop, sizeof *region);
  const struct spa_meta_region crop = region ? *region : (struct spa_meta_region){0};
  if (spa_meta_region_is_valid(&crop)) {
    const int64_t x = crop.region.position.x, y = crop.region.position.y;
    const int64_t right = x + crop.region.size.width, bottom = y + crop.region.size.height;
    left = x < 0 ? 0 : x;
    top = y < 0 ? 0 : y;
    width = (right < width ? right : width) - left;
    height = (bottom < height ? bottom : height) - top;
  }
  // Encoders take pairs.
  width &= ~(int64_t)1;
  height &= ~(int64_t)1;
  if (width < 2 || height < 2) {
    stream->broken++;
    return 0;
  }
  *out = (sora_cast_frame){
      .pixels = (const uint8_t *)data->data + offset + top * stride + left * 4,
      .stride = (int32_t)stride,
      .width = (int32_t)width,
      .height = (int32_t)height,
      .is_red_first =
          stream->format.format == SPA_VIDEO_FORMAT_RGBx || stream->format.format == SPA_VIDEO_FORMAT_RGBA,
      .time = header.pts};
  return 1;
}

static void on_process(void *data) {
  sora_stream *stream = data;
  struct pw_buffer *buffer;
  while ((buffer = lib.pw_stream_dequeue_buffer(stream->stream))) {
    sora_cast_frame frame;
    if (!read_frame(stream, buffer->buffer, &frame)) {
      lib.pw_stream_queue_buffer(stream->stream, buffer);
      continue;
    }
    sora_stream_give_back(stream);
    stream->held = buffer;
    stream->frame = frame;
    stream->is_new = 1;
  }
}

static void on_remove_buffer(void *data, struct pw_buffer *buffer) {
  sora_stream *stream = data;
  if (stream->held == buffer) stream->held = NULL;
}

void sora_stream_give_back(sora_stream *stream) {
  if (stream->held) lib.pw_stream_queue_buffer(stream->stream, stream->held);
  stream->held = NULL;
}

int32_t sora_stream_take(sora_stream *stream, sora_cast_frame *out) {
  if (!stream->held) return 0;
  *out = stream->frame;
  stream->is_new = 0;
  return 1;
}

// MARK: What both sides agree on

static void on_param_changed(void *data, uint32_t id, const struct spa_pod *param) {
  sora_stream *stream = data;
  if (id != SPA_PARAM_Format) return;
  sora_stream_give_back(stream);
  memset(&stream->format, 0, sizeof stream->format);
  if (!param) return;
  struct spa_video_info info = {0};
  if (spa_format_parse(param, &info.media_type, &info.media_subtype) < 0 || info.media_type != SPA_MEDIA_TYPE_video ||
      info.media_subtype != SPA_MEDIA_SUBTYPE_raw || spa_format_video_raw_parse(param, &info.info.raw) < 0)
    return;
  const struct spa_rectangle size = info.info.raw.size;
  if (size.width < 1 || size.height < 1 || size.width > LARGEST_SIDE || size.height > LARGEST_SIDE) return;
  stream->format = info.info.raw;
  stream->is_agreed = 1;

  uint8_t room[1024];
  struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(room, sizeof room);
  const struct spa_pod *params[3];
  // Memory that the processor reads: a graphics card's would have to be fetched by its driver.
  params[0] = spa_pod_builder_add_object(
      &builder, SPA_TYPE_OBJECT_ParamBuffers, SPA_PARAM_Buffers, SPA_PARAM_BUFFERS_buffers,
      SPA_POD_CHOICE_RANGE_Int(4, 2, 16), SPA_PARAM_BUFFERS_dataType,
      SPA_POD_CHOICE_FLAGS_Int((1 << SPA_DATA_MemPtr) | (1 << SPA_DATA_MemFd)));
  params[1] = spa_pod_builder_add_object(
      &builder, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta, SPA_PARAM_META_type, SPA_POD_Id(SPA_META_Header),
      SPA_PARAM_META_size, SPA_POD_Int(sizeof(struct spa_meta_header)));
  params[2] = spa_pod_builder_add_object(
      &builder, SPA_TYPE_OBJECT_ParamMeta, SPA_PARAM_Meta, SPA_PARAM_META_type, SPA_POD_Id(SPA_META_VideoCrop),
      SPA_PARAM_META_size, SPA_POD_Int(sizeof(struct spa_meta_region)));
  lib.pw_stream_update_params(stream->stream, params, 3);
}

static int connect_stream(sora_stream *stream, uint32_t node, uint32_t frames_per_second) {
  uint8_t room[1024];
  struct spa_pod_builder builder = SPA_POD_BUILDER_INIT(room, sizeof room);
  const struct spa_rectangle usual = {1920, 1080}, least = {1, 1}, most = {LARGEST_SIDE, LARGEST_SIDE};
  const struct spa_fraction none = {0, 1}, one = {1, 1}, any = {1000, 1}, wanted = {frames_per_second, 1};
  const struct spa_pod *format = spa_pod_builder_add_object(
      &builder, SPA_TYPE_OBJECT_Format, SPA_PARAM_EnumFormat, SPA_FORMAT_mediaType, SPA_POD_Id(SPA_MEDIA_TYPE_video),
      SPA_FORMAT_mediaSubtype, SPA_POD_Id(SPA_MEDIA_SUBTYPE_raw), SPA_FORMAT_VIDEO_format,
      SPA_POD_CHOICE_ENUM_Id(
          5, SPA_VIDEO_FORMAT_BGRx, SPA_VIDEO_FORMAT_BGRx, SPA_VIDEO_FORMAT_RGBx, SPA_VIDEO_FORMAT_BGRA,
          SPA_VIDEO_FORMAT_RGBA),
      SPA_FORMAT_VIDEO_size, SPA_POD_CHOICE_RANGE_Rectangle(&usual, &least, &most), SPA_FORMAT_VIDEO_framerate,
      SPA_POD_CHOICE_RANGE_Fraction(&none, &none, &any), SPA_FORMAT_VIDEO_maxFramerate,
      SPA_POD_CHOICE_RANGE_Fraction(&wanted, &one, &wanted));
  // Not another's picture, such as a camera's, where this one goes.
  return lib.pw_stream_connect(
      stream->stream, PW_DIRECTION_INPUT, node,
      PW_STREAM_FLAG_AUTOCONNECT | PW_STREAM_FLAG_MAP_BUFFERS | PW_STREAM_FLAG_DONT_RECONNECT, &format, 1);
}

// MARK: The end

static void lose(sora_stream *stream, const char *why) {
  // The first reason is what led to the others.
  if (!stream->is_lost) sora_cast_say(stream->text, "%s", why);
  stream->is_lost = 1;
}

static void on_state_changed(void *data, enum pw_stream_state old, enum pw_stream_state state, const char *error) {
  (void)old;
  if (state == PW_STREAM_STATE_ERROR) lose(data, error && *error ? error : "the stream failed");
  if (state == PW_STREAM_STATE_UNCONNECTED) lose(data, "the stream ended");
}

static void on_core_error(void *data, uint32_t id, int sequence, int result, const char *message) {
  (void)sequence;
  // Errors of other objects are told by the stream's state.
  if (id == PW_ID_CORE) lose(data, result == -EPIPE || !message ? "PipeWire ended" : message);
}

static const struct pw_stream_events stream_events = {
    PW_VERSION_STREAM_EVENTS,
    .state_changed = on_state_changed,
    .param_changed = on_param_changed,
    .remove_buffer = on_remove_buffer,
    .process = on_process,
};

static const struct pw_core_events core_events = {PW_VERSION_CORE_EVENTS, .error = on_core_error};

// MARK: Opening and closing

static sora_cast_status failed(sora_stream *stream, sora_cast_text *text, const char *what) {
  sora_cast_say(text, "%s (%s)", what, strerror(errno));
  sora_stream_close(stream);
  return SORA_CAST_NO_PIPEWIRE;
}

sora_cast_status sora_stream_open(
    int fd, uint32_t node, uint32_t frames_per_second, sora_cast_text *text, sora_stream **out) {
  *out = NULL;
  if (!sora_cast_load_pipewire()) {
    close(fd);
    sora_cast_say(text, "libpipewire-0.3.so.0 isn't installed");
    return SORA_CAST_NO_PIPEWIRE;
  }
  sora_stream *stream = calloc(1, sizeof *stream);
  if (!stream) {
    close(fd);
    return SORA_CAST_NO_MEMORY;
  }
  stream->text = text;
  errno = 0;
  stream->loop = lib.pw_loop_new(NULL);
  if (stream->loop) {
    pw_loop_enter(stream->loop);
    stream->context = lib.pw_context_new(stream->loop, NULL, 0);
  }
  if (!stream->context) {
    close(fd);
    return failed(stream, text, "its library doesn't start");
  }
  // The file descriptor is the library's from here on.
  stream->core = lib.pw_context_connect_fd(stream->context, fd, NULL, 0);
  if (!stream->core) return failed(stream, text, "it doesn't answer");
  pw_core_add_listener(stream->core, &stream->core_hook, &core_events, stream);
  stream->stream = lib.pw_stream_new(
      stream->core, "screen",
      lib.pw_properties_new(
          PW_KEY_MEDIA_TYPE, "Video", PW_KEY_MEDIA_CATEGORY, "Capture", PW_KEY_MEDIA_ROLE, "Screen", NULL));
  if (!stream->stream) return failed(stream, text, "it makes no stream");
  lib.pw_stream_add_listener(stream->stream, &stream->stream_hook, &stream_events, stream);
  const int result = connect_stream(stream, node, frames_per_second > 0 ? frames_per_second : 1);
  if (result < 0) {
    errno = -result;
    return failed(stream, text, "it doesn't connect the stream");
  }
  *out = stream;
  return SORA_CAST_DONE;
}

void sora_stream_close(sora_stream *stream) {
  if (!stream) return;
  // Nobody is told of the end that is made here.
  stream->is_lost = 1;
  sora_stream_give_back(stream);
  if (stream->stream) lib.pw_stream_destroy(stream->stream);
  if (stream->core) {
    spa_hook_remove(&stream->core_hook);
    lib.pw_core_disconnect(stream->core);
  }
  if (stream->context) lib.pw_context_destroy(stream->context);
  if (stream->loop) {
    pw_loop_leave(stream->loop);
    lib.pw_loop_destroy(stream->loop);
  }
  free(stream);
}

int sora_stream_file(sora_stream *stream) { return pw_loop_get_fd(stream->loop); }

sora_cast_status sora_stream_process(sora_stream *stream, sora_cast_changes *out) {
  const int result = pw_loop_iterate(stream->loop, 0);
  if (result < 0 && result != -EINTR) lose(stream, strerror(-result));
  if (stream->is_lost) return SORA_CAST_LOST;
  out->is_agreed = stream->is_agreed;
  out->broken = stream->broken;
  out->is_drawn = stream->held && stream->is_new;
  if (!out->is_drawn) return SORA_CAST_DONE;
  out->width = stream->frame.width;
  out->height = stream->frame.height;
  out->is_resized = out->width != stream->width || out->height != stream->height;
  stream->width = out->width;
  stream->height = out->height;
  return SORA_CAST_DONE;
}
