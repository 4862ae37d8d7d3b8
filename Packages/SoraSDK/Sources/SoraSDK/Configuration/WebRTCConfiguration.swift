import WebRTC

/// Constraints in the libwebrtc style; empty unless decoded.
public struct MediaConstraints: Codable, Sendable, Equatable {
  public var mandatory: [String: String] = [:]
  public var optional: [String: String] = [:]

  init() {}

  var native: RTCMediaConstraints {
    RTCMediaConstraints(mandatoryConstraints: mandatory, optionalConstraints: optional)
  }
}

/// How SDP describes several tracks.
public enum SDPSemantics: String, Codable, Sendable {
  case unifiedPlan
}

/// What to give up first when the encoder or the network can't keep up.
public enum DegradationPreference: Sendable {
  case disabled
  case balanced
  case maintainFramerate
  case maintainResolution

  var native: RTCDegradationPreference {
    switch self {
    case .disabled: .disabled
    case .balanced: .balanced
    case .maintainFramerate: .maintainFramerate
    case .maintainResolution: .maintainResolution
    }
  }
}

/// Which candidates may be used.
public enum ICETransportPolicy: String, CustomStringConvertible, Codable, Sendable {
  /// Only what a TURN server relays.
  case relay
  /// Everything. The official SDK decodes only `relay`; this one takes both.
  case all

  public var description: String { rawValue }
}

/// Settings of the peer connection.
public struct WebRTCConfiguration: Codable, Sendable {
  public var constraints = MediaConstraints()
  /// Replaced by what the server's offer says.
  public var iceServerInfos: [ICEServerInfo] = []
  /// Replaced by what the server's offer says.
  public var iceTransportPolicy: ICETransportPolicy = .relay
  public var sdpSemantics: SDPSemantics = .unifiedPlan
  /// Applied to the video sender once its track is attached. Not coded.
  public var degradationPreference: DegradationPreference?
  /// Bits a sample of AV1 video that is sent, 8 or 10; nil is 8. Not coded, and not of the official SDK. The receivers must decode 10, which
  /// those over libwebrtc don't. For VP9 with 10 bits ask for its profile 2 with `Configuration.videoVp9Params`.
  public var videoBitDepth: Int?

  public init() {}

  private enum CodingKeys: String, CodingKey {
    case constraints, iceServerInfos, iceTransportPolicy, sdpSemantics
  }

  /// Whether nothing was changed: such an argument of `connect` leaves the configuration's own in force.
  var isDefault: Bool {
    constraints == MediaConstraints() && iceServerInfos.isEmpty && iceTransportPolicy == .relay
      && degradationPreference == nil && videoBitDepth == nil
  }

  /// The peer connection's settings, before the offer's own are known.
  var native: RTCConfiguration {
    var native = RTCConfiguration()
    native.iceServers = iceServerInfos.map(\.native)
    // Without a server nothing can be relayed: a server's offer that has no configuration wants none.
    native.iceTransportPolicy =
      iceTransportPolicy == .relay && !iceServerInfos.isEmpty ? .relay : .all
    return native
  }
}
