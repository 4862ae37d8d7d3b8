// The functions of both libraries, each under its own name: `lib.pw_stream_new` is pw_stream_new.
#ifndef SORA_PIPEWIRE_LIBRARIES_H
#define SORA_PIPEWIRE_LIBRARIES_H

#include <pipewire/context.h>
#include <pipewire/core.h>
#include <pipewire/keys.h>
#include <pipewire/stream.h>
#include <systemd/sd-bus.h>

// What pipewire/pipewire.h declares beside all others' headers.
void pw_init(int *argc, char **argv[]);

#define BUS_FUNCTIONS(X) \
  X(sd_bus_new) X(sd_bus_set_address) X(sd_bus_set_bus_client) X(sd_bus_start) X(sd_bus_open_user) X(sd_bus_unref) \
  X(sd_bus_flush_close_unref) X(sd_bus_set_method_call_timeout) X(sd_bus_get_unique_name) X(sd_bus_get_property_trivial) \
  X(sd_bus_call_method) X(sd_bus_add_match) X(sd_bus_call) X(sd_bus_send) X(sd_bus_process) X(sd_bus_get_fd) \
  X(sd_bus_get_events) X(sd_bus_get_timeout) X(sd_bus_error_free) X(sd_bus_message_new_method_call) X(sd_bus_message_unref) \
  X(sd_bus_message_append) X(sd_bus_message_open_container) X(sd_bus_message_close_container) X(sd_bus_message_get_path) \
  X(sd_bus_message_read) X(sd_bus_message_read_basic) X(sd_bus_message_enter_container) X(sd_bus_message_exit_container) \
  X(sd_bus_message_peek_type) X(sd_bus_message_skip)
#define PIPEWIRE_FUNCTIONS(X) \
  X(pw_init) X(pw_loop_new) X(pw_loop_destroy) X(pw_context_new) X(pw_context_destroy) X(pw_context_connect_fd) \
  X(pw_core_disconnect) X(pw_properties_new) X(pw_stream_new) X(pw_stream_add_listener) X(pw_stream_connect) \
  X(pw_stream_destroy) X(pw_stream_dequeue_buffer) X(pw_stream_queue_buffer) X(pw_stream_update_params)

#define MEMBER(name) __typeof__(name) *name;
struct sora_cast_functions {
  BUS_FUNCTIONS(MEMBER)
  PIPEWIRE_FUNCTIONS(MEMBER)
};
#undef MEMBER

/// Set once by the two below, and then only read.
extern struct sora_cast_functions lib;

/// Loads what speaks D-Bus; whether it is there.
int sora_cast_load_bus(void);
/// Loads PipeWire; whether it is there.
int sora_cast_load_pipewire(void);

#endif
