// Screens that a desktop shows to others: its portal is asked over D-Bus (org.freedesktop.portal.ScreenCast of xdg-desktop-portal,
// versions 1 to 5), and PipeWire brings the pixels. The libraries are loaded when they are used first. A cast is confined to one
// thread, but for `sora_cast_wake`. Nothing here decides anything.
#ifndef CSORA_PIPEWIRE_H
#define CSORA_PIPEWIRE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum sora_cast_status {
  SORA_CAST_DONE = 0,
  /// Somebody called `sora_cast_wake`.
  SORA_CAST_WOKEN,
  /// There is no bus, or no portal on it that shows screens.
  SORA_CAST_NO_PORTAL,
  /// PipeWire isn't installed, or doesn't answer.
  SORA_CAST_NO_PIPEWIRE,
  /// The user didn't want to.
  SORA_CAST_DECLINED,
  /// The portal answered with an error, with nonsense, or not in time.
  SORA_CAST_REFUSED,
  /// The desktop ended it, or the portal or the bus is gone.
  SORA_CAST_CLOSED,
  /// PipeWire told of an error, or the stream ended.
  SORA_CAST_LOST,
  SORA_CAST_NO_MEMORY,
} sora_cast_status;

typedef struct sora_cast sora_cast;

/// NULL where there is no memory or no file descriptor. Connects to nothing yet.
sora_cast *sora_cast_make(void);
void sora_cast_free(sora_cast *cast);
/// Ends everything but what `sora_cast_wake` needs: on the thread that waited.
void sora_cast_end(sora_cast *cast);
/// Ends waiting, from now on. From any thread.
void sora_cast_wake(sora_cast *cast);
/// More of the last status that wasn't `SORA_CAST_DONE`, for people.
const char *sora_cast_message(const sora_cast *cast);

// MARK: The portal

typedef struct sora_cast_offer {
  uint32_t version;
  /// 1 for monitors, 2 for windows, 4 for virtual monitors.
  uint32_t kinds;
  /// 1 for frames without it, 2 for it in the frames, 4 for beside them. 0 where the portal doesn't tell.
  uint32_t cursor_modes;
} sora_cast_offer;

/// Connects to the bus at `address`, NULL for the session's, and asks the portal what it has.
sora_cast_status sora_cast_connect(sora_cast *cast, const char *address, sora_cast_offer *out);
/// Makes a session.
sora_cast_status sora_cast_create(sora_cast *cast);
/// Says what is wanted, with one bit each; nothing of `cursor_mode` and `persist_mode` where they are 0, or of a token that is NULL.
sora_cast_status sora_cast_select(sora_cast *cast, uint32_t kinds, uint32_t cursor_mode, uint32_t persist_mode, const char *token);
/// Has the user choose, and waits for that without a limit.
sora_cast_status sora_cast_start(sora_cast *cast);
/// With which what was chosen is had again; NULL where the portal gave nothing.
const char *sora_cast_token(const sora_cast *cast);

// MARK: Pixels

/// Connects to PipeWire, and to the stream of what was chosen.
sora_cast_status sora_cast_open_stream(sora_cast *cast, uint32_t frames_per_second);

typedef struct sora_cast_changes {
  /// Whether a frame is there.
  int32_t is_drawn;
  /// Whether the newest frame has another size than those before; of it.
  int32_t is_resized, width, height;
  /// Whether the two sides have agreed on a format, at any time so far.
  int32_t is_agreed;
  /// Frames so far whose memory hadn't what they told.
  uint64_t broken;
} sora_cast_changes;

/// Waits for a frame, for somebody to wake it, or for so long; a pause isn't ended by frames of the same size.
sora_cast_status sora_cast_wait(sora_cast *cast, int32_t milliseconds, int32_t is_pause, sora_cast_changes *out);

typedef struct sora_cast_frame {
  /// Four bytes for each pixel.
  const uint8_t *pixels;
  int32_t stride, width, height;
  /// The first byte is red's and the third is blue's; the other way round otherwise.
  int32_t is_red_first;
  /// Nanoseconds on CLOCK_MONOTONIC; below 1 where nobody knows.
  int64_t time;
} sora_cast_frame;

/// Lends the newest frame until `sora_cast_give_back`; false where there is none.
int32_t sora_cast_take(sora_cast *cast, sora_cast_frame *out);
void sora_cast_give_back(sora_cast *cast);

#ifdef __cplusplus
}
#endif

#endif
