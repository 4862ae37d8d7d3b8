#include "CSoraV4L2.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <poll.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <unistd.h>

static int call(int fd, unsigned long request, void *argument) {
  int result;
  do {
    result = ioctl(fd, request, argument);
  } while (result < 0 && errno == EINTR);
  return result < 0 ? errno : 0;
}

static void copy_text(char *to, size_t room, const uint8_t *from, size_t length) {
  size_t count = strnlen((const char *)from, length);
  if (count > room - 1) count = room - 1;
  memcpy(to, from, count);
  to[count] = 0;
}

static int is_planar(uint32_t type) { return type == V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE; }

static uint32_t bounded(uint32_t planes) { return planes < SORA_V4L2_PLANES ? planes : SORA_V4L2_PLANES; }

// MARK: Devices

int sora_v4l2_open(const char *path, int *fd) {
  *fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
  return *fd < 0 ? errno : 0;
}

void sora_v4l2_close(int fd) { close(fd); }

int sora_v4l2_capabilities(int fd, sora_v4l2_capability *out) {
  struct v4l2_capability capability = {0};
  memset(out, 0, sizeof *out);
  int error = call(fd, VIDIOC_QUERYCAP, &capability);
  if (error != 0) return error;
  copy_text(out->driver, sizeof out->driver, capability.driver, sizeof capability.driver);
  copy_text(out->card, sizeof out->card, capability.card, sizeof capability.card);
  copy_text(out->bus, sizeof out->bus, capability.bus_info, sizeof capability.bus_info);
  // A device may have several nodes; `device_caps` says what this one can.
  uint32_t can = capability.capabilities & V4L2_CAP_DEVICE_CAPS ? capability.device_caps : capability.capabilities;
  if (!(can & V4L2_CAP_STREAMING)) return 0;
  if (can & V4L2_CAP_VIDEO_CAPTURE_MPLANE)
    out->type = V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE;
  else if (can & V4L2_CAP_VIDEO_CAPTURE)
    out->type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
  return 0;
}

// MARK: Formats

int sora_v4l2_format(int fd, uint32_t type, uint32_t index, uint32_t *fourcc) {
  struct v4l2_fmtdesc format = {.index = index, .type = type};
  int error = call(fd, VIDIOC_ENUM_FMT, &format);
  if (error != 0) return error;
  *fourcc = format.pixelformat;
  return 0;
}

int sora_v4l2_size(int fd, uint32_t fourcc, uint32_t index, sora_v4l2_sizes *out) {
  struct v4l2_frmsizeenum sizes = {.index = index, .pixel_format = fourcc};
  int error = call(fd, VIDIOC_ENUM_FRAMESIZES, &sizes);
  if (error != 0) return error;
  out->is_discrete = sizes.type == V4L2_FRMSIZE_TYPE_DISCRETE;
  if (out->is_discrete) {
    out->least_width = out->most_width = sizes.discrete.width;
    out->least_height = out->most_height = sizes.discrete.height;
    out->step_width = out->step_height = 1;
    return 0;
  }
  out->least_width = sizes.stepwise.min_width;
  out->most_width = sizes.stepwise.max_width;
  // Of a continuous range the steps may be left open.
  int is_stepwise = sizes.type == V4L2_FRMSIZE_TYPE_STEPWISE;
  out->step_width = is_stepwise ? sizes.stepwise.step_width : 1;
  out->least_height = sizes.stepwise.min_height;
  out->most_height = sizes.stepwise.max_height;
  out->step_height = is_stepwise ? sizes.stepwise.step_height : 1;
  return 0;
}

static sora_v4l2_fraction fraction(struct v4l2_fract from) {
  return (sora_v4l2_fraction){from.numerator, from.denominator};
}

int sora_v4l2_interval(
    int fd, uint32_t fourcc, uint32_t width, uint32_t height, uint32_t index, sora_v4l2_intervals *out) {
  struct v4l2_frmivalenum intervals = {.index = index, .pixel_format = fourcc, .width = width, .height = height};
  int error = call(fd, VIDIOC_ENUM_FRAMEINTERVALS, &intervals);
  if (error != 0) return error;
  if (intervals.type == V4L2_FRMIVAL_TYPE_DISCRETE) {
    out->least = out->most = fraction(intervals.discrete);
    return 0;
  }
  out->least = fraction(intervals.stepwise.min);
  out->most = fraction(intervals.stepwise.max);
  return 0;
}

