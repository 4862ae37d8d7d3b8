#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <unistd.h>

#include "xcb.h"

// MARK: The room

static void free_room(sora_x11 *display) {
  if (display->shm_id >= 0) {
    xcb.xcb_shm_detach(display->connection, display->segment);
    shmdt(display->pixels);
  } else {
    free(display->pixels);
  }
  display->shm_id = -1;
  display->pixels = NULL;
  display->is_drawn = 0;
}

/// Memory that the display writes to; false where it can't, such as that of another machine.
static int share_room(sora_x11 *display, size_t size) {
  if (!display->has_shm) return 0;
  const int id = shmget(IPC_PRIVATE, size, IPC_CREAT | 0600);
  if (id < 0) return 0;
  void *pixels = shmat(id, NULL, 0);
  xcb_generic_error_t *error = NULL;
  if (pixels != (void *)-1) {
    display->segment = xcb.xcb_generate_id(display->connection);
    error = xcb.xcb_request_check(
        display->connection, xcb.xcb_shm_attach_checked(display->connection, display->segment, (uint32_t)id, 0));
  }
  // It goes with the last who has it.
  shmctl(id, IPC_RMID, NULL);
  if (pixels == (void *)-1) return 0;
  if (error || xcb.xcb_connection_has_error(display->connection)) {
    free(error);
    shmdt(pixels);
    display->has_shm = 0;
    return 0;
  }
  display->pixels = pixels;
  display->shm_id = id;
  return 1;
}

sora_x11_status sora_x11_make_room(sora_x11 *display, int32_t width, int32_t height) {
  free_room(display);
  display->width = width;
  display->height = height;
  const size_t size = (size_t)width * (size_t)height * 4;
  if (share_room(display, size)) return SORA_X11_DONE;
  display->pixels = calloc(1, size);
  return display->pixels ? SORA_X11_DONE : SORA_X11_NO_MEMORY;
}

uint8_t *sora_x11_pixels(sora_x11 *display) { return display->pixels; }
int32_t sora_x11_shares_memory(const sora_x11 *display) { return display->shm_id >= 0; }
int32_t sora_x11_tells_damage(const sora_x11 *display) { return display->has_damage; }

void sora_x11_close(sora_x11 *display) {
  if (display->pixels) free_room(display);
  xcb.xcb_disconnect(display->connection);
  free(display->cursor);
  free(display->covered);
  free(display);
}

// MARK: Following

/// Whether pixels are as they are read here: 32 bits, of which the lowest 8 are blue, in this machine's order.
static int has_known_pixels(sora_x11 *display, xcb_visualid_t visual) {
  const xcb_setup_t *setup = xcb.xcb_get_setup(display->connection);
  if (setup->image_byte_order != XCB_IMAGE_ORDER_LSB_FIRST) return 0;
  xcb_depth_iterator_t depths = xcb.xcb_screen_allowed_depths_iterator(display->screen);
  for (; depths.rem > 0; xcb.xcb_depth_next(&depths)) {
    xcb_visualtype_iterator_t visuals = xcb.xcb_depth_visuals_iterator(depths.data);
    for (; visuals.rem > 0; xcb.xcb_visualtype_next(&visuals)) {
      if (visuals.data->visual_id != visual) continue;
      if (visuals.data->red_mask != 0xFF0000 || visuals.data->green_mask != 0xFF00 || visuals.data->blue_mask != 0xFF) return 0;
      const xcb_format_t *formats = xcb.xcb_setup_pixmap_formats(setup);
      for (int i = 0; i < xcb.xcb_setup_pixmap_formats_length(setup); i++) {
        if (formats[i].depth == depths.data->depth) return formats[i].bits_per_pixel == 32;
      }
    }
  }
  return 0;
}

