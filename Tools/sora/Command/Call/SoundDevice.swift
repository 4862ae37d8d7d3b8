import SoraAudioDevices
import SoraAudioProcessing
import SoraCommandSupport
import SoraSDK
import Synchronization

/// The microphone or the loudspeaker that `--audio` names. The SDK opens it while there is something to send or to hear. Safe from any
/// thread.
final class SoundDevice: Sendable {
  private struct State: Sendable {
    var refusal: AudioDeviceError?
    var loss: AudioDeviceError?
    var tally = Report.AudioDevice.Tally()
  }

  private let direction: AudioDevice.Direction
  private let settings: AudioDeviceSettings
  /// As it is written.
  private let option: String
  private let state = Mutex(State())

  /// A loudspeaker with everything that a channel sends; nothing is opened yet.
  ///
  /// - Parameter name: a device's id, or a part of its name; nil for the default.
  init(speaker name: String?) throws(UsageError) {
    direction = .output
    option = name.map { "speaker:\($0)" } ?? "speaker"
    settings = AudioDeviceSettings(speaker: name, processing: .off, title: "sora play")
    // Where there is none at all, what else there is to play goes on.
    if name != nil { try Self.check(name, .output, option) }
  }

  /// A microphone; nothing is opened yet.
  ///
  /// - Parameters:
  ///   - name: a device's id, or a part of its name; nil for the default.
  ///   - noiseSuppression: whether constant noise is taken out.
  ///   - gainControl: whether it is evened out how loud the sound is.
  init(microphone name: String?, noiseSuppression: Bool, gainControl: Bool) throws(UsageError) {
    direction = .input
    option = name.map { "mic:\($0)" } ?? "mic"
    var processing = AudioProcessingSettings.off
    if noiseSuppression || gainControl {
      processing.highPass = true
      processing.noiseSuppression = noiseSuppression ? .moderate : .none
      processing.gainControl = gainControl
      processing.voiceDetection = true
    }
    settings = AudioDeviceSettings(
      microphone: name, processing: processing, title: "sora publish")
    try Self.check(name, .input, option)
  }

  /// A name that means no device is told before anything is connected.
  private static func check(
    _ name: String?, _ direction: AudioDevice.Direction, _ option: String
  ) throws(UsageError) {
    do throws(AudioDeviceError) {
      try AudioDeviceListing.check(name, direction)
    } catch {
      throw UsageError("--audio \(option): \("\(error)".inOneLine)")
    }
  }

  /// Has the connections that are made from now on use the device.
  ///
  /// - Parameter console: told when the device can't be opened, when it goes and when it is back.
  func attach(_ console: Console) {
    Sora.shared.audioDeviceHandler = { [self] event in
      if let text = note(of: event) { console.note("sora: \(text)") }
    }
    Sora.shared.audioDeviceSettings = settings
  }

  /// Closes the device, if it is open.
  func close() {
    update()
    Sora.shared.audioDeviceSettings = .off
  }

  private func note(of event: AudioDeviceEvent) -> String? {
    switch event {
    case .refused(_, let error):
      let isNew = state.withLock { state in
        defer { state.refusal = error }
        return state.refusal != error
      }
      return isNew ? Self.line(error) : nil
    case .lost(_, let error):
      state.withLock { $0.loss = error }
      return Self.line(error)
    case .restored:
      state.withLock { $0.loss = nil }
      return "--audio: the \(direction == .input ? "microphone" : "speaker") is back"
    case .unprocessed(let error): return "--audio \(option): the sound is sent as it is: \(error)"
    }
  }

  private static func line(_ error: AudioDeviceError) -> String {
    "--audio: \("\(error)".inOneLine)"
  }

  /// Whether the device couldn't be opened.
  var isRefused: Bool { state.withLock { $0.refusal != nil } }

  /// Why there is no device now, in one line, which was told when it happened; nil where there is one.
  var failure: String? {
    let (refusal, loss) = state.withLock { ($0.refusal, $0.loss) }
    return (refusal ?? loss).map(Self.line)
  }

  /// What the device has done by the last `update`; nil before it was opened.
  var report: Report.AudioDevice? { state.withLock { $0.tally.total } }

  /// Takes over what the device has done.
  func update() {
    let use = Sora.shared.audioDeviceUse
    switch direction {
    case .input:
      guard let microphone = use.microphone else { return }
      let isVoice = settings.processing == .off ? nil : Sora.shared.voiceDetected
      state.withLock { state in
        // It was opened at another attempt.
        state.refusal = nil
        state.tally.add(microphone, isVoice: isVoice)
      }
    case .output:
      guard let speaker = use.speaker else { return }
      state.withLock { state in
        state.refusal = nil
        state.tally.add(speaker, underruns: use.underruns)
      }
    }
  }
}
