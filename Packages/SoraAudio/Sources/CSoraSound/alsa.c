#include <alsa/asoundlib.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common.h"

// MARK: The library

#define EACH(X) \
  X(snd_pcm_open) X(snd_pcm_close) X(snd_pcm_hw_params_malloc) X(snd_pcm_hw_params_free) X(snd_pcm_hw_params_any) \
  X(snd_pcm_hw_params_set_access) X(snd_pcm_hw_params_set_format) X(snd_pcm_hw_params_set_channels) \
  X(snd_pcm_hw_params_set_rate_resample) X(snd_pcm_hw_params_set_rate_near) X(snd_pcm_hw_params_set_period_size_near) \
  X(snd_pcm_hw_params_set_buffer_size_near) X(snd_pcm_hw_params) \
  X(snd_pcm_sw_params_malloc) X(snd_pcm_sw_params_free) X(snd_pcm_sw_params_current) \
  X(snd_pcm_sw_params_set_start_threshold) X(snd_pcm_sw_params_set_avail_min) X(snd_pcm_sw_params) \
  X(snd_pcm_start) X(snd_pcm_state) X(snd_pcm_wait) X(snd_pcm_avail_update) X(snd_pcm_readi) X(snd_pcm_writei) \
  X(snd_pcm_recover) X(snd_pcm_delay) X(snd_strerror) X(snd_lib_error_set_handler) \
  X(snd_device_name_hint) X(snd_device_name_get_hint) X(snd_device_name_free_hint) X(snd_config_update_free_global)

static struct {
#define DECLARE(name) __typeof__(name) *name;
  EACH(DECLARE)
#undef DECLARE
} lib;

static int is_loaded;

/// ALSA would print what is told by codes already.
static void be_quiet(const char *file, int line, const char *function, int error, const char *format, ...) {
  (void)file;
  (void)line;
  (void)function;
  (void)error;
  (void)format;
}

