/// A close code (RFC 6455 §7.4), or one that Sora or an application made up (3000 to 4999).
public struct WebSocketCloseCode: RawRepresentable, Sendable, Hashable,
  ExpressibleByIntegerLiteral, CustomStringConvertible
{
  public var rawValue: UInt16

  public init(rawValue: UInt16) { self.rawValue = rawValue }
  public init(integerLiteral value: UInt16) { rawValue = value }

  public static let normal: Self = 1000
  public static let goingAway: Self = 1001
  public static let protocolError: Self = 1002
  public static let unsupportedData: Self = 1003
  /// Never on the wire: the peer's close frame had no code.
  public static let noStatusReceived: Self = 1005
  /// Never on the wire: the connection ended without a close frame.
  public static let abnormal: Self = 1006
  public static let invalidUTF8: Self = 1007
  public static let policyViolation: Self = 1008
  public static let messageTooBig: Self = 1009
  public static let internalError: Self = 1011
  public static let tryAgainLater: Self = 1013
  /// Sora's code for a `connect` that it refuses.
  public static let signalingError: Self = 4490

  /// Whether a close frame may carry it.
  public var isSendable: Bool {
    switch rawValue {
    case 1000...1003, 1007...1014, 3000...4999: true
    default: false
    }
  }

  public var description: String { String(rawValue) }
}
