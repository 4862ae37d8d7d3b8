import SoraAudio
package import SoraAudioDevices
package import SoraMedia
import Synchronization

/// A loudspeaker with everything that a channel sends.
package final class SpeakerOutput: Sendable {
  private let device: AudioDevice?
  private let mixer = AudioMixer()
  private let inputs = Mutex<[String: AudioMixer.Input]>([:])
  private let playback = Mutex<AudioPlayback?>(nil)

  /// Chooses the loudspeaker; nothing is opened yet.
  ///
  /// - Parameter name: a device's id, or a part of its name; nil for the default.
  package init(name: String?) throws(UsageError) {
    do throws(AudioDeviceError) {
      device = try AudioDeviceListing.choose(name, .output)
    } catch {
      let option = name.map { "speaker:\($0)" } ?? "speaker"
      throw UsageError("--audio \(option): \("\(error)".inOneLine)")
    }
  }

  /// Opens the loudspeaker.
  ///
  /// - Parameter notify: told when it goes and when it is back, on a thread of its own.
  package func start(
    notify: @escaping @Sendable (AudioStreamEvent) -> Void
  ) throws(AudioDeviceError) {
    let running = try AudioPlayback(
      device, channels: mixer.channels, title: "sora play",
      fill: { [mixer] in mixer.read(into: &$0) }, notify: notify)
    playback.withLock { $0 = running }
  }

  package func stop() { playback.withLock { $0 }?.stop() }

  /// What the device does; nil before it was opened.
  package var use: Report.AudioDevice? {
    let underruns = inputs.withLock { $0.values.reduce(0) { $0 + $1.statistics.underruns } }
    return playback.withLock { $0 }.map {
      Report.AudioDevice($0.statistics, underruns: underruns)
    }
  }

  /// Plays a block of a stream. From one thread at a time for each stream.
  package func play(_ block: AudioFrame, of streamId: String) {
    let input = inputs.withLock { inputs in
      if let known = inputs[streamId] { return known }
      let new = mixer.makeInput()
      inputs[streamId] = new
      return new
    }
    input.push(block)
  }

  /// A stream is over.
  package func remove(_ streamId: String) {
    if let input = inputs.withLock({ $0.removeValue(forKey: streamId) }) { mixer.remove(input) }
  }
}
