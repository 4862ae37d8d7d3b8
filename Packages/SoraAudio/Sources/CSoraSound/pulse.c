#include <poll.h>
#include <pthread.h>
#include <pulse/pulseaudio.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common.h"

// MARK: The library

#define EACH(X) \
  X(pa_mainloop_new) X(pa_mainloop_free) X(pa_mainloop_get_api) X(pa_mainloop_prepare) X(pa_mainloop_poll) \
  X(pa_mainloop_dispatch) X(pa_mainloop_wakeup) \
  X(pa_context_new) X(pa_context_unref) X(pa_context_connect) X(pa_context_disconnect) X(pa_context_get_state) \
  X(pa_context_errno) X(pa_context_get_server_info) X(pa_context_get_sink_info_list) X(pa_context_get_source_info_list) \
  X(pa_context_subscribe) X(pa_context_set_subscribe_callback) \
  X(pa_operation_get_state) X(pa_operation_unref) X(pa_strerror) \
  X(pa_proplist_new) X(pa_proplist_free) X(pa_proplist_sets) \
  X(pa_stream_new_with_proplist) X(pa_stream_unref) X(pa_stream_connect_playback) X(pa_stream_connect_record) \
  X(pa_stream_disconnect) X(pa_stream_get_state) X(pa_stream_peek) X(pa_stream_drop) X(pa_stream_write) \
  X(pa_stream_readable_size) X(pa_stream_writable_size) X(pa_stream_get_latency) X(pa_stream_get_sample_spec) X(pa_stream_set_buffer_attr) \
  X(pa_stream_set_underflow_callback) X(pa_stream_set_overflow_callback)

static struct {
#define DECLARE(name) __typeof__(name) *name;
  EACH(DECLARE)
#undef DECLARE
} lib;

static int is_loaded;

static void load(void) {
  void *handle = dlopen("libpulse.so.0", RTLD_NOW | RTLD_LOCAL);
  if (!handle) return;
#define FIND(name) \
  lib.name = (__typeof__(lib.name))dlsym(handle, #name); \
  if (!lib.name) return;
  EACH(FIND)
#undef FIND
  is_loaded = 1;
}

// MARK: A connection

struct sora_pulse {
  pa_mainloop *loop;
  pa_context *context;
  pa_stream *stream;
  int is_input;
  uint32_t frame_bytes, period_bytes;
  pa_buffer_attr attributes;
  /// Bytes of the record stream's present fragment that were read.
  size_t fragment_used;
  uint32_t xruns;
  int has_changed;
  atomic_int is_woken;
};

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/// One iteration; below 0 when the loop can't go on.
static int iterate(sora_pulse *pulse, int milliseconds) {
  if (lib.pa_mainloop_prepare(pulse->loop, milliseconds * 1000) < 0) return -1;
  if (lib.pa_mainloop_poll(pulse->loop) < 0) return -1;
  return lib.pa_mainloop_dispatch(pulse->loop) < 0 ? -1 : 0;
}

static int code_of(int error) {
  switch (error) {
    case PA_ERR_CONNECTIONREFUSED:
    case PA_ERR_INVALIDSERVER:
    case PA_ERR_TIMEOUT: return SORA_SOUND_NO_SERVER;
    case PA_ERR_ACCESS:
    case PA_ERR_AUTHKEY: return SORA_SOUND_NO_PERMISSION;
    case PA_ERR_NOENTITY: return SORA_SOUND_NO_DEVICE;
    case PA_ERR_BUSY: return SORA_SOUND_BUSY;
    case PA_ERR_CONNECTIONTERMINATED:
    case PA_ERR_KILLED: return SORA_SOUND_GONE;
    case PA_ERR_INVALID:
    case PA_ERR_NOTSUPPORTED: return SORA_SOUND_REFUSED;
    default: return SORA_SOUND_FAILED;
  }
}

static int fail(sora_pulse *pulse, sora_sound_reason *reason) {
  int error = lib.pa_context_errno(pulse->context);
  sora_sound_say(reason, lib.pa_strerror(error));
  return code_of(error);
}

static void changed(pa_context *context, pa_subscription_event_type_t type, uint32_t index, void *self) {
  (void)context;
  (void)type;
  (void)index;
  ((sora_pulse *)self)->has_changed = 1;
}

int sora_pulse_connect(const char *server, const char *client, sora_pulse **out, sora_sound_reason *reason) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  *out = NULL;
  if (!is_loaded) {
    sora_sound_say(reason, "libpulse.so.0");
    return SORA_SOUND_NO_LIBRARY;
  }
  sora_pulse *pulse = calloc(1, sizeof *pulse);
  if (!pulse) return SORA_SOUND_FAILED;
  pulse->loop = lib.pa_mainloop_new();
  pulse->context = pulse->loop ? lib.pa_context_new(lib.pa_mainloop_get_api(pulse->loop), client) : NULL;
  int code = SORA_SOUND_FAILED;
  if (!pulse->context) goto failed;
  if (lib.pa_context_connect(pulse->context, server, PA_CONTEXT_NOAUTOSPAWN, NULL) < 0) {
    code = fail(pulse, reason);
    goto failed;
  }
  double deadline = now() + 3;
  for (;;) {
    pa_context_state_t state = lib.pa_context_get_state(pulse->context);
    if (state == PA_CONTEXT_READY) break;
    if (state == PA_CONTEXT_FAILED || state == PA_CONTEXT_TERMINATED) {
      code = fail(pulse, reason);
      goto failed;
    }
    if (iterate(pulse, 100) < 0 || now() > deadline) {
      sora_sound_say(reason, "no answer within 3 s");
      code = SORA_SOUND_NO_SERVER;
      goto failed;
    }
  }
  *out = pulse;
  return SORA_SOUND_OK;
failed:
  sora_pulse_close(pulse);
  return code;
}

