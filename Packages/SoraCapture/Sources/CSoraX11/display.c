#include <stdlib.h>
#include <string.h>

#include "xcb.h"

sora_x11_status sora_x11_failed(sora_x11 *display, xcb_generic_error_t *error) {
  if (xcb.xcb_connection_has_error(display->connection)) {
    free(error);
    return SORA_X11_LOST;
  }
  display->error = error ? error->error_code : 0;
  free(error);
  switch (display->error) {
    case XCB_WINDOW:
    case XCB_DRAWABLE: return SORA_X11_GONE;
    // Pixels of what isn't shown.
    case XCB_MATCH: return SORA_X11_HIDDEN;
    default: return SORA_X11_REFUSED;
  }
}

int32_t sora_x11_error(const sora_x11 *display) { return display->error; }

// MARK: Opening

static int has(sora_x11 *display, xcb_extension_t *extension, uint8_t *first_event) {
  if (!extension) return 0;
  const xcb_query_extension_reply_t *answer = xcb.xcb_get_extension_data(display->connection, extension);
  if (!answer || !answer->present) return 0;
  if (first_event) *first_event = answer->first_event;
  return 1;
}

// A display wants to be asked for the version of each extension before anything else of it.
#define AGREE(name, extension, event, major, minor) \
  (has(display, extension, event) && agrees(name##_reply(display->connection, name(display->connection, major, minor), NULL)))

static int agrees(void *reply) {
  free(reply);
  return reply != NULL;
}

static void ask_for_extensions(sora_x11 *display) {
  xcb_connection_t *connection = display->connection;
  display->has_shm =
      has(display, xcb.shm, NULL) && agrees(xcb.xcb_shm_query_version_reply(connection, xcb.xcb_shm_query_version(connection), NULL));
  display->has_fixes = AGREE(xcb.xcb_xfixes_query_version, xcb.fixes, &display->fixes_event, 4, 0);
  display->has_damage = AGREE(xcb.xcb_damage_query_version, xcb.damage, &display->damage_event, 1, 1);
  display->has_randr = AGREE(xcb.xcb_randr_query_version, xcb.randr, &display->randr_event, 1, 5);
  display->has_composite = AGREE(xcb.xcb_composite_query_version, xcb.composite, NULL, 0, 4);
}

sora_x11_status sora_x11_open(const char *name, sora_x11 **out) {
  *out = NULL;
  if (!sora_x11_load()) return SORA_X11_NO_LIBRARY;
  sora_x11 *display = calloc(1, sizeof *display);
  if (!display) return SORA_X11_NO_MEMORY;
  display->shm_id = -1;
  int number = 0;
  display->connection = xcb.xcb_connect(name, &number);
  if (xcb.xcb_connection_has_error(display->connection)) {
    sora_x11_close(display);
    return SORA_X11_NO_DISPLAY;
  }
  xcb_screen_iterator_t screens = xcb.xcb_setup_roots_iterator(xcb.xcb_get_setup(display->connection));
  for (; screens.rem > 1 && number > 0; number--) xcb.xcb_screen_next(&screens);
  display->screen = screens.data;
  ask_for_extensions(display);
  *out = display;
  return SORA_X11_DONE;
}

// MARK: Monitors

sora_x11_status sora_x11_desktop(sora_x11 *display, sora_x11_rect *out) {
  xcb_generic_error_t *error = NULL;
  xcb_get_geometry_reply_t *geometry = xcb.xcb_get_geometry_reply(
      display->connection, xcb.xcb_get_geometry(display->connection, display->screen->root), &error);
  if (!geometry) return sora_x11_failed(display, error);
  *out = (sora_x11_rect){0, 0, geometry->width, geometry->height};
  free(geometry);
  return SORA_X11_DONE;
}

static void copy_text(char to[SORA_X11_NAME], const void *from, int length) {
  if (length < 0) length = 0;
  if (length > SORA_X11_NAME - 1) length = SORA_X11_NAME - 1;
  memcpy(to, from, (size_t)length);
  to[length] = 0;
}

static void name_of(sora_x11 *display, xcb_atom_t atom, char name[SORA_X11_NAME]) {
  xcb_get_atom_name_reply_t *reply =
      xcb.xcb_get_atom_name_reply(display->connection, xcb.xcb_get_atom_name(display->connection, atom), NULL);
  name[0] = 0;
  if (!reply) return;
  copy_text(name, xcb.xcb_get_atom_name_name(reply), xcb.xcb_get_atom_name_name_length(reply));
  free(reply);
}

sora_x11_status sora_x11_monitors(sora_x11 *display, sora_x11_monitor *out, int32_t room, int32_t *count) {
  *count = 0;
  if (display->has_randr) {
    xcb_randr_get_monitors_reply_t *reply = xcb.xcb_randr_get_monitors_reply(
        display->connection, xcb.xcb_randr_get_monitors(display->connection, display->screen->root, 1), NULL);
    if (reply) {
      xcb_randr_monitor_info_iterator_t monitors = xcb.xcb_randr_get_monitors_monitors_iterator(reply);
      for (; monitors.rem > 0 && *count < room; xcb.xcb_randr_monitor_info_next(&monitors)) {
        const xcb_randr_monitor_info_t *found = monitors.data;
        sora_x11_monitor *monitor = &out[(*count)++];
        monitor->frame = (sora_x11_rect){found->x, found->y, found->width, found->height};
        monitor->is_primary = found->primary;
        name_of(display, found->name, monitor->name);
      }
      free(reply);
    }
  }
  if (xcb.xcb_connection_has_error(display->connection)) return SORA_X11_LOST;
  if (*count > 0 || room < 1) return SORA_X11_DONE;
  memset(out, 0, sizeof *out);
  copy_text(out->name, "screen", 6);
  out->is_primary = 1;
  *count = 1;
  return sora_x11_desktop(display, &out->frame);
}

// MARK: Windows

static xcb_atom_t atom_of(sora_x11 *display, const char *name) {
  xcb_intern_atom_reply_t *reply = xcb.xcb_intern_atom_reply(
      display->connection, xcb.xcb_intern_atom(display->connection, 1, (uint16_t)strlen(name), name), NULL);
  xcb_atom_t atom = reply ? reply->atom : XCB_ATOM_NONE;
  free(reply);
  return atom;
}

/// A property's value; NULL where the window hasn't got it. To be freed.
static xcb_get_property_reply_t *property_of(sora_x11 *display, xcb_window_t window, xcb_atom_t name, uint32_t words) {
  if (name == XCB_ATOM_NONE) return NULL;
  xcb_get_property_reply_t *reply = xcb.xcb_get_property_reply(
      display->connection,
      xcb.xcb_get_property(display->connection, 0, window, name, XCB_GET_PROPERTY_TYPE_ANY, 0, words), NULL);
  if (reply && xcb.xcb_get_property_value_length(reply) > 0) return reply;
  free(reply);
  return NULL;
}

sora_x11_status sora_x11_describe(sora_x11 *display, uint32_t id, sora_x11_window *out) {
  memset(out, 0, sizeof *out);
  out->id = id;
  xcb_generic_error_t *error = NULL;
  xcb_get_geometry_reply_t *geometry =
      xcb.xcb_get_geometry_reply(display->connection, xcb.xcb_get_geometry(display->connection, id), &error);
  if (!geometry) return sora_x11_failed(display, error);
  // Its pixels are those with its border.
  out->frame.width = geometry->width + 2 * geometry->border_width;
  out->frame.height = geometry->height + 2 * geometry->border_width;
  const int16_t border = (int16_t)geometry->border_width;
  free(geometry);
  xcb_translate_coordinates_reply_t *place = xcb.xcb_translate_coordinates_reply(
      display->connection,
      xcb.xcb_translate_coordinates(display->connection, id, display->screen->root, (int16_t)-border, (int16_t)-border), &error);
  if (!place) return sora_x11_failed(display, error);
  out->frame.x = place->dst_x;
  out->frame.y = place->dst_y;
  free(place);
  xcb_get_window_attributes_reply_t *attributes = xcb.xcb_get_window_attributes_reply(
      display->connection, xcb.xcb_get_window_attributes(display->connection, id), &error);
  if (!attributes) return sora_x11_failed(display, error);
  out->is_shown = attributes->map_state == XCB_MAP_STATE_VIEWABLE && attributes->_class == XCB_WINDOW_CLASS_INPUT_OUTPUT;
  free(attributes);
  xcb_get_property_reply_t *title = property_of(display, id, atom_of(display, "_NET_WM_NAME"), SORA_X11_NAME / 4);
  if (!title) title = property_of(display, id, XCB_ATOM_WM_NAME, SORA_X11_NAME / 4);
  if (title) copy_text(out->title, xcb.xcb_get_property_value(title), xcb.xcb_get_property_value_length(title));
  free(title);
  return xcb.xcb_connection_has_error(display->connection) ? SORA_X11_LOST : SORA_X11_DONE;
}

static void add(sora_x11 *display, xcb_window_t id, int must_be_shown, sora_x11_window *out, int32_t room, int32_t *count) {
  if (*count >= room || sora_x11_describe(display, id, &out[*count]) != SORA_X11_DONE) return;
  if (out[*count].is_shown || !must_be_shown) (*count)++;
}

sora_x11_status sora_x11_windows(sora_x11 *display, sora_x11_window *out, int32_t room, int32_t *count) {
  *count = 0;
  // A window manager lists them; without one, they are the root's children.
  xcb_get_property_reply_t *list =
      property_of(display, display->screen->root, atom_of(display, "_NET_CLIENT_LIST_STACKING"), 4096);
  if (list && list->format == 32) {
    const xcb_window_t *ids = xcb.xcb_get_property_value(list);
    const int length = xcb.xcb_get_property_value_length(list) / 4;
    for (int i = 0; i < length; i++) add(display, ids[i], 0, out, room, count);
    free(list);
    return xcb.xcb_connection_has_error(display->connection) ? SORA_X11_LOST : SORA_X11_DONE;
  }
  free(list);
  xcb_generic_error_t *error = NULL;
  xcb_query_tree_reply_t *tree = xcb.xcb_query_tree_reply(
      display->connection, xcb.xcb_query_tree(display->connection, display->screen->root), &error);
  if (!tree) return sora_x11_failed(display, error);
  const xcb_window_t *ids = xcb.xcb_query_tree_children(tree);
  const int length = xcb.xcb_query_tree_children_length(tree);
  for (int i = 0; i < length; i++) add(display, ids[i], 1, out, room, count);
  free(tree);
  return xcb.xcb_connection_has_error(display->connection) ? SORA_X11_LOST : SORA_X11_DONE;
}
