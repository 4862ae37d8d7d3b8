public import Foundation

/// A close code of a WebSocket (RFC 6455 §7.4), or one of Sora's own such as 4490.
public enum WebSocketStatusCode: Sendable, Equatable {
  /// 1000
  case normal
  /// 1001
  case goingAway
  /// 1002
  case protocolError
  /// 1003
  case unhandledType
  /// 1005: the close frame had no code.
  case noStatusReceived
  /// 1006: the connection ended without a close frame.
  case abnormal
  /// 1007
  case invalidUTF8
  /// 1008
  case policyViolated
  /// 1009
  case messageTooBig
  /// 1010
  case missingExtension
  /// 1011
  case internalError
  /// 1012
  case serviceRestart
  /// 1013
  case tryAgainLater
  /// 1015
  case tlsHandshake
  /// Any other number.
  case other(Int)

  private static let named: [(code: Self, number: Int)] = [
    (.normal, 1000), (.goingAway, 1001), (.protocolError, 1002), (.unhandledType, 1003),
    (.noStatusReceived, 1005), (.abnormal, 1006), (.invalidUTF8, 1007), (.policyViolated, 1008),
    (.messageTooBig, 1009), (.missingExtension, 1010), (.internalError, 1011),
    (.serviceRestart, 1012), (.tryAgainLater, 1013), (.tlsHandshake, 1015),
  ]

  /// The code with this number. Never fails: unnamed numbers become `other`.
  public init(rawValue: Int) {
    self = Self.named.first { $0.number == rawValue }?.code ?? .other(rawValue)
  }

  /// The number.
  public func intValue() -> Int {
    if case .other(let number) = self { return number }
    return Self.named.first { $0.code == self }?.number ?? 0
  }
}

/// A message of a WebSocket, whole.
public enum WebSocketMessage: Sendable, Equatable {
  case text(String)
  case binary(Data)
}

/// Handlers of the signaling WebSocket.
public final class WebSocketChannelHandlers: Sendable {
  private struct Values: Sendable {
    var onReceive: Handler<@isolated(any) (WebSocketMessage) -> Void>?
  }

  private let values = Locked(Values())

  /// Every message, before the SDK acts on it. Ahead of `onReceiveSignaling`, and where that runs (`MediaChannelHandlers`).
  public var onReceive: (@isolated(any) (WebSocketMessage) -> Void)? {
    get { values.onReceive?.call }
    set { values.onReceive = Handler(newValue) }
  }

  public init() {}
}
