// X11's screens over XCB, with flat structures. XCB and not Xlib: a connection that breaks is an answer there, where Xlib ends the
// process, and errors belong to a connection, where Xlib has one handler for all. The libraries are loaded when they are used first.
// A connection is confined to one thread. Nothing here decides anything.
#ifndef CSORA_X11_H
#define CSORA_X11_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SORA_X11_NAME = 128 };

typedef enum sora_x11_status {
  SORA_X11_DONE = 0,
  /// XCB isn't there.
  SORA_X11_NO_LIBRARY,
  /// Nobody answers at this name.
  SORA_X11_NO_DISPLAY,
  /// The connection broke.
  SORA_X11_LOST,
  /// There is no such window or monitor, or none any more.
  SORA_X11_GONE,
  /// Windows that aren't shown have no pixels.
  SORA_X11_HIDDEN,
  /// Pixels of another kind than 8 bits for each of blue, green and red in 32.
  SORA_X11_PIXELS,
  SORA_X11_NO_MEMORY,
  /// The display answered with an error.
  SORA_X11_REFUSED,
} sora_x11_status;

typedef struct sora_x11_rect {
  int32_t x, y, width, height;
} sora_x11_rect;

typedef struct sora_x11 sora_x11;

/// Connects. `name` is such as ":0"; NULL for the one that the environment names.
sora_x11_status sora_x11_open(const char *name, sora_x11 **out);
void sora_x11_close(sora_x11 *display);
/// X11's number of the last error that the display answered with.
int32_t sora_x11_error(const sora_x11 *display);

// MARK: What there is

typedef struct sora_x11_monitor {
  char name[SORA_X11_NAME];
  sora_x11_rect frame;
  int32_t is_primary;
} sora_x11_monitor;

/// What all monitors together show.
sora_x11_status sora_x11_desktop(sora_x11 *display, sora_x11_rect *out);
/// Up to `room` monitors; the whole desktop where the display doesn't tell. `count` says how many were written.
sora_x11_status sora_x11_monitors(sora_x11 *display, sora_x11_monitor *out, int32_t room, int32_t *count);

typedef struct sora_x11_window {
  uint32_t id;
  char title[SORA_X11_NAME];
  sora_x11_rect frame;
  /// Whether it has pixels now.
  int32_t is_shown;
} sora_x11_window;

/// Up to `room` windows of applications, those at the top last.
sora_x11_status sora_x11_windows(sora_x11 *display, sora_x11_window *out, int32_t room, int32_t *count);
sora_x11_status sora_x11_describe(sora_x11 *display, uint32_t id, sora_x11_window *out);

// MARK: Pixels

/// Begins to follow what changes in a window and in what it shows; 0 for the desktop.
sora_x11_status sora_x11_follow(sora_x11 *display, uint32_t window);
/// Whether the display tells what was drawn; otherwise anything may have been at any time.
int32_t sora_x11_tells_damage(const sora_x11 *display);
/// Whether pixels come through shared memory.
int32_t sora_x11_shares_memory(const sora_x11 *display);

/// Makes room for so many pixels. What was there before goes.
sora_x11_status sora_x11_make_room(sora_x11 *display, int32_t width, int32_t height);
/// Reads pixels of what is followed, rows `first` to `first + rows` of an area as large as the room, to the same rows of the room.
sora_x11_status sora_x11_read(sora_x11 *display, int32_t x, int32_t y, int32_t first, int32_t rows);
/// The room: blue, green, red and a byte of nothing for each pixel, rows without gaps.
uint8_t *sora_x11_pixels(sora_x11 *display);

// MARK: Changes

typedef struct sora_x11_changes {
  /// The area in which something was drawn, of what is followed; of no width where nothing was.
  sora_x11_rect damage;
  /// Whether monitors, or the window's size or visibility, may be others.
  int32_t is_changed;
  /// Whether the pointer looks otherwise.
  int32_t is_cursor_changed;
  int32_t is_woken;
} sora_x11_changes;

/// Waits for something to change, for `wake` to be readable, or for so long; a pause isn't ended by changes. Takes away what has come.
sora_x11_status sora_x11_wait(sora_x11 *display, int wake, int32_t milliseconds, int32_t is_pause, sora_x11_changes *out);
/// Has the display tell anew what is drawn from now on. Before what is there is read.
void sora_x11_forget_damage(sora_x11 *display);

typedef struct sora_x11_cursor {
  /// The point of its picture that points.
  int32_t x, y;
  int32_t width, height;
  uint32_t serial;
} sora_x11_cursor;

/// Where the pointer points, on the desktop. Takes one question and its answer.
sora_x11_status sora_x11_pointer(sora_x11 *display, int32_t *x, int32_t *y);
/// The pointer's picture; of no width where the display can't tell it.
sora_x11_status sora_x11_load_cursor(sora_x11 *display, sora_x11_cursor *out);
/// Draws the picture that was loaded last into the room, its corner at (x, y), and keeps what was there.
void sora_x11_draw_cursor(sora_x11 *display, int32_t x, int32_t y);
/// Undoes that.
void sora_x11_erase_cursor(sora_x11 *display);

int sora_x11_make_wake(int *fd);
void sora_x11_wake(int fd);
void sora_x11_close_wake(int fd);

#ifdef __cplusplus
}
#endif

#endif
