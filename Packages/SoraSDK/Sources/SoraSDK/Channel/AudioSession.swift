import Foundation
import Synchronization

/// What an app does with sound: which of playing and recording it opens. The names are those of `AVAudioSession`.
public enum AudioSessionCategory: String, Sendable, CaseIterable {
  case ambient
  case soloAmbient
  case playback
  case record
  case playAndRecord
  case multiRoute
}

/// Devices that may be chosen for sound. The names are those of `AVAudioSession`.
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
  /// The system's default sink.
  case `default`
  /// The sink of the machine's loudspeaker.
  case speaker
}

/// How sound devices are used.
public enum AudioMode: Sendable, Equatable {
  case `default`(category: AudioSessionCategory, output: AudioOutput)
  /// Playing and recording, with video.
  case videoChat
  /// Playing and recording, sound alone.
  case voiceChat(output: AudioOutput)
}

/// The process's wishes for its sound devices, which they follow once they are opened.
final class AudioSession: Sendable {
  static let shared = AudioSession()

  struct State: Sendable {
    var usesManualAudio = false
    var isEnabled = false
    var mode: AudioMode?
    var options: AudioSessionCategoryOptions = []
  }

  private let state = Mutex(State())
  // Recursive: the block of `configure` may call `Sora.setAudioMode`.
  private let configuration = NSRecursiveLock()

  func read() -> State { state.withLock { $0 } }
  func modify(_ body: (inout sending State) -> Void) { state.withLock { body(&$0) } }

  /// Runs `body` while nobody else configures.
  func configure(_ body: () -> Void) {
    configuration.lock()
    defer { configuration.unlock() }
    body()
  }
}