void sora_pulse_close(sora_pulse *pulse) {
  if (!pulse) return;
  if (pulse->stream) {
    lib.pa_stream_disconnect(pulse->stream);
    lib.pa_stream_unref(pulse->stream);
  }
  if (pulse->context) {
    lib.pa_context_disconnect(pulse->context);
    lib.pa_context_unref(pulse->context);
  }
  if (pulse->loop) lib.pa_mainloop_free(pulse->loop);
  free(pulse);
}

/// Waits for an operation, within 3 s, and lets it go.
static int finish(sora_pulse *pulse, pa_operation *operation) {
  if (!operation) return fail(pulse, NULL);
  double deadline = now() + 3;
  int code = SORA_SOUND_OK;
  while (lib.pa_operation_get_state(operation) == PA_OPERATION_RUNNING) {
    if (iterate(pulse, 100) < 0 || now() > deadline) {
      code = SORA_SOUND_NO_SERVER;
      break;
    }
  }
  if (code == SORA_SOUND_OK && lib.pa_operation_get_state(operation) != PA_OPERATION_DONE) code = fail(pulse, NULL);
  lib.pa_operation_unref(operation);
  return code;
}

// MARK: Devices

typedef struct listing {
  device_list list;
  char default_sink[SORA_SOUND_TEXT], default_source[SORA_SOUND_TEXT];
} listing;

static void server_told(pa_context *context, const pa_server_info *info, void *to) {
  (void)context;
  if (!info) return;
  listing *found = to;
  sora_sound_copy(found->default_sink, info->default_sink_name);
  sora_sound_copy(found->default_source, info->default_source_name);
}

static sora_sound_device *add(
    listing *found, const char *name, const char *description, const pa_sample_spec *format, const char *standard) {
  sora_sound_device *device = device_list_add(&found->list);
  if (!device) return NULL;
  sora_sound_copy(device->name, name);
  sora_sound_copy(device->description, description);
  device->is_default = !strcmp(device->name, standard);
  device->rate = format->rate;
  device->channels = format->channels;
  return device;
}

static void sink_told(pa_context *context, const pa_sink_info *info, int end, void *to) {
  (void)context;
  if (end || !info) return;
  listing *found = to;
  add(found, info->name, info->description, &info->sample_spec, found->default_sink);
}

static void source_told(pa_context *context, const pa_source_info *info, int end, void *to) {
  (void)context;
  if (end || !info) return;
  listing *found = to;
  sora_sound_device *device = add(found, info->name, info->description, &info->sample_spec, found->default_source);
  if (!device) return;
  device->is_input = 1;
  device->is_monitor = info->monitor_of_sink != PA_INVALID_INDEX;
}

