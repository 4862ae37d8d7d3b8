// PulseAudio and ALSA with flat calls, both loaded when they are used first: nothing is linked. Nothing here decides anything.
// Calls block no longer than they say. A connection or a PCM is one thread's; only the wake functions may come from any.
#ifndef CSORA_SOUND_H
#define CSORA_SOUND_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  SORA_SOUND_OK = 0,
  /// The library can't be loaded.
  SORA_SOUND_NO_LIBRARY = 1,
  /// Nobody answers.
  SORA_SOUND_NO_SERVER = 2,
  SORA_SOUND_NO_DEVICE = 3,
  SORA_SOUND_BUSY = 4,
  SORA_SOUND_NO_PERMISSION = 5,
  /// The device, or its server, went away.
  SORA_SOUND_GONE = 6,
  SORA_SOUND_REFUSED = 7,
  /// Something else; `reason` has words.
  SORA_SOUND_FAILED = 8,
};

enum { SORA_SOUND_TEXT = 256 };

typedef struct sora_sound_reason {
  char text[SORA_SOUND_TEXT];
} sora_sound_reason;

typedef struct sora_sound_device {
  char name[SORA_SOUND_TEXT];
  char description[SORA_SOUND_TEXT];
  int is_input;
  int is_default;
  /// An input that hears what an output plays.
  int is_monitor;
  /// 0 where it isn't known.
  uint32_t rate, channels;
} sora_sound_device;

enum { SORA_SOUND_READY = 1, SORA_SOUND_WOKEN = 2, SORA_SOUND_CHANGED = 4, SORA_SOUND_ENDED = 8 };

typedef struct sora_sound_format {
  uint32_t rate, channels;
  /// Samples of each channel: what comes or goes at once, and what a player's buffer holds.
  uint32_t period, buffer;
} sora_sound_format;

void sora_sound_free_devices(sora_sound_device *devices);

// MARK: Threads

enum { SORA_SOUND_NORMAL = 0, SORA_SOUND_NICE = 1, SORA_SOUND_ROUND_ROBIN = 2 };

/// Has the calling thread run before others as far as the machine permits; says how. `niceness` is set to what it was.
int sora_sound_raise_thread(int *niceness);
/// Undoes that, on the same thread.
void sora_sound_lower_thread(int how, int niceness);

// MARK: PulseAudio, and what speaks its protocol (PipeWire)

typedef struct sora_pulse sora_pulse;

/// Connects, within 3 s. `server` is NULL for the user's own; none is started.
int sora_pulse_connect(const char *server, const char *client, sora_pulse **out, sora_sound_reason *reason);
void sora_pulse_close(sora_pulse *pulse);
int sora_pulse_devices(sora_pulse *pulse, sora_sound_device **devices, int *count);
/// Has `wait` tell of changes of devices and defaults.
int sora_pulse_subscribe(sora_pulse *pulse);
/// Opens the connection's one stream. `device` is NULL for the default, with which the stream moves.
int sora_pulse_open(
    sora_pulse *pulse, const char *device, int is_input, const char *title, const sora_sound_format *format,
    sora_sound_reason *reason);
/// Waits until a period can be read or written, for `wake`, for a change, for the end, or for so long; says which of these came.
int sora_pulse_wait(sora_pulse *pulse, int milliseconds);
/// Any thread.
void sora_pulse_wake(sora_pulse *pulse);
/// Samples of each channel that can be read or written now; below 0 after the end.
int sora_pulse_available(sora_pulse *pulse);
/// Returns samples of each channel; below 0 after the end.
int sora_pulse_read(sora_pulse *pulse, int16_t *samples, int frames);
int sora_pulse_write(sora_pulse *pulse, const int16_t *samples, int frames);
/// Microseconds from the microphone or to the loudspeaker; below 0 where it isn't known.
int64_t sora_pulse_latency(sora_pulse *pulse);
/// How often the buffer ran empty, or over.
uint32_t sora_pulse_xruns(sora_pulse *pulse);
/// Asks for another length of a player's buffer, in samples of each channel.
void sora_pulse_set_buffer(sora_pulse *pulse, uint32_t frames);

// MARK: ALSA

typedef struct sora_alsa sora_alsa;

/// The names that ALSA's configuration has; none of them is opened.
int sora_alsa_devices(sora_sound_device **devices, int *count, sora_sound_reason *reason);
/// Opens a PCM; `format` becomes what it was given.
int sora_alsa_open(
    const char *device, int is_input, sora_sound_format *format, sora_alsa **out, sora_sound_reason *reason);
void sora_alsa_close(sora_alsa *alsa);
int sora_alsa_wait(sora_alsa *alsa, int milliseconds);
void sora_alsa_wake(sora_alsa *alsa);
int sora_alsa_available(sora_alsa *alsa);
int sora_alsa_read(sora_alsa *alsa, int16_t *samples, int frames);
int sora_alsa_write(sora_alsa *alsa, const int16_t *samples, int frames);
int64_t sora_alsa_latency(sora_alsa *alsa);
uint32_t sora_alsa_xruns(sora_alsa *alsa);

/// A descriptor that can be read when a file of the folder comes, goes or changes its permissions; below 0 where that isn't possible.
int sora_sound_watch(const char *folder);
/// Waits so long for a change, and reads it away; whether one came.
int sora_sound_watched(int fd, int milliseconds);
void sora_sound_unwatch(int fd);

#ifdef __cplusplus
}
#endif

#endif