/// Names what has the window's pixels, even where another covers it. Another size has another one.
static void name_pixmap(sora_x11 *display) {
  if (!display->has_composite || display->window == display->screen->root) return;
  if (display->pixmap) xcb.xcb_free_pixmap(display->connection, display->pixmap);
  display->pixmap = xcb.xcb_generate_id(display->connection);
  xcb_generic_error_t *error = xcb.xcb_request_check(
      display->connection,
      xcb.xcb_composite_name_window_pixmap_checked(display->connection, display->window, display->pixmap));
  if (error) display->pixmap = 0;
  free(error);
}

sora_x11_status sora_x11_follow(sora_x11 *display, uint32_t window) {
  display->window = window ? window : display->screen->root;
  xcb_generic_error_t *error = NULL;
  xcb_get_window_attributes_reply_t *attributes = xcb.xcb_get_window_attributes_reply(
      display->connection, xcb.xcb_get_window_attributes(display->connection, display->window), &error);
  if (!attributes) return sora_x11_failed(display, error);
  const int is_known = has_known_pixels(display, attributes->visual);
  free(attributes);
  if (!is_known) return SORA_X11_PIXELS;
  const uint32_t events = XCB_EVENT_MASK_STRUCTURE_NOTIFY;
  error = xcb.xcb_request_check(
      display->connection,
      xcb.xcb_change_window_attributes_checked(display->connection, display->window, XCB_CW_EVENT_MASK, &events));
  if (error) return sora_x11_failed(display, error);
  if (display->has_randr)
    xcb.xcb_randr_select_input(
        display->connection, display->screen->root,
        XCB_RANDR_NOTIFY_MASK_SCREEN_CHANGE | XCB_RANDR_NOTIFY_MASK_CRTC_CHANGE | XCB_RANDR_NOTIFY_MASK_OUTPUT_CHANGE);
  if (display->has_fixes)
    xcb.xcb_xfixes_select_cursor_input(
        display->connection, display->screen->root, XCB_XFIXES_CURSOR_NOTIFY_MASK_DISPLAY_CURSOR);
  if (window && display->has_composite) {
    error = xcb.xcb_request_check(
        display->connection,
        xcb.xcb_composite_redirect_window_checked(display->connection, window, XCB_COMPOSITE_REDIRECT_AUTOMATIC));
    if (error) display->has_composite = 0;
    free(error);
    name_pixmap(display);
  }
  if (!display->has_damage) return SORA_X11_DONE;
  display->damage = xcb.xcb_generate_id(display->connection);
  error = xcb.xcb_request_check(
      display->connection,
      xcb.xcb_damage_create_checked(
          display->connection, display->damage, display->window, XCB_DAMAGE_REPORT_LEVEL_BOUNDING_BOX));
  if (error) display->has_damage = 0;
  free(error);
  return xcb.xcb_connection_has_error(display->connection) ? SORA_X11_LOST : SORA_X11_DONE;
}

static void join(sora_x11_rect *area, const xcb_rectangle_t *other) {
  if (other->width == 0 || other->height == 0) return;
  if (area->width == 0) {
    *area = (sora_x11_rect){other->x, other->y, other->width, other->height};
    return;
  }
  const int32_t right = other->x + other->width, bottom = other->y + other->height;
  const int32_t old_right = area->x + area->width, old_bottom = area->y + area->height;
  if (other->x < area->x) area->x = other->x;
  if (other->y < area->y) area->y = other->y;
  area->width = (right > old_right ? right : old_right) - area->x;
  area->height = (bottom > old_bottom ? bottom : old_bottom) - area->y;
}

