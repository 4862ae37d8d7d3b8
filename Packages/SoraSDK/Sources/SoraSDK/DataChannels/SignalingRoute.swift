/// Over what a message of signaling goes.
enum SignalingTransport: Sendable {
  case webSocket, dataChannel
}

/// Where a connection's signaling has its way: first on the WebSocket alone, and after `switched` on data channels, with or without a
/// WebSocket beside them.
struct SignalingRoute: Sendable {
  private enum Phase {
    case webSocket
    /// The server has switched; its channels aren't all there yet.
    case switching(ignoresWebSocket: Bool)
    case dataChannels(ignoresWebSocket: Bool)
  }

  /// What the end of the WebSocket means to the connection.
  enum WebSocketEnd {
    /// The connection's end.
    case end
    /// Its end, of which the server is told over the data channels.
    case endWithFarewell
    /// Nothing: it goes on without.
    case nothing
  }

  private var phase = Phase.webSocket
  private(set) var isWebSocketOpen = true

  /// Where what this side says of itself goes.
  var preferred: SignalingTransport {
    if case .dataChannels = phase { .dataChannel } else { .webSocket }
  }

  /// The server has said `switched`.
  ///
  /// - Returns: whether it is the first time.
  mutating func switched(ignoresWebSocket: Bool) -> Bool {
    guard case .webSocket = phase else { return false }
    phase = .switching(ignoresWebSocket: ignoresWebSocket)
    return true
  }

  /// The channels can be used.
  ///
  /// - Returns: whether the WebSocket isn't needed any more; nil where there is no switch to complete.
  mutating func complete() -> Bool? {
    guard case .switching(let ignoresWebSocket) = phase else { return nil }
    phase = .dataChannels(ignoresWebSocket: ignoresWebSocket)
    return ignoresWebSocket
  }

  mutating func webSocketEnded() -> WebSocketEnd {
    isWebSocketOpen = false
    return switch phase {
    case .webSocket: .end
    case .switching(true), .dataChannels(true): .nothing
    case .switching(false), .dataChannels(false): .endWithFarewell
    }
  }
}