int sora_pulse_devices(sora_pulse *pulse, sora_sound_device **devices, int *count) {
  listing found;
  memset(&found, 0, sizeof found);
  int code = finish(pulse, lib.pa_context_get_server_info(pulse->context, server_told, &found));
  if (!code) code = finish(pulse, lib.pa_context_get_sink_info_list(pulse->context, sink_told, &found));
  if (!code) code = finish(pulse, lib.pa_context_get_source_info_list(pulse->context, source_told, &found));
  if (code) {
    free(found.list.devices);
    return code;
  }
  *devices = found.list.devices;
  *count = found.list.count;
  return SORA_SOUND_OK;
}

int sora_pulse_subscribe(sora_pulse *pulse) {
  lib.pa_context_set_subscribe_callback(pulse->context, changed, pulse);
  pa_subscription_mask_t mask =
      PA_SUBSCRIPTION_MASK_SINK | PA_SUBSCRIPTION_MASK_SOURCE | PA_SUBSCRIPTION_MASK_SERVER;
  return finish(pulse, lib.pa_context_subscribe(pulse->context, mask, NULL, NULL));
}

// MARK: The stream

static void count_xrun(pa_stream *stream, void *self) {
  (void)stream;
  ((sora_pulse *)self)->xruns++;
}

int sora_pulse_open(
    sora_pulse *pulse, const char *device, int is_input, const char *title, const sora_sound_format *format,
    sora_sound_reason *reason) {
  pa_sample_spec spec = {.format = PA_SAMPLE_S16LE, .rate = format->rate, .channels = (uint8_t)format->channels};
  pulse->is_input = is_input;
  pulse->frame_bytes = 2 * format->channels;
  pulse->period_bytes = format->period * pulse->frame_bytes;
  pa_proplist *properties = lib.pa_proplist_new();
  if (properties) lib.pa_proplist_sets(properties, PA_PROP_MEDIA_ROLE, "phone");
  pulse->stream = lib.pa_stream_new_with_proplist(pulse->context, title, &spec, NULL, properties);
  if (properties) lib.pa_proplist_free(properties);
  if (!pulse->stream) return fail(pulse, reason);
  pa_buffer_attr *attributes = &pulse->attributes;
  attributes->maxlength = (uint32_t)-1;
  attributes->tlength = is_input ? (uint32_t)-1 : format->buffer * pulse->frame_bytes;
  attributes->prebuf = (uint32_t)-1;
  attributes->minreq = is_input ? (uint32_t)-1 : pulse->period_bytes;
  attributes->fragsize = is_input ? pulse->period_bytes : (uint32_t)-1;
  pa_stream_flags_t flags = PA_STREAM_ADJUST_LATENCY | PA_STREAM_INTERPOLATE_TIMING | PA_STREAM_AUTO_TIMING_UPDATE;
  if (device) flags |= PA_STREAM_DONT_MOVE;
  int refused;
  if (is_input) {
    lib.pa_stream_set_overflow_callback(pulse->stream, count_xrun, pulse);
    refused = lib.pa_stream_connect_record(pulse->stream, device, attributes, flags);
  } else {
    lib.pa_stream_set_underflow_callback(pulse->stream, count_xrun, pulse);
    refused = lib.pa_stream_connect_playback(pulse->stream, device, attributes, flags, NULL, NULL);
  }
  if (refused < 0) return fail(pulse, reason);
  double deadline = now() + 3;
  for (;;) {
    pa_stream_state_t state = lib.pa_stream_get_state(pulse->stream);
    if (state == PA_STREAM_READY) return SORA_SOUND_OK;
    if (state == PA_STREAM_FAILED || state == PA_STREAM_TERMINATED) return fail(pulse, reason);
    if (iterate(pulse, 100) < 0 || now() > deadline) {
      sora_sound_say(reason, "no answer within 3 s");
      return SORA_SOUND_NO_SERVER;
    }
  }
}

static int has_ended(sora_pulse *pulse) {
  if (lib.pa_context_get_state(pulse->context) != PA_CONTEXT_READY) return 1;
  return pulse->stream && lib.pa_stream_get_state(pulse->stream) != PA_STREAM_READY;
}

static size_t ready_bytes(sora_pulse *pulse) {
  if (!pulse->stream) return 0;
  size_t bytes = pulse->is_input ? lib.pa_stream_readable_size(pulse->stream) : lib.pa_stream_writable_size(pulse->stream);
  if (bytes == (size_t)-1) return 0;
  return pulse->is_input ? bytes - (pulse->fragment_used < bytes ? pulse->fragment_used : bytes) : bytes;
}

