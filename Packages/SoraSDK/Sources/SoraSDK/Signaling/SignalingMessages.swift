import SoraSignaling

/// What a connection does in its channel, as signaling writes it.
public enum SignalingRole: String, Codable, Sendable {
  case sendonly
  case recvonly
  case sendrecv

  init(_ role: SoraSignaling.SignalingRole) {
    switch role {
    case .sendonly: self = .sendonly
    case .recvonly: self = .recvonly
    case .sendrecv: self = .sendrecv
    }
  }

  var message: SoraSignaling.SignalingRole {
    switch self {
    case .sendonly: .sendonly
    case .recvonly: .recvonly
    case .sendrecv: .sendrecv
    }
  }
}

/// The client's answer to the first offer. Can only be encoded.
public struct SignalingAnswer: Codable, Sendable {
  public let sdp: String

  init(sdp: String) { self.sdp = sdp }

  public init(from decoder: any Decoder) throws { throw SoraError.invalidSignalingMessage }

  public func encode(to encoder: any Encoder) throws {
    try SignalingCoding.encode(.answer(AnswerMessage(sdp: sdp)), to: encoder)
  }
}

/// A local candidate of the client. Can only be encoded.
public struct SignalingCandidate: Codable, Sendable {
  public let candidate: ICECandidate

  init(candidate: ICECandidate) { self.candidate = candidate }

  public init(from decoder: any Decoder) throws { throw SoraError.invalidSignalingMessage }

  public func encode(to encoder: any Encoder) throws {
    try SignalingCoding.encode(
      .candidate(CandidateMessage(candidate: candidate.sdp)), to: encoder)
  }
}

/// The older form of renegotiation, the same type both ways.
public struct SignalingUpdate: Codable, Sendable {
  public let sdp: String
  init(sdp: String) { self.sdp = sdp }
}

/// The server's renegotiation.
public struct SignalingReOffer: Codable, Sendable {
  public let sdp: String
  init(sdp: String) { self.sdp = sdp }
}

/// The client's answer to a renegotiation.
public struct SignalingReAnswer: Codable, Sendable {
  public let sdp: String
  init(sdp: String) { self.sdp = sdp }
}

/// Data that an application pushed through the server. Can only be decoded.
public struct SignalingPush: Codable, Sendable {
  private var freeForm: FreeForm

  /// What was pushed, in the types of `JSONSerialization`.
  public var data: Any? {
    get { freeForm.object }
    set { freeForm = FreeForm(object: newValue) }
  }

  init(_ message: PushMessage) { freeForm = FreeForm(json: message.data) }

  public init(from decoder: any Decoder) throws {
    guard case .push(let message) = try SignalingCoding.message("push", from: decoder) else {
      throw SoraError.invalidSignalingMessage
    }
    self.init(message)
  }

  public func encode(to encoder: any Encoder) throws { throw SoraError.invalidSignalingMessage }
}

/// Signaling goes over data channels from now on.
public struct SignalingSwitched: Decodable, Sendable {
  /// Whether the connection outlives its WebSocket; a message that doesn't say it means false.
  public var ignoreDisconnectWebSocket: Bool?

  init(_ message: SwitchedMessage) {
    ignoreDisconnectWebSocket = message.ignoreDisconnectWebSocket
  }

  public init(from decoder: any Decoder) throws {
    guard case .switched(let message) = try SignalingCoding.message("switched", from: decoder)
    else {
      throw SoraError.invalidSignalingMessage
    }
    self.init(message)
  }
}

/// The server's request to connect to another node of its cluster.
public struct SignalingRedirect: Decodable, Sendable {
  /// The signaling URL of that node.
  public var location: String

  init(_ message: RedirectMessage) { location = message.location }
}

/// The server ends the connection. Can only be decoded.
public struct SignalingClose: Decodable, Sendable {
  /// 1000 where there is nothing wrong.
  public let code: Int
  /// Such as `LIFETIME-EXPIRED`.
  public let reason: String

  init(_ message: CloseMessage) {
    code = message.code
    reason = message.reason
  }

  public init(from decoder: any Decoder) throws {
    guard case .close(let message) = try SignalingCoding.message("close", from: decoder) else {
      throw SoraError.invalidSignalingMessage
    }
    self.init(message)
  }
}

/// The server's keep-alive. Can only be decoded.
public struct SignalingPing: Codable, Sendable {
  /// Whether the `pong` shall carry statistics.
  public var statisticsEnabled: Bool?

  init(_ message: PingMessage) { statisticsEnabled = message.statisticsEnabled }

  public init(from decoder: any Decoder) throws {
    guard case .ping(let message) = try SignalingCoding.message("ping", from: decoder) else {
      throw SoraError.invalidSignalingMessage
    }
    self.init(message)
  }

  public func encode(to encoder: any Encoder) throws { throw SoraError.invalidSignalingMessage }
}

/// The client's reply to a `ping`. Can only be encoded.
public struct SignalingPong: Codable, Sendable {
  init() {}

  public init(from decoder: any Decoder) throws { throw SoraError.invalidSignalingMessage }

  public func encode(to encoder: any Encoder) throws {
    try SignalingCoding.encode(.pong(PongMessage()), to: encoder)
  }
}

/// The client leaves. Can only be encoded.
public struct SignalingDisconnect: Codable, Sendable {
  /// `NO-ERROR` when the user leaves.
  public var reason: String?

  init(reason: String?) { self.reason = reason }

  public init(from decoder: any Decoder) throws { throw SoraError.invalidSignalingMessage }

  public func encode(to encoder: any Encoder) throws {
    try SignalingCoding.encode(.disconnect(DisconnectMessage(reason: reason)), to: encoder)
  }
}
