/// How far an attempt has come, for messages and measurements. Linux only.
public enum ConnectStage: Int, Sendable, Comparable, CustomStringConvertible {
  /// Opening the signaling WebSocket.
  case webSocket
  /// `connect` was sent, the server's offer is awaited.
  case offer
  /// Descriptions are being made and applied.
  case negotiation
  /// The answer was sent; ICE looks for a path and DTLS agrees on keys.
  case transport
  /// Media can flow.
  case connected

  public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }

  public var description: String {
    switch self {
    case .webSocket: "opening the signaling WebSocket"
    case .offer: "waiting for the server's offer"
    case .negotiation: "negotiating the session"
    case .transport: "connecting ICE and DTLS"
    case .connected: "connected"
    }
  }
}
