#include "CSoraSDL.h"

#include <SDL2/SDL.h>
#include <SDL2/SDL_syswm.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The functions that are used, each under its own name: `sdl.SDL_Init` is SDL_Init.
#define SDL_FUNCTIONS(X) \
  X(SDL_InitSubSystem) X(SDL_QuitSubSystem) X(SDL_GetError) X(SDL_SetHint) X(SDL_StopTextInput) \
  X(SDL_CreateWindow) X(SDL_DestroyWindow) X(SDL_GetWindowWMInfo) X(SDL_GetWindowID) X(SDL_GetWindowDisplayIndex) X(SDL_GetCurrentDisplayMode) \
  X(SDL_CreateRenderer) X(SDL_CreateSoftwareRenderer) X(SDL_DestroyRenderer) X(SDL_GetRendererInfo) \
  X(SDL_GetRendererOutputSize) X(SDL_RenderSetVSync) X(SDL_CreateRGBSurfaceWithFormat) X(SDL_FreeSurface) \
  X(SDL_CreateTexture) X(SDL_CreateTextureFromSurface) X(SDL_DestroyTexture) X(SDL_SetTextureScaleMode) \
  X(SDL_UpdateYUVTexture) X(SDL_UpdateNVTexture) X(SDL_SetYUVConversionMode) X(SDL_SetRenderDrawColor) \
  X(SDL_SetRenderDrawBlendMode) X(SDL_RenderClear) X(SDL_RenderFillRect) X(SDL_RenderCopy) X(SDL_RenderCopyEx) \
  X(SDL_RenderFlush) X(SDL_RenderPresent) X(SDL_RenderReadPixels) X(SDL_PollEvent) X(SDL_GetKeyName)

static struct {
#define MEMBER(name) __typeof__(name) *name;
  SDL_FUNCTIONS(MEMBER)
#undef MEMBER
  void *library;
} sdl;

// SDL2_ttf's, declared here: its header would be one more package to build with, for five functions of a stable interface.
static struct {
  int (*TTF_Init)(void);
  void *(*TTF_OpenFont)(const char *file, int point_size);
  void (*TTF_CloseFont)(void *font);
  SDL_Surface *(*TTF_RenderUTF8_Blended)(void *font, const char *text, SDL_Color color);
  void *library;
} ttf;

static char reason[256];

static int fail(const char *text) {
  snprintf(reason, sizeof reason, "%s", text && *text ? text : "no reason given");
  return -1;
}

static int check(int status) { return status == 0 ? 0 : fail(sdl.SDL_GetError()); }

const char *sora_sdl_reason(void) { return reason; }

// MARK: Loading

static void *open_library(const char *name) {
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!library) fail(dlerror());
  return library;
}

static int find(void *library, const char *name, void *function) {
  void *found = dlsym(library, name);
  if (!found) return fail(dlerror());
  memcpy(function, &found, sizeof found);
  return 0;
}