static void load(void) {
  void *handle = dlopen("libasound.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!handle) return;
#define FIND(name) \
  lib.name = (__typeof__(lib.name))dlsym(handle, #name); \
  if (!lib.name) return;
  EACH(FIND)
#undef FIND
  lib.snd_lib_error_set_handler(be_quiet);
  is_loaded = 1;
}

static int prepare(sora_sound_reason *reason) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  if (is_loaded) return SORA_SOUND_OK;
  sora_sound_say(reason, "libasound.so.2");
  return SORA_SOUND_NO_LIBRARY;
}

static int code_of(int error, sora_sound_reason *reason) {
  sora_sound_say(reason, lib.snd_strerror(error));
  switch (-error) {
    case ENOENT:
    case ENXIO: return SORA_SOUND_NO_DEVICE;
    case ENODEV: return SORA_SOUND_GONE;
    case EBUSY: return SORA_SOUND_BUSY;
    case EACCES:
    case EPERM: return SORA_SOUND_NO_PERMISSION;
    case ECONNREFUSED: return SORA_SOUND_NO_SERVER;
    case EINVAL: return SORA_SOUND_REFUSED;
    default: return SORA_SOUND_FAILED;
  }
}

// MARK: Devices

int sora_alsa_devices(sora_sound_device **devices, int *count, sora_sound_reason *reason) {
  *devices = NULL;
  *count = 0;
  int code = prepare(reason);
  if (code) return code;
  // Configuration is kept otherwise, and cards that came since then would be missing.
  lib.snd_config_update_free_global();
  void **hints = NULL;
  int error = lib.snd_device_name_hint(-1, "pcm", &hints);
  if (error < 0) return code_of(error, reason);
  device_list list;
  memset(&list, 0, sizeof list);
  for (void **hint = hints; *hint; hint++) {
    char *name = lib.snd_device_name_get_hint(*hint, "NAME");
    char *description = lib.snd_device_name_get_hint(*hint, "DESC");
    char *direction = lib.snd_device_name_get_hint(*hint, "IOID");
    for (int is_input = 0; name && strcmp(name, "null") && is_input < 2; is_input++) {
      if (direction && strcmp(direction, is_input ? "Input" : "Output")) continue;
      sora_sound_device *device = device_list_add(&list);
      if (!device) break;
      sora_sound_copy(device->name, name);
      sora_sound_copy(device->description, description ? description : name);
      for (char *c = device->description; *c; c++)
        if (*c == '\n') *c = ' ';
      device->is_input = is_input;
      device->is_default = !strcmp(name, "default");
    }
    free(name);
    free(description);
    free(direction);
  }
  lib.snd_device_name_free_hint(hints);
  *devices = list.devices;
  *count = list.count;
  return SORA_SOUND_OK;
}

// MARK: A PCM

struct sora_alsa {
  snd_pcm_t *pcm;
  int is_input;
  uint32_t rate, channels, period, buffer;
  uint32_t xruns;
  int has_ended;
  atomic_int is_woken;
};

static int configure(sora_alsa *alsa, sora_sound_format *format) {
  snd_pcm_hw_params_t *hardware = NULL;
  snd_pcm_sw_params_t *software = NULL;
  int error = lib.snd_pcm_hw_params_malloc(&hardware);
  if (error < 0) return error;
  unsigned rate = format->rate;
  snd_pcm_uframes_t period = format->period, buffer = format->buffer;
#define TRY(call) \
  if ((error = (call)) < 0) goto done
  TRY(lib.snd_pcm_hw_params_any(alsa->pcm, hardware));
  TRY(lib.snd_pcm_hw_params_set_access(alsa->pcm, hardware, SND_PCM_ACCESS_RW_INTERLEAVED));
  TRY(lib.snd_pcm_hw_params_set_format(alsa->pcm, hardware, SND_PCM_FORMAT_S16_LE));
  TRY(lib.snd_pcm_hw_params_set_channels(alsa->pcm, hardware, format->channels));
  TRY(lib.snd_pcm_hw_params_set_rate_resample(alsa->pcm, hardware, 1));
  TRY(lib.snd_pcm_hw_params_set_rate_near(alsa->pcm, hardware, &rate, NULL));
  TRY(lib.snd_pcm_hw_params_set_period_size_near(alsa->pcm, hardware, &period, NULL));
  TRY(lib.snd_pcm_hw_params_set_buffer_size_near(alsa->pcm, hardware, &buffer));
  TRY(lib.snd_pcm_hw_params(alsa->pcm, hardware));
  TRY(lib.snd_pcm_sw_params_malloc(&software));
  TRY(lib.snd_pcm_sw_params_current(alsa->pcm, software));
  // A player starts when what it is to hold is there.
  snd_pcm_uframes_t start = alsa->is_input ? 1 : format->buffer < buffer ? format->buffer : buffer;
  TRY(lib.snd_pcm_sw_params_set_start_threshold(alsa->pcm, software, start));
  TRY(lib.snd_pcm_sw_params_set_avail_min(alsa->pcm, software, period < format->period ? period : format->period));
  TRY(lib.snd_pcm_sw_params(alsa->pcm, software));
  if (alsa->is_input) TRY(lib.snd_pcm_start(alsa->pcm));
#undef TRY
  format->rate = alsa->rate = rate;
  alsa->channels = format->channels;
  format->period = alsa->period = (uint32_t)period;
  format->buffer = alsa->buffer = (uint32_t)buffer;
done:
  if (hardware) lib.snd_pcm_hw_params_free(hardware);
  if (software) lib.snd_pcm_sw_params_free(software);
  return error < 0 ? error : 0;
}

int sora_alsa_open(
    const char *device, int is_input, sora_sound_format *format, sora_alsa **out, sora_sound_reason *reason) {
  *out = NULL;
  int code = prepare(reason);
  if (code) return code;
  sora_alsa *alsa = calloc(1, sizeof *alsa);
  if (!alsa) return SORA_SOUND_FAILED;
  alsa->is_input = is_input;
  snd_pcm_stream_t direction = is_input ? SND_PCM_STREAM_CAPTURE : SND_PCM_STREAM_PLAYBACK;
  int error = lib.snd_pcm_open(&alsa->pcm, device, direction, SND_PCM_NONBLOCK);
  if (error < 0) alsa->pcm = NULL;
  else error = configure(alsa, format);
  if (error < 0) {
    sora_alsa_close(alsa);
    code = code_of(error, reason);
    // A name that no card and no file stands for.
    return code == SORA_SOUND_GONE ? SORA_SOUND_NO_DEVICE : code;
  }
  *out = alsa;
  return SORA_SOUND_OK;
}

void sora_alsa_close(sora_alsa *alsa) {
  if (!alsa) return;
  if (alsa->pcm) lib.snd_pcm_close(alsa->pcm);
  free(alsa);
}

/// Goes on after an underrun, an overrun or a suspend; 0, or below for an end.
static int recover(sora_alsa *alsa, int error) {
  if (error == -EAGAIN) return 0;
  if (error == -EPIPE || error == -ESTRPIPE || error == -EINTR) {
    if (error != -EINTR) alsa->xruns++;
    if (lib.snd_pcm_recover(alsa->pcm, error, 1) >= 0) {
      if (alsa->is_input) lib.snd_pcm_start(alsa->pcm);
      return 0;
    }
  }
  alsa->has_ended = 1;
  return -1;
}

int sora_alsa_available(sora_alsa *alsa) {
  if (alsa->has_ended) return -1;
  snd_pcm_sframes_t frames = lib.snd_pcm_avail_update(alsa->pcm);
  if (frames < 0) return recover(alsa, (int)frames) < 0 ? -1 : 0;
  return frames > INT32_MAX ? INT32_MAX : (int)frames;
}

int sora_alsa_wait(sora_alsa *alsa, int milliseconds) {
  struct timespec started, time;
  clock_gettime(CLOCK_MONOTONIC, &started);
  for (;;) {
    int came = 0;
    int frames = sora_alsa_available(alsa);
    if (frames < 0) came |= SORA_SOUND_ENDED;
    if (frames >= (int)alsa->period) came |= SORA_SOUND_READY;
    if (atomic_exchange(&alsa->is_woken, 0)) came |= SORA_SOUND_WOKEN;
    clock_gettime(CLOCK_MONOTONIC, &time);
    long elapsed = (time.tv_sec - started.tv_sec) * 1000 + (time.tv_nsec - started.tv_nsec) / 1000000;
    if (came || elapsed >= milliseconds) return came;
    // Nothing can interrupt ALSA's wait: pieces of it, so that a wake is soon seen.
    int rest = milliseconds - (int)elapsed < 20 ? milliseconds - (int)elapsed : 20;
    int error = lib.snd_pcm_wait(alsa->pcm, rest);
    if (error < 0 && recover(alsa, error) < 0) return SORA_SOUND_ENDED;
    // Ready by its own measure, but not for a period: no reason to spin.
    if (error > 0) usleep(1000);
  }
}

void sora_alsa_wake(sora_alsa *alsa) { atomic_store(&alsa->is_woken, 1); }

int sora_alsa_read(sora_alsa *alsa, int16_t *samples, int frames) {
  if (alsa->has_ended) return -1;
  snd_pcm_sframes_t done = lib.snd_pcm_readi(alsa->pcm, samples, (snd_pcm_uframes_t)frames);
  return done >= 0 ? (int)done : recover(alsa, (int)done);
}

int sora_alsa_write(sora_alsa *alsa, const int16_t *samples, int frames) {
  if (alsa->has_ended) return -1;
  snd_pcm_sframes_t done = lib.snd_pcm_writei(alsa->pcm, samples, (snd_pcm_uframes_t)frames);
  return done >= 0 ? (int)done : recover(alsa, (int)done);
}

int64_t sora_alsa_latency(sora_alsa *alsa) {
  snd_pcm_sframes_t delay = 0;
  if (alsa->has_ended || alsa->rate == 0 || lib.snd_pcm_delay(alsa->pcm, &delay) < 0) return -1;
  return delay < 0 ? 0 : (int64_t)delay * 1000000 / alsa->rate;
}

uint32_t sora_alsa_xruns(sora_alsa *alsa) { return alsa->xruns; }