static sora_x11_status take(sora_x11 *display, const xcb_generic_event_t *event, sora_x11_changes *out) {
  const uint8_t kind = event->response_type & 0x7F;
  if (display->has_damage && kind == display->damage_event + XCB_DAMAGE_NOTIFY) {
    join(&out->damage, &((const xcb_damage_notify_event_t *)event)->area);
    return SORA_X11_DONE;
  }
  if (display->has_fixes && kind == display->fixes_event + XCB_XFIXES_CURSOR_NOTIFY) {
    out->is_cursor_changed = 1;
    return SORA_X11_DONE;
  }
  if (display->has_randr && (kind == display->randr_event || kind == display->randr_event + XCB_RANDR_NOTIFY)) {
    out->is_changed = 1;
    return SORA_X11_DONE;
  }
  switch (kind) {
    case XCB_CONFIGURE_NOTIFY:
    case XCB_MAP_NOTIFY:
      name_pixmap(display);
      out->is_changed = 1;
      return SORA_X11_DONE;
    case XCB_UNMAP_NOTIFY: out->is_changed = 1; return SORA_X11_DONE;
    case XCB_DESTROY_NOTIFY: return SORA_X11_GONE;
    default: return SORA_X11_DONE;
  }
}

sora_x11_status sora_x11_wait(sora_x11 *display, int wake, int32_t milliseconds, int32_t is_pause, sora_x11_changes *out) {
  memset(out, 0, sizeof *out);
  xcb.xcb_flush(display->connection);
  xcb_generic_event_t *event = is_pause ? NULL : xcb.xcb_poll_for_event(display->connection);
  if (!event) {
    struct pollfd files[2] = {
        {.fd = wake, .events = POLLIN}, {.fd = xcb.xcb_get_file_descriptor(display->connection), .events = POLLIN}};
    poll(files, is_pause ? 1 : 2, milliseconds);
    out->is_woken = (files[0].revents & POLLIN) != 0;
    event = xcb.xcb_poll_for_event(display->connection);
  }
  sora_x11_status status = SORA_X11_DONE;
  while (event) {
    const sora_x11_status one = take(display, event, out);
    if (one != SORA_X11_DONE) status = one;
    free(event);
    event = xcb.xcb_poll_for_event(display->connection);
  }
  return xcb.xcb_connection_has_error(display->connection) ? SORA_X11_LOST : status;
}

void sora_x11_forget_damage(sora_x11 *display) {
  if (display->has_damage) xcb.xcb_damage_subtract(display->connection, display->damage, 0, 0);
}

// MARK: Pixels

sora_x11_status sora_x11_read(sora_x11 *display, int32_t x, int32_t y, int32_t first, int32_t rows) {
  const xcb_drawable_t from = display->pixmap ? display->pixmap : display->window;
  const int16_t left = (int16_t)x, top = (int16_t)(y + first);
  const size_t offset = (size_t)first * (size_t)display->width * 4, size = (size_t)rows * (size_t)display->width * 4;
  xcb_generic_error_t *error = NULL;
  if (display->shm_id >= 0) {
    xcb_shm_get_image_reply_t *reply = xcb.xcb_shm_get_image_reply(
        display->connection,
        xcb.xcb_shm_get_image(
            display->connection, from, left, top, (uint16_t)display->width, (uint16_t)rows, ~0u, XCB_IMAGE_FORMAT_Z_PIXMAP,
            display->segment, (uint32_t)offset),
        &error);
    if (!reply) return sora_x11_failed(display, error);
    free(reply);
    return SORA_X11_DONE;
  }
  xcb_get_image_reply_t *reply = xcb.xcb_get_image_reply(
      display->connection,
      xcb.xcb_get_image(
          display->connection, XCB_IMAGE_FORMAT_Z_PIXMAP, from, left, top, (uint16_t)display->width, (uint16_t)rows, ~0u),
      &error);
  if (!reply) return sora_x11_failed(display, error);
  const int is_whole = (size_t)xcb.xcb_get_image_data_length(reply) >= size;
  if (is_whole) memcpy(display->pixels + offset, xcb.xcb_get_image_data(reply), size);
  free(reply);
  return is_whole ? SORA_X11_DONE : SORA_X11_REFUSED;
}

// MARK: The pointer

