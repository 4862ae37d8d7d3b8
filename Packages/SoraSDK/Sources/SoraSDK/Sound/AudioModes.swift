/// What an app does with sound: which of loudspeaker and microphone is opened. The names are those of `AVAudioSession`.
public enum AudioSessionCategory: String, Sendable, CaseIterable {
  case ambient
  case soloAmbient
  case playback
  case record
  case playAndRecord
  case multiRoute

  /// Whether the loudspeaker is opened: by all but `record`.
  public var plays: Bool { self != .record }
  /// Whether the microphone is opened: by `record`, `playAndRecord` and `multiRoute`.
  public var records: Bool { [.record, .playAndRecord, .multiRoute].contains(self) }
}

/// Devices that may be chosen for sound. The names are those of `AVAudioSession`. Of no effect on Linux: sound servers route by themselves.
public struct AudioSessionCategoryOptions: OptionSet, Sendable {
  public let rawValue: UInt

  public init(rawValue: UInt) { self.rawValue = rawValue }

  public static let mixWithOthers = Self(rawValue: 0x1)
  public static let duckOthers = Self(rawValue: 0x2)
  public static let allowBluetooth = Self(rawValue: 0x4)
  public static let defaultToSpeaker = Self(rawValue: 0x8)
  public static let allowBluetoothA2DP = Self(rawValue: 0x20)
  public static let allowAirPlay = Self(rawValue: 0x40)
}

/// Where sound comes out.
public enum AudioOutput: Sendable, Equatable {
  /// `AudioDeviceSettings.speaker`, or else the system's default.
  case `default`
  /// `AudioDeviceSettings.speaker`, or else the first output whose name or id has "speaker" or "built-in" in it, or else the default.
  case speaker
}

/// How sound devices are used: see `Sora.setAudioMode`.
public enum AudioMode: Sendable, Equatable {
  case `default`(category: AudioSessionCategory, output: AudioOutput)
  /// Playing and recording, with video.
  case videoChat
  /// Playing and recording, sound alone.
  case voiceChat(output: AudioOutput)
}
