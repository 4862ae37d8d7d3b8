import SoraMedia

/// What a connection does in its channel.
public enum Role: String, Codable, CustomStringConvertible, Sendable {
  case sendonly
  case recvonly
  case sendrecv

  public var description: String { rawValue }
  /// Whether the role sends media.
  var sends: Bool { self != .recvonly }
  /// Whether the role receives media.
  var receives: Bool { self != .sendonly }
}

/// The video codec to ask the server for.
public enum VideoCodec: String, Codable, CustomStringConvertible, Sendable {
  /// Whatever the server's default is (VP9, Sora's documentation says).
  case `default`
  case vp8 = "VP8"
  case vp9 = "VP9"
  case h264 = "H264"
  case h265 = "H265"
  case av1 = "AV1"

  public var description: String { rawValue }
}

/// The audio codec to ask the server for.
public enum AudioCodec: String, Codable, CustomStringConvertible, Sendable {
  /// Whatever the server's default is (Opus, Sora's documentation says).
  case `default`
  case opus = "OPUS"
  /// G.711: telephone sound, 64 kbit/s.
  case pcmu = "PCMU"

  public var description: String { rawValue }
}

/// A simulcast layer to receive.
public enum SimulcastRid: String, Codable, Sendable {
  /// The lowest layer.
  case r0
  case r1
  /// The highest layer.
  case r2
}

/// A simulcast layer to ask for when connecting, of the iOS SDK's version 2026.1.
public enum SimulcastRequestRid: String, Codable, Sendable {
  /// Leaves the choice to the server; never sent.
  case unspecified
  /// No video at all.
  case none
  case r0
  case r1
  case r2
}

/// A layer to receive of spotlighted, or other, participants.
public enum SpotlightRid: String, Codable, Sendable {
  /// Leaves the choice to the server; never sent.
  case unspecified
  /// No video at all.
  case none
  case r0
  case r1
  case r2
}

/// Where a connection stands.
public enum ConnectionState: Sendable {
  case connecting
  case connected
  case disconnecting
  case disconnected

  /// Whether an attempt is under way.
  var isConnecting: Bool { self == .connecting }
}

extension VideoCodec {
  /// The codec itself; nil where the server chooses.
  var kind: VideoCodecKind? { VideoCodecKind(encodingName: rawValue) }
}
