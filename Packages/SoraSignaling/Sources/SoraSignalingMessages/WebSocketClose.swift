/// How a WebSocket ended.
public struct WebSocketClose: Sendable, Hashable {
  /// The peer's code; 1005 when its frame had none, 1006 when there was no frame.
  public var code: WebSocketCloseCode
  public var reason: String
  /// What went wrong, when it did not end with a close frame.
  public var error: SignalingError?

  public init(code: WebSocketCloseCode, reason: String = "", error: SignalingError? = nil) {
    self.code = code
    self.reason = reason
    self.error = error
  }
}