static void read_picture(uint32_t type, const struct v4l2_format *format, sora_v4l2_picture *out) {
  memset(out, 0, sizeof *out);
  if (is_planar(type)) {
    const struct v4l2_pix_format_mplane *picture = &format->fmt.pix_mp;
    out->fourcc = picture->pixelformat;
    out->width = picture->width;
    out->height = picture->height;
    out->planes = bounded(picture->num_planes);
    for (uint32_t i = 0; i < out->planes; i++) {
      out->stride[i] = picture->plane_fmt[i].bytesperline;
    }
    out->colorspace = picture->colorspace;
    out->encoding = picture->ycbcr_enc;
    out->quantization = picture->quantization;
  } else {
    const struct v4l2_pix_format *picture = &format->fmt.pix;
    out->fourcc = picture->pixelformat;
    out->width = picture->width;
    out->height = picture->height;
    out->planes = 1;
    out->stride[0] = picture->bytesperline;
    out->colorspace = picture->colorspace;
    out->encoding = picture->ycbcr_enc;
    out->quantization = picture->quantization;
  }
}

int sora_v4l2_get_picture(int fd, uint32_t type, sora_v4l2_picture *picture) {
  struct v4l2_format format = {.type = type};
  int error = call(fd, VIDIOC_G_FMT, &format);
  if (error == 0) read_picture(type, &format, picture);
  return error;
}

int sora_v4l2_set_picture(int fd, uint32_t type, sora_v4l2_picture *picture) {
  struct v4l2_format format = {.type = type};
  int error = call(fd, VIDIOC_G_FMT, &format);
  if (error != 0) return error;
  // Only what is asked for is said: row lengths and colours of the format before may not fit this one.
  if (is_planar(type)) {
    memset(&format.fmt.pix_mp, 0, sizeof format.fmt.pix_mp);
    format.fmt.pix_mp.pixelformat = picture->fourcc;
    format.fmt.pix_mp.width = picture->width;
    format.fmt.pix_mp.height = picture->height;
    format.fmt.pix_mp.field = V4L2_FIELD_NONE;
  } else {
    memset(&format.fmt.pix, 0, sizeof format.fmt.pix);
    format.fmt.pix.pixelformat = picture->fourcc;
    format.fmt.pix.width = picture->width;
    format.fmt.pix.height = picture->height;
    format.fmt.pix.field = V4L2_FIELD_NONE;
  }
  error = call(fd, VIDIOC_S_FMT, &format);
  if (error == 0) read_picture(type, &format, picture);
  return error;
}

int sora_v4l2_set_interval(int fd, uint32_t type, sora_v4l2_fraction *interval) {
  struct v4l2_streamparm parameters = {.type = type};
  int error = call(fd, VIDIOC_G_PARM, &parameters);
  if (error == 0 && parameters.parm.capture.capability & V4L2_CAP_TIMEPERFRAME) {
    parameters.parm.capture.timeperframe.numerator = interval->numerator;
    parameters.parm.capture.timeperframe.denominator = interval->denominator;
    error = call(fd, VIDIOC_S_PARM, &parameters);
  }
  // A driver without intervals has a rate all the same.
  if (error == ENOTTY || error == EINVAL) {
    *interval = (sora_v4l2_fraction){0, 0};
    return 0;
  }
  *interval = fraction(parameters.parm.capture.timeperframe);
  return error;
}

// MARK: Buffers

int sora_v4l2_make_buffers(int fd, uint32_t type, uint32_t *count) {
  struct v4l2_requestbuffers request = {.count = *count, .type = type, .memory = V4L2_MEMORY_MMAP};
  int error = call(fd, VIDIOC_REQBUFS, &request);
  if (error == 0) *count = request.count;
  return error;
}

