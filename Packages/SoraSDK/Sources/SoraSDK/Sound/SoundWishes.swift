import SoraAudioDevices

/// What an app has said of sound devices. A value: which of them are to be open follows from it.
struct SoundWishes: Sendable {
  /// A device, as an app names it.
  enum Choice: Sendable, Hashable {
    case standard
    case named(String)
    /// `AudioOutput.speaker` without a name.
    case loudspeaker

    /// nil for the default.
    func device(
      _ direction: AudioDevice.Direction, of devices: () throws(AudioDeviceError) -> [AudioDevice]
    ) throws(AudioDeviceError) -> AudioDevice? {
      switch self {
      case .standard: return nil
      case .named(let name): return try devices().device(named: name, direction)
      case .loudspeaker:
        return try devices().first { device in
          let names = "\(device.id) \(device.name)".lowercased()
          return device.direction == direction
            && (names.contains("speaker") || names.contains("built-in"))
        }
      }
    }
  }

  var usesManualAudio = false
  /// `Sora.audioEnabled`.
  var isEnabled = false
  var mode: AudioMode?
  var settings = AudioDeviceSettings.off

  /// Whether devices may be opened at all.
  private var isWanted: Bool {
    usesManualAudio ? isEnabled : settings.isEnabled || mode != nil
  }

  private var category: AudioSessionCategory {
    if case .default(let category, _) = mode { return category }
    return .playAndRecord
  }

  private var output: AudioOutput {
    switch mode {
    case .default(_, let output), .voiceChat(let output): output
    case .videoChat: .speaker
    case nil: .default
    }
  }

  /// The microphone that is to be open where somebody needs one.
  var microphone: Choice? {
    guard isWanted, category.records else { return nil }
    return settings.microphone.map { .named($0) } ?? .standard
  }

  /// The loudspeaker that is to be open where somebody needs one.
  var speaker: Choice? {
    guard isWanted, category.plays else { return nil }
    return settings.speaker.map { .named($0) } ?? (output == .speaker ? .loudspeaker : .standard)
  }
}
