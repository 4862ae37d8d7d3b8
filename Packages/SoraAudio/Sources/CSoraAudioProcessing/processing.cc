// `webrtc` beside this file is a link to the headers' folder in /usr/include: its own pkg-config file would link the library, too.
#include "CSoraAudioProcessing.h"

#include <dlfcn.h>

#include <new>

#include "webrtc/modules/audio_processing/include/audio_processing.h"

namespace {

using webrtc::AudioProcessing;
using webrtc::Config;

constexpr int kFrames = 480;
constexpr int kMostChannels = 2;

using Create = AudioProcessing *(*)(const Config &);

Create load() {
  void *handle = dlopen("libwebrtc_audio_processing.so.1", RTLD_NOW | RTLD_LOCAL);
  // AudioProcessing::Create(const Config &), by the name that C++ gives it.
  return handle ? reinterpret_cast<Create>(dlsym(handle, "_ZN6webrtc15AudioProcessing6CreateERKNS_6ConfigE")) : nullptr;
}

/// Samples of each channel apart, -1 to 1.
struct Planes {
  float samples[kMostChannels][kFrames];
  float *channels[kMostChannels] = {samples[0], samples[1]};

  void read(const int16_t *from, int count) {
    for (int i = 0; i < kFrames; i++)
      for (int c = 0; c < count; c++) samples[c][i] = static_cast<float>(from[i * count + c]) / 32768;
  }

  void write(int16_t *to, int count) const {
    for (int i = 0; i < kFrames; i++)
      for (int c = 0; c < count; c++) {
        float value = samples[c][i] * 32768;
        value = value > 32767 ? 32767 : value < -32768 ? -32768 : value;
        to[i * count + c] = static_cast<int16_t>(value < 0 ? value - 0.5f : value + 0.5f);
      }
  }
};

}  // namespace

struct sora_processing {
  AudioProcessing *apm;
  int near_channels, far_channels;
  // Each thread's own.
  Planes near, far;
};

int sora_processing_create(int near_channels, int far_channels, sora_processing **out) {
  static const Create create = load();
  *out = nullptr;
  if (!create) return SORA_PROCESSING_NO_LIBRARY;
  if (near_channels < 1 || near_channels > kMostChannels || far_channels < 1 || far_channels > kMostChannels)
    return SORA_PROCESSING_FAILED;
  Config config;
  // Rooms and sound servers delay by more than the library's first guess, and nobody knows by how much exactly.
  config.Set<webrtc::ExtendedFilter>(new webrtc::ExtendedFilter(true));
  config.Set<webrtc::DelayAgnostic>(new webrtc::DelayAgnostic(true));
  auto *processing = new (std::nothrow) sora_processing();
  if (!processing) return SORA_PROCESSING_FAILED;
  processing->apm = create(config);
  processing->near_channels = near_channels;
  processing->far_channels = far_channels;
  webrtc::ProcessingConfig formats = {{
      webrtc::StreamConfig(48000, near_channels),
      webrtc::StreamConfig(48000, near_channels),
      webrtc::StreamConfig(48000, far_channels),
      webrtc::StreamConfig(48000, far_channels),
  }};
  if (!processing->apm || processing->apm->Initialize(formats) != 0) {
    sora_processing_close(processing);
    return SORA_PROCESSING_FAILED;
  }
  *out = processing;
  return SORA_PROCESSING_OK;
}

void sora_processing_close(sora_processing *processing) {
  if (!processing) return;
  delete processing->apm;
  delete processing;
}

int sora_processing_set(sora_processing *processing, const sora_processing_settings *settings) {
  AudioProcessing *apm = processing->apm;
  int failed = 0;
  failed |= apm->high_pass_filter()->Enable(settings->high_pass != 0);
  failed |= apm->echo_cancellation()->enable_drift_compensation(false);
  failed |= apm->echo_cancellation()->set_suppression_level(webrtc::EchoCancellation::kModerateSuppression);
  failed |= apm->echo_cancellation()->Enable(settings->echo_cancellation != 0);
  if (settings->noise_suppression > 0) {
    auto level = static_cast<webrtc::NoiseSuppression::Level>(settings->noise_suppression - 1);
    failed |= apm->noise_suppression()->set_level(level);
  }
  failed |= apm->noise_suppression()->Enable(settings->noise_suppression > 0);
  failed |= apm->gain_control()->set_mode(webrtc::GainControl::kAdaptiveDigital);
  failed |= apm->gain_control()->enable_limiter(true);
  failed |= apm->gain_control()->Enable(settings->gain_control != 0);
  failed |= apm->voice_detection()->Enable(settings->voice_detection != 0);
  return failed ? SORA_PROCESSING_FAILED : SORA_PROCESSING_OK;
}

int sora_processing_far(sora_processing *processing, const int16_t *samples) {
  Planes &planes = processing->far;
  planes.read(samples, processing->far_channels);
  webrtc::StreamConfig format(48000, processing->far_channels);
  int code = processing->apm->ProcessReverseStream(planes.channels, format, format, planes.channels);
  return code ? SORA_PROCESSING_FAILED : SORA_PROCESSING_OK;
}

int sora_processing_near(sora_processing *processing, int16_t *samples, int delay, int *has_voice) {
  Planes &planes = processing->near;
  planes.read(samples, processing->near_channels);
  processing->apm->set_stream_delay_ms(delay);
  webrtc::StreamConfig format(48000, processing->near_channels);
  // A delay that is out of its range is clamped, and told by a code that is no failure.
  int code = processing->apm->ProcessStream(planes.channels, format, format, planes.channels);
  if (code && code != AudioProcessing::kBadStreamParameterWarning) return SORA_PROCESSING_FAILED;
  planes.write(samples, processing->near_channels);
  *has_voice = processing->apm->voice_detection()->is_enabled() && processing->apm->voice_detection()->stream_has_voice();
  return SORA_PROCESSING_OK;
}