/// A buffer of the kernel's, with room for its planes.
struct slot {
  struct v4l2_buffer buffer;
  struct v4l2_plane planes[SORA_V4L2_PLANES];
};

static void prepare(struct slot *slot, uint32_t type, uint32_t index, uint32_t planes) {
  memset(&slot->buffer, 0, sizeof slot->buffer);
  slot->buffer.type = type;
  slot->buffer.index = index;
  slot->buffer.memory = V4L2_MEMORY_MMAP;
  if (is_planar(type)) {
    memset(slot->planes, 0, sizeof slot->planes);
    slot->buffer.m.planes = slot->planes;
    slot->buffer.length = planes;
  }
}

int sora_v4l2_map(int fd, uint32_t type, uint32_t index, sora_v4l2_memory *out) {
  struct slot slot;
  prepare(&slot, type, index, SORA_V4L2_PLANES);
  memset(out, 0, sizeof *out);
  int error = call(fd, VIDIOC_QUERYBUF, &slot.buffer);
  if (error != 0) return error;
  uint32_t planes = is_planar(type) ? bounded(slot.buffer.length) : 1;
  for (uint32_t i = 0; i < planes; i++) {
    uint32_t length = is_planar(type) ? slot.planes[i].length : slot.buffer.length;
    uint32_t offset = is_planar(type) ? slot.planes[i].m.mem_offset : slot.buffer.m.offset;
    // Some drivers refuse memory that can't be written.
    void *start = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)offset);
    if (start == MAP_FAILED) {
      error = errno;
      sora_v4l2_unmap(out);
      return error;
    }
    out->start[i] = start;
    out->length[i] = length;
    out->planes = i + 1;
  }
  return 0;
}

void sora_v4l2_unmap(const sora_v4l2_memory *memory) {
  for (uint32_t i = 0; i < memory->planes; i++) munmap(memory->start[i], memory->length[i]);
}

int sora_v4l2_export(int fd, uint32_t type, uint32_t index, uint32_t plane, int *out) {
  struct v4l2_exportbuffer request = {.type = type, .index = index, .plane = plane, .flags = O_CLOEXEC | O_RDONLY};
  int error = call(fd, VIDIOC_EXPBUF, &request);
  *out = error == 0 ? request.fd : -1;
  return error;
}

int sora_v4l2_queue(int fd, uint32_t type, uint32_t index, uint32_t planes) {
  struct slot slot;
  prepare(&slot, type, index, planes);
  return call(fd, VIDIOC_QBUF, &slot.buffer);
}

int sora_v4l2_dequeue(int fd, uint32_t type, uint32_t planes, sora_v4l2_filled *out) {
  struct slot slot;
  prepare(&slot, type, 0, planes);
  int error = call(fd, VIDIOC_DQBUF, &slot.buffer);
  if (error != 0) return error;
  memset(out, 0, sizeof *out);
  const struct v4l2_buffer *buffer = &slot.buffer;
  out->index = buffer->index;
  out->sequence = buffer->sequence;
  out->broken = (buffer->flags & V4L2_BUF_FLAG_ERROR) != 0;
  if ((buffer->flags & V4L2_BUF_FLAG_TIMESTAMP_MASK) == V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC)
    out->time = (int64_t)buffer->timestamp.tv_sec * 1000000000 + (int64_t)buffer->timestamp.tv_usec * 1000;
  out->planes = is_planar(type) ? bounded(buffer->length) : 1;
  for (uint32_t i = 0; i < out->planes; i++) {
    out->used[i] = is_planar(type) ? slot.planes[i].bytesused : buffer->bytesused;
    out->offset[i] = is_planar(type) ? slot.planes[i].data_offset : 0;
  }
  return 0;
}

int sora_v4l2_stream(int fd, uint32_t type, int on) {
  int value = (int)type;
  return call(fd, on ? VIDIOC_STREAMON : VIDIOC_STREAMOFF, &value);
}

