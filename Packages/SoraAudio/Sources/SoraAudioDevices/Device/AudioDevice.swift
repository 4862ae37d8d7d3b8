/// Who gives an app the machine's sound devices.
public enum AudioSystem: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
  /// A PulseAudio server, or PipeWire, which speaks its protocol.
  case pulseAudio = "PulseAudio"
  /// The kernel's devices and what ALSA's configuration makes of them.
  case alsa = "ALSA"

  public var description: String { rawValue }
}

/// A sound device of the machine, in one direction: a microphone or a loudspeaker. A description: nothing is open.
public struct AudioDevice: Sendable, Hashable, Identifiable, CustomStringConvertible {
  public enum Direction: String, Sendable, Hashable {
    case input
    case output
  }

  /// The system's name for it: constant, and unique in its direction.
  public let id: String
  /// Its name for people.
  public let name: String
  public let direction: Direction
  public let system: AudioSystem
  /// Whether it is what an app gets that names none.
  public let isDefault: Bool
  /// An input that hears what an output plays.
  public let isMonitor: Bool
  /// Its own samples per second; nil if unknown. Streams have 48,000 in any case.
  public let sampleRate: Int?
  /// Its own channels; nil if unknown.
  public let channels: Int?

  public init(
    id: String, name: String, direction: Direction, system: AudioSystem, isDefault: Bool = false,
    isMonitor: Bool = false, sampleRate: Int? = nil, channels: Int? = nil
  ) {
    self.id = id
    self.name = name
    self.direction = direction
    self.system = system
    self.isDefault = isDefault
    self.isMonitor = isMonitor
    self.sampleRate = sampleRate
    self.channels = channels
  }

  public var description: String { name == id ? id : "\(name) (\(id))" }
}
