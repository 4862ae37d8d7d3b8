/// An audio codec that WebRTC negotiates: those that RFC 7874 §3 requires.
public enum AudioCodecKind: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
  /// RFC 6716.
  case opus
  /// ITU-T G.711, µ-law.
  case pcmu
  /// ITU-T G.711, A-law.
  case pcma

  /// The name in SDP's `a=rtpmap` (RFC 7587 §7, RFC 3551 §6).
  public var encodingName: String {
    switch self {
    case .opus: "opus"
    case .pcmu: "PCMU"
    case .pcma: "PCMA"
    }
  }

  /// Ticks per second of its RTP clock.
  public var clockRate: Int { self == .opus ? 48_000 : 8_000 }

  /// The channels in `a=rtpmap`; nil where it writes none.
  public var rtpMapChannels: Int? { self == .opus ? 2 : nil }

  /// The payload type that RFC 3551 §6 gives it for good; nil without one.
  public var staticPayloadType: UInt8? {
    switch self {
    case .opus: nil
    case .pcmu: 0
    case .pcma: 8
    }
  }

  /// The codec that an `a=rtpmap` names, whatever its case (RFC 8866 §6.6); nil for others.
  public init?(encodingName: String) {
    self.init(rawValue: encodingName.lowercased())
  }

  public var description: String { encodingName }
}
