// SDL2 and SDL2_ttf, loaded when they are first asked for: whoever links this links neither. Nothing here decides anything. All
// functions belong to one thread, the one that called `sora_sdl_load` first. Those that return int return 0, or -1, and then
// `sora_sdl_reason` says why.
#ifndef CSORA_SDL_H
#define CSORA_SDL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Loads libSDL2-2.0.so.0, once; after a failure the next call tries again.
int sora_sdl_load(void);
/// Loads libSDL2_ttf-2.0.so.0, likewise.
int sora_sdl_load_text(void);
/// Why the last call failed. Valid until the next one.
const char *sora_sdl_reason(void);

/// Connects to the display, or ends that. Windows need it, pictures in memory don't.
///
/// - drivers: ways to the display in SDL's words, with commas between them, the best first. Whoever set SDL_VIDEODRIVER knows better.
int sora_sdl_start_video(const char *drivers);
void sora_sdl_stop_video(void);
/// Whether the X server has gone, which otherwise ends the process. No window can be used or closed then, and none opened.
int sora_sdl_is_display_lost(void);

// MARK: Canvases: a window, or a picture in memory

typedef struct sora_sdl_canvas sora_sdl_canvas;
typedef struct sora_sdl_texture sora_sdl_texture;

typedef struct sora_sdl_rect {
  int32_t x, y, width, height;
} sora_sdl_rect;

enum {
  SORA_SDL_RESIZABLE = 1,
  SORA_SDL_FULLSCREEN = 2,
  SORA_SDL_BORDERLESS = 4,
  /// x and y count; otherwise the window manager chooses.
  SORA_SDL_PLACED = 8,
};

/// NULL where that fails.
sora_sdl_canvas *sora_sdl_open_window(const char *title, sora_sdl_rect frame, uint32_t flags);
sora_sdl_canvas *sora_sdl_open_memory(int32_t width, int32_t height);
/// Frees the canvas with its textures.
void sora_sdl_close(sora_sdl_canvas *canvas);

/// What events name a window by; 0 for a picture in memory.
uint32_t sora_sdl_window_id(const sora_sdl_canvas *canvas);
/// In pixels of the canvas.
void sora_sdl_size(const sora_sdl_canvas *canvas, int32_t *width, int32_t *height);
/// Of the window's display; 0 where it isn't known.
int32_t sora_sdl_refresh_rate(const sora_sdl_canvas *canvas);
/// SDL's name of what draws, such as "opengl" or "software".
const char *sora_sdl_renderer(const sora_sdl_canvas *canvas);
/// Whether `sora_sdl_present` waits for the display.
int sora_sdl_set_vsync(sora_sdl_canvas *canvas, int is_on);

// MARK: Drawing

/// How Y, U and V become colours. SDL's setting is the process's own, so it is an argument wherever SDL may read it.
typedef enum sora_sdl_color {
  SORA_SDL_BT601 = 0,
  SORA_SDL_BT601_FULL = 1,
  SORA_SDL_BT709 = 2,
} sora_sdl_color;

typedef enum sora_sdl_layout {
  SORA_SDL_I420 = 0,
  SORA_SDL_NV12 = 1,
} sora_sdl_layout;

sora_sdl_texture *sora_sdl_make_texture(
    sora_sdl_canvas *canvas, sora_sdl_layout layout, sora_sdl_color color, int32_t width, int32_t height);
void sora_sdl_free_texture(sora_sdl_texture *texture);
int sora_sdl_upload_i420(
    sora_sdl_texture *texture, sora_sdl_color color, const void *y, int32_t y_stride, const void *u, int32_t u_stride,
    const void *v, int32_t v_stride);
int sora_sdl_upload_nv12(
    sora_sdl_texture *texture, sora_sdl_color color, const void *y, int32_t y_stride, const void *uv, int32_t uv_stride);

/// 0xRRGGBBAA, everywhere.
int sora_sdl_clear(sora_sdl_canvas *canvas, uint32_t color);
int sora_sdl_fill(sora_sdl_canvas *canvas, sora_sdl_rect rect, uint32_t color);
/// Draws a part of a texture.
///
/// - to: where the part would be if it weren't turned; it is turned about the middle of this.
/// - quarter_turns: clockwise, after the flips.
int sora_sdl_draw(
    sora_sdl_canvas *canvas, sora_sdl_texture *texture, sora_sdl_color color, sora_sdl_rect from, sora_sdl_rect to,
    int32_t quarter_turns, int flips_x, int flips_y);
/// Finishes what was drawn; a window shows it.
void sora_sdl_present(sora_sdl_canvas *canvas);
/// Copies what was drawn since the last `sora_sdl_present`: red, green, blue, rows from the top.
int sora_sdl_read(sora_sdl_canvas *canvas, void *rgb, int32_t stride);

// MARK: Text

typedef struct sora_sdl_font sora_sdl_font;

sora_sdl_font *sora_sdl_open_font(const char *path, int32_t pixels);
void sora_sdl_close_font(sora_sdl_font *font);
/// A texture with one line of UTF-8, and its size.
sora_sdl_texture *sora_sdl_make_text(
    sora_sdl_canvas *canvas, sora_sdl_font *font, const char *text, uint32_t color, int32_t *width, int32_t *height);

// MARK: Events

typedef enum sora_sdl_event_kind {
  SORA_SDL_NONE = 0,
  SORA_SDL_CLOSE,
  SORA_SDL_RESIZED,
  /// What the window shows has to be drawn again.
  SORA_SDL_EXPOSED,
  SORA_SDL_HIDDEN,
  SORA_SDL_SHOWN,
  SORA_SDL_KEY,
} sora_sdl_event_kind;

typedef struct sora_sdl_event {
  sora_sdl_event_kind kind;
  uint32_t window_id;
  /// The name of a key in SDL's words, such as "Q" or "Escape".
  char key[24];
} sora_sdl_event;

/// The next event; of kind SORA_SDL_NONE when there is none.
sora_sdl_event sora_sdl_next_event(void);

#ifdef __cplusplus
}
#endif

#endif