int sora_pulse_wait(sora_pulse *pulse, int milliseconds) {
  double deadline = now() + milliseconds / 1e3;
  // Once in any case, so that what came meanwhile is handled.
  int rest = milliseconds, is_first = 1;
  for (;;) {
    int came = 0;
    if (has_ended(pulse)) came |= SORA_SOUND_ENDED;
    else if (pulse->stream && ready_bytes(pulse) >= pulse->period_bytes) came |= SORA_SOUND_READY;
    if (atomic_exchange(&pulse->is_woken, 0)) came |= SORA_SOUND_WOKEN;
    if (pulse->has_changed) {
      pulse->has_changed = 0;
      came |= SORA_SOUND_CHANGED;
    }
    if (came & ~SORA_SOUND_READY || (came && !is_first) || rest < 0) return came;
    if (iterate(pulse, came ? 0 : rest) < 0) return SORA_SOUND_ENDED;
    is_first = 0;
    double left = (deadline - now()) * 1e3;
    rest = left <= 0 ? -1 : (int)left + 1;
  }
}

void sora_pulse_wake(sora_pulse *pulse) {
  atomic_store(&pulse->is_woken, 1);
  lib.pa_mainloop_wakeup(pulse->loop);
}

int sora_pulse_available(sora_pulse *pulse) {
  if (has_ended(pulse)) return -1;
  return (int)(ready_bytes(pulse) / pulse->frame_bytes);
}

int sora_pulse_read(sora_pulse *pulse, int16_t *samples, int frames) {
  if (has_ended(pulse)) return -1;
  char *to = (char *)samples;
  size_t wanted = (size_t)frames * pulse->frame_bytes, done = 0;
  while (done < wanted) {
    const void *data = NULL;
    size_t bytes = 0;
    if (lib.pa_stream_peek(pulse->stream, &data, &bytes) < 0) return -1;
    if (bytes == 0) break;
    size_t part = bytes - pulse->fragment_used;
    if (part > wanted - done) part = wanted - done;
    // Without data it is a hole: time that the server heard nothing of.
    if (data) memcpy(to + done, (const char *)data + pulse->fragment_used, part);
    else memset(to + done, 0, part);
    done += part;
    pulse->fragment_used += part;
    if (pulse->fragment_used == bytes) {
      pulse->fragment_used = 0;
      if (lib.pa_stream_drop(pulse->stream) < 0) return -1;
    }
  }
  return (int)(done / pulse->frame_bytes);
}

int sora_pulse_write(sora_pulse *pulse, const int16_t *samples, int frames) {
  if (has_ended(pulse)) return -1;
  size_t bytes = (size_t)frames * pulse->frame_bytes;
  return lib.pa_stream_write(pulse->stream, samples, bytes, NULL, 0, PA_SEEK_RELATIVE) < 0 ? -1 : frames;
}

int64_t sora_pulse_latency(sora_pulse *pulse) {
  pa_usec_t time = 0;
  int is_negative = 0;
  if (has_ended(pulse) || lib.pa_stream_get_latency(pulse->stream, &time, &is_negative) < 0) return -1;
  if (!is_negative && time > 0) return (int64_t)time;
  if (pulse->is_input) return 0;
  // After an underrun the server's clock of the stream stands before what was written: what was written and not yet asked for again.
  size_t writable = ready_bytes(pulse);
  size_t held = pulse->attributes.tlength > writable ? pulse->attributes.tlength - writable : 0;
  const pa_sample_spec *spec = lib.pa_stream_get_sample_spec(pulse->stream);
  return (int64_t)(held / pulse->frame_bytes) * 1000000 / spec->rate;
}

uint32_t sora_pulse_xruns(sora_pulse *pulse) { return pulse->xruns; }

void sora_pulse_set_buffer(sora_pulse *pulse, uint32_t frames) {
  if (pulse->is_input || has_ended(pulse)) return;
  pulse->attributes.tlength = frames * pulse->frame_bytes;
  pa_operation *operation = lib.pa_stream_set_buffer_attr(pulse->stream, &pulse->attributes, NULL, NULL);
  if (operation) lib.pa_operation_unref(operation);
}
