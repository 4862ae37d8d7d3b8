package import SoraAudioDevices
package import SoraAudioProcessing
package import SoraMedia

/// Where sound devices come from: this machine, or what a test has in its place. Safe from any thread.
package protocol SoundSystem: Sendable {
  /// The devices that there are now.
  func devices() throws(AudioDeviceError) -> [AudioDevice]
  /// Opens a microphone and starts it.
  ///
  /// - Parameters:
  ///   - device: nil for the default.
  ///   - title: what the sound server calls the stream.
  func openMicrophone(
    _ device: AudioDevice?, title: String, deliver: @escaping @Sendable (AudioFrame) -> Void,
    notify: @escaping @Sendable (AudioStreamEvent) -> Void
  ) throws(AudioDeviceError) -> any OpenSound
  /// Opens a loudspeaker and starts it: stereo, 10 ms at a time.
  func openSpeaker(
    _ device: AudioDevice?, title: String,
    fill: @escaping @Sendable (inout AudioFrame) -> Void,
    notify: @escaping @Sendable (AudioStreamEvent) -> Void
  ) throws(AudioDeviceError) -> any OpenSound
  /// What cleans a microphone's mono sound, for a loudspeaker in stereo.
  func makeProcessor(
    _ settings: AudioProcessingSettings
  ) throws(AudioProcessingError) -> any SoundProcessor
}

/// A sound device that is open.
package protocol OpenSound: Sendable {
  var statistics: AudioStreamStatistics { get }
  /// Closes it. Nothing is delivered or asked for after it has returned.
  func stop()
}

/// What cleans a microphone's sound: `AudioProcessor`, or a test's.
package protocol SoundProcessor: Sendable {
  func apply(_ settings: AudioProcessingSettings) throws(AudioProcessingError)
  func willPlay(_ frame: AudioFrame)
  /// - Returns: whether somebody speaks; false where that isn't looked for.
  func clean(_ frame: inout AudioFrame, delay: Duration) -> Bool
}

extension AudioCapture: OpenSound {}
extension AudioPlayback: OpenSound {}

extension AudioProcessor: SoundProcessor {
  package func clean(_ frame: inout AudioFrame, delay: Duration) -> Bool {
    process(&frame, delay: delay)
  }
}

/// The sound devices of this machine.
struct MachineSound: SoundSystem {
  func devices() throws(AudioDeviceError) -> [AudioDevice] { try AudioDevice.all() }

  func openMicrophone(
    _ device: AudioDevice?, title: String, deliver: @escaping @Sendable (AudioFrame) -> Void,
    notify: @escaping @Sendable (AudioStreamEvent) -> Void
  ) throws(AudioDeviceError) -> any OpenSound {
    try AudioCapture(device, channels: 1, title: title, deliver: deliver, notify: notify)
  }

  func openSpeaker(
    _ device: AudioDevice?, title: String,
    fill: @escaping @Sendable (inout AudioFrame) -> Void,
    notify: @escaping @Sendable (AudioStreamEvent) -> Void
  ) throws(AudioDeviceError) -> any OpenSound {
    try AudioPlayback(device, channels: 2, title: title, fill: fill, notify: notify)
  }

  func makeProcessor(
    _ settings: AudioProcessingSettings
  ) throws(AudioProcessingError) -> any SoundProcessor {
    try AudioProcessor(settings, channels: 1, playbackChannels: 2)
  }
}
