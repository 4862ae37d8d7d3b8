// webrtc-audio-processing behind C, loaded when it is used first: nothing is linked. 10 ms of interleaved 16-bit samples at 48 kHz at a
// time. `near` and `far` may come from two threads at once, and `set` from any.
#ifndef CSORA_AUDIO_PROCESSING_H
#define CSORA_AUDIO_PROCESSING_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SORA_PROCESSING_OK = 0, SORA_PROCESSING_NO_LIBRARY = 1, SORA_PROCESSING_FAILED = 2 };

typedef struct sora_processing sora_processing;

typedef struct sora_processing_settings {
  int echo_cancellation;
  /// 0 for none, 1 (mild) to 4.
  int noise_suppression;
  int gain_control;
  int voice_detection;
  int high_pass;
} sora_processing_settings;

/// Channels: 1 or 2 of the microphone, and of what the loudspeaker plays.
int sora_processing_create(int near_channels, int far_channels, sora_processing **out);
void sora_processing_close(sora_processing *processing);
int sora_processing_set(sora_processing *processing, const sora_processing_settings *settings);
/// What the loudspeaker is about to play; 480 samples of each channel.
int sora_processing_far(sora_processing *processing, const int16_t *samples);
/// Cleans what the microphone heard, in place; `delay` is the milliseconds from `far` of a sound to its `near`.
int sora_processing_near(sora_processing *processing, int16_t *samples, int delay, int *has_voice);

#ifdef __cplusplus
}
#endif

#endif