int sora_sdl_load(void) {
  if (sdl.library) return 0;
  void *library = open_library("libSDL2-2.0.so.0");
  if (!library) return -1;
#define FIND(name) \
  if (find(library, #name, &sdl.name) != 0) { \
    dlclose(library); \
    return -1; \
  }
  SDL_FUNCTIONS(FIND)
#undef FIND
  sdl.library = library;
  // Signals, the screen and the keyboard's composing are the app's.
  sdl.SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");
  sdl.SDL_SetHint(SDL_HINT_VIDEO_X11_NET_WM_BYPASS_COMPOSITOR, "0");
  sdl.SDL_SetHint(SDL_HINT_QUIT_ON_LAST_WINDOW_CLOSE, "0");
  // Where the processor draws, what it has drawn needn't go through OpenGL.
  sdl.SDL_SetHint(SDL_HINT_FRAMEBUFFER_ACCELERATION, "0");
  return 0;
}

int sora_sdl_load_text(void) {
  if (ttf.library) return 0;
  void *library = open_library("libSDL2_ttf-2.0.so.0");
  if (!library) return -1;
  if (find(library, "TTF_Init", &ttf.TTF_Init) != 0 || find(library, "TTF_OpenFont", &ttf.TTF_OpenFont) != 0 ||
      find(library, "TTF_CloseFont", &ttf.TTF_CloseFont) != 0 ||
      find(library, "TTF_RenderUTF8_Blended", &ttf.TTF_RenderUTF8_Blended) != 0) {
    dlclose(library);
    return -1;
  }
  if (ttf.TTF_Init() != 0) {
    dlclose(library);
    return fail(sdl.SDL_GetError());
  }
  ttf.library = library;
  return 0;
}

int sora_sdl_start_video(const char *drivers) {
  sdl.SDL_SetHint(SDL_HINT_VIDEODRIVER, drivers);
  if (check(sdl.SDL_InitSubSystem(SDL_INIT_VIDEO)) != 0) return -1;
  sdl.SDL_StopTextInput();
  return 0;
}

void sora_sdl_stop_video(void) { sdl.SDL_QuitSubSystem(SDL_INIT_VIDEO); }

// MARK: The end of the display

static int is_display_lost;

int sora_sdl_is_display_lost(void) { return is_display_lost; }

#ifdef SDL_VIDEO_DRIVER_X11
static __typeof__(XUnlockDisplay) *unlock_display;

static void lose_display(Display *display, void *context) {
  (void)context;
  is_display_lost = 1;
  // Xlib has locked it for the exit that it expects; OpenGL would wait for that lock when the process ends.
  unlock_display(display);
}

// In place of Xlib's own, which ends the process before the display's own handler is asked. Other displays' end it still.
static int note_error(Display *display) {
  (void)display;
  return 0;
}

// Xlib ends the process when its connection breaks, unless somebody else decides; since 1.7, that can be said for one display.
static void watch_display(SDL_Window *window) {
  SDL_SysWMinfo info;
  SDL_VERSION(&info.version);
  if (!sdl.SDL_GetWindowWMInfo(window, &info) || info.subsystem != SDL_SYSWM_X11) return;
  void *library = dlopen("libX11.so.6", RTLD_NOW | RTLD_NOLOAD);
  if (!library) return;
  __typeof__(XSetIOErrorHandler) *set_handler = NULL;
  __typeof__(XSetIOErrorExitHandler) *set_exit = NULL;
  if (find(library, "XSetIOErrorHandler", &set_handler) == 0 && find(library, "XSetIOErrorExitHandler", &set_exit) == 0 &&
      find(library, "XUnlockDisplay", &unlock_display) == 0) {
    set_handler(note_error);
    set_exit(info.info.x11.display, lose_display, NULL);
  }
  dlclose(library);
}
#else
static void watch_display(SDL_Window *window) { (void)window; }
#endif

// MARK: Canvases

struct sora_sdl_canvas {
  SDL_Window *window;
  SDL_Surface *surface;
  SDL_Renderer *renderer;
};

static sora_sdl_canvas *finish(sora_sdl_canvas *canvas) {
  if (canvas->renderer) return canvas;
  fail(sdl.SDL_GetError());
  sora_sdl_close(canvas);
  return NULL;
}

sora_sdl_canvas *sora_sdl_open_window(const char *title, sora_sdl_rect frame, uint32_t flags) {
  sora_sdl_canvas *canvas = calloc(1, sizeof *canvas);
  if (!canvas) return fail("no memory"), NULL;
  const int is_placed = flags & SORA_SDL_PLACED;
  canvas->window = sdl.SDL_CreateWindow(
      title, is_placed ? frame.x : (int)SDL_WINDOWPOS_UNDEFINED, is_placed ? frame.y : (int)SDL_WINDOWPOS_UNDEFINED, frame.width,
      frame.height,
      SDL_WINDOW_ALLOW_HIGHDPI | (flags & SORA_SDL_RESIZABLE ? SDL_WINDOW_RESIZABLE : 0) |
          (flags & SORA_SDL_FULLSCREEN ? SDL_WINDOW_FULLSCREEN_DESKTOP : 0) |
          (flags & SORA_SDL_BORDERLESS ? SDL_WINDOW_BORDERLESS : 0));
  if (canvas->window) {
    watch_display(canvas->window);
    canvas->renderer = sdl.SDL_CreateRenderer(canvas->window, -1, 0);
  }
  return finish(canvas);
}

sora_sdl_canvas *sora_sdl_open_memory(int32_t width, int32_t height) {
  sora_sdl_canvas *canvas = calloc(1, sizeof *canvas);
  if (!canvas) return fail("no memory"), NULL;
  canvas->surface = sdl.SDL_CreateRGBSurfaceWithFormat(0, width, height, 32, SDL_PIXELFORMAT_ARGB8888);
  if (canvas->surface) canvas->renderer = sdl.SDL_CreateSoftwareRenderer(canvas->surface);
  return finish(canvas);
}

void sora_sdl_close(sora_sdl_canvas *canvas) {
  if (canvas->renderer) sdl.SDL_DestroyRenderer(canvas->renderer);
  if (canvas->surface) sdl.SDL_FreeSurface(canvas->surface);
  if (canvas->window) sdl.SDL_DestroyWindow(canvas->window);
  free(canvas);
}

uint32_t sora_sdl_window_id(const sora_sdl_canvas *canvas) {
  return canvas->window ? sdl.SDL_GetWindowID(canvas->window) : 0;
}

void sora_sdl_size(const sora_sdl_canvas *canvas, int32_t *width, int32_t *height) {
  *width = *height = 0;
  int w = 0, h = 0;
  if (sdl.SDL_GetRendererOutputSize(canvas->renderer, &w, &h) != 0) return;
  *width = w;
  *height = h;
}

int32_t sora_sdl_refresh_rate(const sora_sdl_canvas *canvas) {
  SDL_DisplayMode mode;
  if (!canvas->window) return 0;
  const int display = sdl.SDL_GetWindowDisplayIndex(canvas->window);
  return display >= 0 && sdl.SDL_GetCurrentDisplayMode(display, &mode) == 0 ? mode.refresh_rate : 0;
}

const char *sora_sdl_renderer(const sora_sdl_canvas *canvas) {
  SDL_RendererInfo info;
  return sdl.SDL_GetRendererInfo(canvas->renderer, &info) == 0 ? info.name : "";
}

int sora_sdl_set_vsync(sora_sdl_canvas *canvas, int is_on) {
  return check(sdl.SDL_RenderSetVSync(canvas->renderer, is_on));
}

// MARK: Drawing

// The software renderer reads the setting at each upload, OpenGL when a texture is made, OpenGL ES when drawing is flushed.
static SDL_YUV_CONVERSION_MODE mode_set = SDL_YUV_CONVERSION_JPEG;

static SDL_YUV_CONVERSION_MODE mode_of(sora_sdl_color color) {
  switch (color) {
    case SORA_SDL_BT601_FULL: return SDL_YUV_CONVERSION_JPEG;
    case SORA_SDL_BT709: return SDL_YUV_CONVERSION_BT709;
    default: return SDL_YUV_CONVERSION_BT601;
  }
}

static void set_color(SDL_Renderer *renderer, sora_sdl_color color) {
  const SDL_YUV_CONVERSION_MODE mode = mode_of(color);
  if (mode == mode_set) return;
  // What waits to be drawn was meant with the setting before.
  if (renderer) sdl.SDL_RenderFlush(renderer);
  sdl.SDL_SetYUVConversionMode(mode);
  mode_set = mode;
}

sora_sdl_texture *sora_sdl_make_texture(
    sora_sdl_canvas *canvas, sora_sdl_layout layout, sora_sdl_color color, int32_t width, int32_t height) {
  set_color(canvas->renderer, color);
  SDL_Texture *texture = sdl.SDL_CreateTexture(
      canvas->renderer, layout == SORA_SDL_NV12 ? SDL_PIXELFORMAT_NV12 : SDL_PIXELFORMAT_IYUV, SDL_TEXTUREACCESS_STREAMING,
      width, height);
  if (!texture) return fail(sdl.SDL_GetError()), NULL;
  sdl.SDL_SetTextureScaleMode(texture, SDL_ScaleModeLinear);
  return (sora_sdl_texture *)texture;
}

void sora_sdl_free_texture(sora_sdl_texture *texture) { sdl.SDL_DestroyTexture((SDL_Texture *)texture); }

int sora_sdl_upload_i420(
    sora_sdl_texture *texture, sora_sdl_color color, const void *y, int32_t y_stride, const void *u, int32_t u_stride,
    const void *v, int32_t v_stride) {
  set_color(NULL, color);
  return check(sdl.SDL_UpdateYUVTexture((SDL_Texture *)texture, NULL, y, y_stride, u, u_stride, v, v_stride));
}

int sora_sdl_upload_nv12(
    sora_sdl_texture *texture, sora_sdl_color color, const void *y, int32_t y_stride, const void *uv, int32_t uv_stride) {
  set_color(NULL, color);
  return check(sdl.SDL_UpdateNVTexture((SDL_Texture *)texture, NULL, y, y_stride, uv, uv_stride));
}

static int use_color(sora_sdl_canvas *canvas, uint32_t color) {
  const int status = sdl.SDL_SetRenderDrawColor(canvas->renderer, color >> 24, color >> 16 & 255, color >> 8 & 255, color & 255);
  return check(status != 0 ? status : sdl.SDL_SetRenderDrawBlendMode(canvas->renderer, SDL_BLENDMODE_BLEND));
}

int sora_sdl_clear(sora_sdl_canvas *canvas, uint32_t color) {
  return use_color(canvas, color) == 0 ? check(sdl.SDL_RenderClear(canvas->renderer)) : -1;
}

static SDL_Rect sdl_rect(sora_sdl_rect rect) { return (SDL_Rect){rect.x, rect.y, rect.width, rect.height}; }

int sora_sdl_fill(sora_sdl_canvas *canvas, sora_sdl_rect rect, uint32_t color) {
  const SDL_Rect area = sdl_rect(rect);
  return use_color(canvas, color) == 0 ? check(sdl.SDL_RenderFillRect(canvas->renderer, &area)) : -1;
}

int sora_sdl_draw(
    sora_sdl_canvas *canvas, sora_sdl_texture *texture, sora_sdl_color color, sora_sdl_rect from, sora_sdl_rect to,
    int32_t quarter_turns, int flips_x, int flips_y) {
  const SDL_Rect source = sdl_rect(from), target = sdl_rect(to);
  set_color(canvas->renderer, color);
  if (!quarter_turns && !flips_x && !flips_y)
    return check(sdl.SDL_RenderCopy(canvas->renderer, (SDL_Texture *)texture, &source, &target));
  return check(sdl.SDL_RenderCopyEx(
      canvas->renderer, (SDL_Texture *)texture, &source, &target, 90.0 * quarter_turns, NULL,
      (flips_x ? SDL_FLIP_HORIZONTAL : SDL_FLIP_NONE) | (flips_y ? SDL_FLIP_VERTICAL : SDL_FLIP_NONE)));
}

void sora_sdl_present(sora_sdl_canvas *canvas) { sdl.SDL_RenderPresent(canvas->renderer); }

int sora_sdl_read(sora_sdl_canvas *canvas, void *rgb, int32_t stride) {
  return check(sdl.SDL_RenderReadPixels(canvas->renderer, NULL, SDL_PIXELFORMAT_RGB24, rgb, stride));
}

// MARK: Text

sora_sdl_font *sora_sdl_open_font(const char *path, int32_t pixels) {
  void *font = ttf.TTF_OpenFont(path, pixels);
  if (!font) fail(sdl.SDL_GetError());
  return font;
}

void sora_sdl_close_font(sora_sdl_font *font) { ttf.TTF_CloseFont(font); }

sora_sdl_texture *sora_sdl_make_text(
    sora_sdl_canvas *canvas, sora_sdl_font *font, const char *text, uint32_t color, int32_t *width, int32_t *height) {
  const SDL_Color words = {color >> 24, color >> 16 & 255, color >> 8 & 255, color & 255};
  SDL_Surface *surface = ttf.TTF_RenderUTF8_Blended(font, text, words);
  if (!surface) return fail(sdl.SDL_GetError()), NULL;
  *width = surface->w;
  *height = surface->h;
  SDL_Texture *texture = sdl.SDL_CreateTextureFromSurface(canvas->renderer, surface);
  sdl.SDL_FreeSurface(surface);
  if (!texture) fail(sdl.SDL_GetError());
  return (sora_sdl_texture *)texture;
}

// MARK: Events

static sora_sdl_event_kind kind_of(const SDL_WindowEvent *event) {
  switch (event->event) {
    case SDL_WINDOWEVENT_CLOSE: return SORA_SDL_CLOSE;
    case SDL_WINDOWEVENT_SIZE_CHANGED: return SORA_SDL_RESIZED;
    case SDL_WINDOWEVENT_EXPOSED: return SORA_SDL_EXPOSED;
    case SDL_WINDOWEVENT_HIDDEN:
    case SDL_WINDOWEVENT_MINIMIZED: return SORA_SDL_HIDDEN;
    case SDL_WINDOWEVENT_SHOWN:
    case SDL_WINDOWEVENT_RESTORED: return SORA_SDL_SHOWN;
    default: return SORA_SDL_NONE;
  }
}

sora_sdl_event sora_sdl_next_event(void) {
  sora_sdl_event found = {SORA_SDL_NONE, 0, ""};
  SDL_Event event;
  while (found.kind == SORA_SDL_NONE && sdl.SDL_PollEvent(&event)) {
    if (event.type == SDL_WINDOWEVENT) {
      found.kind = kind_of(&event.window);
      found.window_id = event.window.windowID;
    } else if (event.type == SDL_KEYDOWN && !event.key.repeat) {
      found.kind = SORA_SDL_KEY;
      found.window_id = event.key.windowID;
      snprintf(found.key, sizeof found.key, "%s", sdl.SDL_GetKeyName(event.key.keysym.sym));
    }
  }
  return found;
}
