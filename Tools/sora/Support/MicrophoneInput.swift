import SoraAudioDevices
import SoraAudioProcessing
package import SoraMedia
import Synchronization

/// What is done with a microphone's sound before it is sent.
package struct MicrophoneProcessing: Sendable, Equatable {
  package var noiseSuppression: Bool
  package var gainControl: Bool

  package init(noiseSuppression: Bool, gainControl: Bool) {
    self.noiseSuppression = noiseSuppression
    self.gainControl = gainControl
  }
}

/// Sound to publish from a microphone.
package final class MicrophoneInput: RawAudioFeed {
  package let warning: String?
  /// nil for the default.
  private let chosen: AudioDevice?
  private let processor: AudioProcessor?
  private let state = Mutex<String?>(nil)
  private let capture = Mutex<AudioCapture?>(nil)
  private let isVoice = Mutex(false)

  /// Chooses the microphone; nothing is opened yet.
  ///
  /// - Parameter name: a device's id, or a part of its name; nil for the default.
  package init(name: String?, processing: MicrophoneProcessing) throws(UsageError) {
    let option = name.map { "mic:\($0)" } ?? "mic"
    do throws(AudioDeviceError) {
      chosen = try AudioDeviceListing.choose(name, .input)
    } catch {
      throw UsageError("--audio \(option): \("\(error)".inOneLine)")
    }
    guard processing.noiseSuppression || processing.gainControl else {
      (processor, warning) = (nil, nil)
      return
    }
    var settings = AudioProcessingSettings.off
    settings.highPass = true
    settings.noiseSuppression = processing.noiseSuppression ? .moderate : .none
    settings.gainControl = processing.gainControl
    settings.voiceDetection = true
    do throws(AudioProcessingError) {
      processor = try AudioProcessor(settings)
      warning = nil
    } catch {
      processor = nil
      warning = "--audio \(option): the sound is sent as it is: \(error)"
    }
  }

  package var device: Report.AudioDevice? {
    let isVoice = processor.map { _ in self.isVoice.withLock { $0 } }
    return capture.withLock { $0 }.map { Report.AudioDevice($0.statistics, isVoice: isVoice) }
  }

  package var failure: String? { state.withLock { $0 } }

  /// Starts the microphone, which has its own clock.
  package func start(at _: Instant, deliver: @escaping @Sendable (AudioFrame) -> Void) {
    do throws(AudioDeviceError) {
      let running = try AudioCapture(
        chosen, channels: 1, title: "sora publish",
        deliver: { [self] frame in
          var frame = frame
          let hasVoice = processor?.process(&frame) ?? false
          isVoice.withLock { $0 = hasVoice }
          deliver(frame)
        })
      capture.withLock { $0 = running }
    } catch {
      state.withLock { $0 = "\(error)".inOneLine }
    }
  }

  package func stop() { capture.withLock { $0 }?.stop() }
}