int sora_v4l2_wait(int fd, int timer, int *came) {
  struct pollfd waiting[2] = {{.fd = fd, .events = POLLIN}, {.fd = timer, .events = POLLIN}};
  *came = 0;
  if (poll(waiting, 2, -1) < 0) return errno == EINTR ? 0 : errno;
  if (waiting[1].revents != 0) *came |= SORA_V4L2_TIMED;
  if (waiting[0].revents & POLLIN) *came |= SORA_V4L2_READY;
  if (waiting[0].revents & (POLLERR | POLLHUP | POLLNVAL)) *came |= SORA_V4L2_GONE;
  return 0;
}

int sora_v4l2_make_timer(int *fd) {
  *fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
  return *fd < 0 ? errno : 0;
}

void sora_v4l2_set_timer(int fd, int64_t time) {
  // A time of zero would stop it.
  int64_t at = time > 0 ? time : 1;
  struct itimerspec once = {.it_value = {.tv_sec = at / 1000000000, .tv_nsec = at % 1000000000}};
  timerfd_settime(fd, TFD_TIMER_ABSTIME, &once, NULL);
}

// MARK: Controls

int sora_v4l2_next_control(int fd, uint32_t id, sora_v4l2_control *out) {
  struct v4l2_query_ext_ctrl query = {.id = id | V4L2_CTRL_FLAG_NEXT_CTRL};
  int error = call(fd, VIDIOC_QUERY_EXT_CTRL, &query);
  if (error != 0) return error;
  memset(out, 0, sizeof *out);
  out->id = query.id;
  out->type = query.type;
  out->flags = query.flags;
  copy_text(out->name, sizeof out->name, (const uint8_t *)query.name, sizeof query.name);
  out->least = query.minimum;
  out->most = query.maximum;
  out->step = (int64_t)query.step;
  out->usual = query.default_value;
  return 0;
}

int sora_v4l2_menu_item(int fd, uint32_t id, uint32_t index, int is_integer, sora_v4l2_item *out) {
  struct v4l2_querymenu item = {.id = id, .index = index};
  int error = call(fd, VIDIOC_QUERYMENU, &item);
  if (error != 0) return error;
  memset(out, 0, sizeof *out);
  if (is_integer)
    out->number = item.value;
  else
    copy_text(out->name, sizeof out->name, item.name, sizeof item.name);
  return 0;
}

int sora_v4l2_get_control(int fd, uint32_t id, int is_64, int64_t *value) {
  struct v4l2_ext_control control = {.id = id};
  struct v4l2_ext_controls controls = {.count = 1, .controls = &control};
  int error = call(fd, VIDIOC_G_EXT_CTRLS, &controls);
  if (error == 0) *value = is_64 ? control.value64 : control.value;
  return error;
}

int sora_v4l2_set_control(int fd, uint32_t id, int is_64, int64_t value) {
  struct v4l2_ext_control control = {.id = id};
  if (is_64)
    control.value64 = value;
  else
    control.value = (int32_t)value;
  struct v4l2_ext_controls controls = {.count = 1, .controls = &control};
  return call(fd, VIDIOC_S_EXT_CTRLS, &controls);
}

// MARK: Plugging

int sora_v4l2_watch(const char *folder, int *fd) {
  *fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (*fd < 0) return errno;
  if (inotify_add_watch(*fd, folder, IN_CREATE | IN_DELETE | IN_ATTRIB | IN_MOVED_TO) >= 0) return 0;
  int error = errno;
  close(*fd);
  *fd = -1;
  return error;
}

int sora_v4l2_watched(int fd, const char *prefix) {
  union {
    struct inotify_event alignment;
    char bytes[4096];
  } events;
  int found = 0;
  // Bounded: a folder that never rests mustn't hold the caller.
  for (int turn = 0; turn < 64; turn++) {
    ssize_t count = read(fd, &events, sizeof events);
    if (count <= 0) break;
    for (ssize_t at = 0; at < count;) {
      const struct inotify_event *event = (const struct inotify_event *)(events.bytes + at);
      if (event->len > 0 && strncmp(event->name, prefix, strlen(prefix)) == 0) found = 1;
      at += (ssize_t)(sizeof *event + event->len);
    }
  }
  return found;
}
