// XCB's functions, each under its own name: `xcb.xcb_connect` is xcb_connect.
#ifndef SORA_X11_XCB_H
#define SORA_X11_XCB_H

#include <xcb/composite.h>
#include <xcb/damage.h>
#include <xcb/randr.h>
#include <xcb/shm.h>
#include <xcb/xcb.h>
#include <xcb/xfixes.h>

#include "CSoraX11.h"

#define XCB_FUNCTIONS(X) \
  X(xcb_connect) X(xcb_disconnect) X(xcb_connection_has_error) X(xcb_get_file_descriptor) X(xcb_flush) X(xcb_generate_id) \
  X(xcb_get_setup) X(xcb_setup_roots_iterator) X(xcb_screen_next) X(xcb_setup_pixmap_formats) \
  X(xcb_setup_pixmap_formats_length) X(xcb_screen_allowed_depths_iterator) X(xcb_depth_next) X(xcb_depth_visuals_iterator) \
  X(xcb_visualtype_next) X(xcb_poll_for_event) X(xcb_request_check) X(xcb_get_extension_data) X(xcb_intern_atom) \
  X(xcb_intern_atom_reply) X(xcb_get_property) X(xcb_get_property_reply) X(xcb_get_property_value) \
  X(xcb_get_property_value_length) X(xcb_get_geometry) X(xcb_get_geometry_reply) X(xcb_get_window_attributes) \
  X(xcb_get_window_attributes_reply) X(xcb_change_window_attributes_checked) X(xcb_translate_coordinates) \
  X(xcb_translate_coordinates_reply) X(xcb_query_tree) X(xcb_query_tree_reply) X(xcb_query_tree_children) \
  X(xcb_query_tree_children_length) X(xcb_get_image) X(xcb_get_image_reply) X(xcb_get_image_data) \
  X(xcb_get_image_data_length) X(xcb_query_pointer) X(xcb_query_pointer_reply) X(xcb_free_pixmap)
#define SHM_FUNCTIONS(X) \
  X(xcb_shm_query_version) X(xcb_shm_query_version_reply) X(xcb_shm_attach_checked) X(xcb_shm_detach) X(xcb_shm_get_image) \
  X(xcb_shm_get_image_reply)
#define DAMAGE_FUNCTIONS(X) \
  X(xcb_damage_query_version) X(xcb_damage_query_version_reply) X(xcb_damage_create_checked) X(xcb_damage_subtract)
#define FIXES_FUNCTIONS(X) \
  X(xcb_xfixes_query_version) X(xcb_xfixes_query_version_reply) X(xcb_xfixes_select_cursor_input) \
  X(xcb_xfixes_get_cursor_image) X(xcb_xfixes_get_cursor_image_reply) X(xcb_xfixes_get_cursor_image_cursor_image) \
  X(xcb_xfixes_get_cursor_image_cursor_image_length)
#define RANDR_FUNCTIONS(X) \
  X(xcb_randr_query_version) X(xcb_randr_query_version_reply) X(xcb_randr_select_input) X(xcb_randr_get_monitors) \
  X(xcb_randr_get_monitors_reply) X(xcb_randr_get_monitors_monitors_iterator) X(xcb_randr_monitor_info_next) \
  X(xcb_get_atom_name) X(xcb_get_atom_name_reply) X(xcb_get_atom_name_name) X(xcb_get_atom_name_name_length)
#define COMPOSITE_FUNCTIONS(X) \
  X(xcb_composite_query_version) X(xcb_composite_query_version_reply) X(xcb_composite_redirect_window_checked) \
  X(xcb_composite_name_window_pixmap_checked)

#define MEMBER(name) __typeof__(name) *name;
struct sora_x11_functions {
  XCB_FUNCTIONS(MEMBER)
  SHM_FUNCTIONS(MEMBER)
  DAMAGE_FUNCTIONS(MEMBER)
  FIXES_FUNCTIONS(MEMBER)
  RANDR_FUNCTIONS(MEMBER)
  COMPOSITE_FUNCTIONS(MEMBER)
  // What names an extension; NULL where its library isn't there.
  xcb_extension_t *shm, *damage, *fixes, *randr, *composite;
};
#undef MEMBER

/// Set once by `sora_x11_load`, and then only read.
extern struct sora_x11_functions xcb;

/// Loads the libraries; whether XCB itself is there.
int sora_x11_load(void);

struct sora_x11 {
  xcb_connection_t *connection;
  xcb_screen_t *screen;
  int32_t error;
  // Which extensions the display has.
  int has_shm, has_damage, has_fixes, has_randr, has_composite;
  uint8_t damage_event, fixes_event, randr_event;
  // What is followed: the root, or a window with the pixmap that has its pixels even where others cover it.
  xcb_window_t window;
  xcb_pixmap_t pixmap;
  xcb_damage_damage_t damage;
  // The room.
  int32_t width, height;
  uint8_t *pixels;
  int shm_id;
  xcb_shm_seg_t segment;
  // The pointer's picture, and what was where it is drawn.
  uint32_t *cursor, *covered;
  int32_t cursor_width, cursor_height;
  int32_t drawn_x, drawn_y;
  int is_drawn;
};

/// Keeps the number of an error that came in place of an answer, and frees it.
sora_x11_status sora_x11_failed(sora_x11 *display, xcb_generic_error_t *error);

#endif
