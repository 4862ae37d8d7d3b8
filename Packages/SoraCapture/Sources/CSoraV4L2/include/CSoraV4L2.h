// Video4Linux2's ioctls with flat structures: what Swift would need unions and computed request numbers for. Nothing here decides
// anything. Functions return 0, or an errno. The kernel's documentation: Linux Media Infrastructure userspace API, part I.
#ifndef CSORA_V4L2_H
#define CSORA_V4L2_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SORA_V4L2_PLANES = 4 };

// MARK: Devices

typedef struct sora_v4l2_capability {
  char driver[17];
  char card[33];
  char bus[33];
  /// The kind of queue that pictures come from: 0 where there is none, or none that streams.
  uint32_t type;
} sora_v4l2_capability;

/// Opens a device for reading and writing, and so that nothing blocks.
int sora_v4l2_open(const char *path, int *fd);
void sora_v4l2_close(int fd);
int sora_v4l2_capabilities(int fd, sora_v4l2_capability *out);

// MARK: Formats

/// Format number `index` of a queue; EINVAL behind the last.
int sora_v4l2_format(int fd, uint32_t type, uint32_t index, uint32_t *fourcc);

typedef struct sora_v4l2_sizes {
  /// One size, and not a range of them.
  int is_discrete;
  uint32_t least_width, most_width, step_width;
  uint32_t least_height, most_height, step_height;
} sora_v4l2_sizes;

/// Sizes number `index` of a format; EINVAL behind the last. A discrete one's least and most are the same.
int sora_v4l2_size(int fd, uint32_t fourcc, uint32_t index, sora_v4l2_sizes *out);

typedef struct sora_v4l2_fraction {
  uint32_t numerator, denominator;
} sora_v4l2_fraction;

typedef struct sora_v4l2_intervals {
  /// Seconds from frame to frame; the same where there is one.
  sora_v4l2_fraction least, most;
} sora_v4l2_intervals;

int sora_v4l2_interval(
    int fd, uint32_t fourcc, uint32_t width, uint32_t height, uint32_t index, sora_v4l2_intervals *out);

typedef struct sora_v4l2_picture {
  uint32_t fourcc, width, height;
  /// Planes of memory, which may be fewer than a picture has.
  uint32_t planes;
  /// Bytes from row to row.
  uint32_t stride[SORA_V4L2_PLANES];
  /// Numbers of V4L2's enums v4l2_colorspace, v4l2_ycbcr_encoding and v4l2_quantization; read only.
  uint32_t colorspace, encoding, quantization;
} sora_v4l2_picture;

int sora_v4l2_get_picture(int fd, uint32_t type, sora_v4l2_picture *picture);
/// Asks for a format and a size; the driver gives the nearest that it has.
int sora_v4l2_set_picture(int fd, uint32_t type, sora_v4l2_picture *picture);
/// Asks for seconds from frame to frame; the driver gives the nearest that it has, and 0/0 where it can't say.
int sora_v4l2_set_interval(int fd, uint32_t type, sora_v4l2_fraction *interval);

// MARK: Buffers

typedef struct sora_v4l2_memory {
  void *start[SORA_V4L2_PLANES];
  uint32_t length[SORA_V4L2_PLANES];
  uint32_t planes;
} sora_v4l2_memory;

/// Has the driver make so many buffers, or free them (0); says how many there are.
int sora_v4l2_make_buffers(int fd, uint32_t type, uint32_t *count);
int sora_v4l2_map(int fd, uint32_t type, uint32_t index, sora_v4l2_memory *out);
void sora_v4l2_unmap(const sora_v4l2_memory *memory);
/// A file descriptor of a plane's memory (DMABUF), for other devices.
int sora_v4l2_export(int fd, uint32_t type, uint32_t index, uint32_t plane, int *out);
int sora_v4l2_queue(int fd, uint32_t type, uint32_t index, uint32_t planes);

typedef struct sora_v4l2_filled {
  uint32_t index;
  uint32_t sequence;
  uint32_t planes;
  uint32_t offset[SORA_V4L2_PLANES];
  /// Bytes from the start of the plane's memory, what stands before `offset` included.
  uint32_t used[SORA_V4L2_PLANES];
  /// When the picture was taken, on CLOCK_MONOTONIC, in nanoseconds; 0 where the driver has another clock.
  int64_t time;
  int broken;
} sora_v4l2_filled;

/// Takes the oldest filled buffer; EAGAIN where there is none.
int sora_v4l2_dequeue(int fd, uint32_t type, uint32_t planes, sora_v4l2_filled *out);
int sora_v4l2_stream(int fd, uint32_t type, int on);

enum { SORA_V4L2_READY = 1, SORA_V4L2_TIMED = 2, SORA_V4L2_GONE = 4 };

/// Waits for a filled buffer, or for a timer's time; says which came (0 after a signal).
int sora_v4l2_wait(int fd, int timer, int *came);

int sora_v4l2_make_timer(int *fd);
/// Sets a timer to a time of CLOCK_MONOTONIC in nanoseconds, at once where that is past, in place of the time that it had.
void sora_v4l2_set_timer(int fd, int64_t time);

// MARK: Controls

typedef struct sora_v4l2_control {
  uint32_t id;
  uint32_t type;
  uint32_t flags;
  char name[33];
  int64_t least, most, step, usual;
} sora_v4l2_control;

/// The control that follows `id`; EINVAL behind the last.
int sora_v4l2_next_control(int fd, uint32_t id, sora_v4l2_control *out);

typedef struct sora_v4l2_item {
  char name[33];
  /// An integer menu's, in place of the name.
  int64_t number;
} sora_v4l2_item;

/// Item `index` of a menu; EINVAL where there is none.
int sora_v4l2_menu_item(int fd, uint32_t id, uint32_t index, int is_integer, sora_v4l2_item *out);
int sora_v4l2_get_control(int fd, uint32_t id, int is_64, int64_t *value);
int sora_v4l2_set_control(int fd, uint32_t id, int is_64, int64_t value);

// MARK: Plugging

/// A descriptor that can be read when a file of a folder comes, goes or changes its permissions; 0, or an errno.
int sora_v4l2_watch(const char *folder, int *fd);
/// Reads away what has come; whether a name among it begins with `prefix`.
int sora_v4l2_watched(int fd, const char *prefix);

#ifdef __cplusplus
}
#endif

#endif