sora_x11_status sora_x11_pointer(sora_x11 *display, int32_t *x, int32_t *y) {
  xcb_generic_error_t *error = NULL;
  xcb_query_pointer_reply_t *reply = xcb.xcb_query_pointer_reply(
      display->connection, xcb.xcb_query_pointer(display->connection, display->screen->root), &error);
  if (!reply) return sora_x11_failed(display, error);
  // On another of the display's screens it isn't seen here.
  *x = reply->same_screen ? reply->root_x : -32768;
  *y = reply->root_y;
  free(reply);
  return SORA_X11_DONE;
}

sora_x11_status sora_x11_load_cursor(sora_x11 *display, sora_x11_cursor *out) {
  memset(out, 0, sizeof *out);
  if (!display->has_fixes) return SORA_X11_DONE;
  xcb_generic_error_t *error = NULL;
  xcb_xfixes_get_cursor_image_reply_t *reply = xcb.xcb_xfixes_get_cursor_image_reply(
      display->connection, xcb.xcb_xfixes_get_cursor_image(display->connection), &error);
  if (!reply) return sora_x11_failed(display, error);
  const size_t count = (size_t)reply->width * reply->height;
  if (count > 0 && count <= 1024 * 1024 && (size_t)xcb.xcb_xfixes_get_cursor_image_cursor_image_length(reply) >= count) {
    free(display->cursor);
    free(display->covered);
    display->cursor = malloc(count * 4);
    display->covered = malloc(count * 4);
    if (display->cursor && display->covered) {
      memcpy(display->cursor, xcb.xcb_xfixes_get_cursor_image_cursor_image(reply), count * 4);
      *out = (sora_x11_cursor){reply->xhot, reply->yhot, reply->width, reply->height, reply->cursor_serial};
      display->cursor_width = reply->width;
      display->cursor_height = reply->height;
    }
  }
  free(reply);
  return SORA_X11_DONE;
}

/// Runs what it is given for each pixel of the cursor that lies in the room.
#define EACH_PIXEL(...) \
  for (int32_t row = 0; row < display->cursor_height; row++) { \
    const int32_t y = display->drawn_y + row; \
    if (y < 0 || y >= display->height) continue; \
    for (int32_t column = 0; column < display->cursor_width; column++) { \
      const int32_t x = display->drawn_x + column; \
      if (x < 0 || x >= display->width) continue; \
      uint8_t *pixel = display->pixels + ((size_t)y * (size_t)display->width + (size_t)x) * 4; \
      const size_t index = (size_t)row * (size_t)display->cursor_width + (size_t)column; \
      __VA_ARGS__ \
    } \
  }

void sora_x11_draw_cursor(sora_x11 *display, int32_t left, int32_t top) {
  if (!display->cursor || !display->covered || display->is_drawn) return;
  display->drawn_x = left;
  display->drawn_y = top;
  display->is_drawn = 1;
  // The picture's colours are multiplied by its opacity already.
  EACH_PIXEL({
    memcpy(&display->covered[index], pixel, 4);
    const uint32_t color = display->cursor[index], rest = 255 - (color >> 24);
    for (int channel = 0; channel < 3; channel++) {
      const uint32_t sum = (color >> 8 * channel & 255) + (pixel[channel] * rest + 127) / 255;
      pixel[channel] = sum > 255 ? 255 : (uint8_t)sum;
    }
  })
}

void sora_x11_erase_cursor(sora_x11 *display) {
  if (!display->is_drawn) return;
  EACH_PIXEL({ memcpy(pixel, &display->covered[index], 4); })
  display->is_drawn = 0;
}

// MARK: Waking

int sora_x11_make_wake(int *fd) {
  *fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  return *fd < 0 ? errno : 0;
}

void sora_x11_wake(int fd) {
  const uint64_t one = 1;
  if (write(fd, &one, sizeof one) < 0) return;
}

void sora_x11_close_wake(int fd) { close(fd); }
