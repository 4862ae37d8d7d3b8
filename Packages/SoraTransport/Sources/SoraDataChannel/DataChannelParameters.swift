/// What a data channel is made with (RFC 8831 §6.4, RFC 8832 §5.1).
public struct DataChannelParameters: Sendable, Hashable {
  /// A name for the application; not unique. At most 65,535 bytes of UTF-8.
  public var label: String
  /// What the application speaks over it (a WebSocket subprotocol's name); at most 65,535 bytes of UTF-8.
  public var `protocol`: String
  /// Whether messages come in the order in which they were sent.
  public var isOrdered: Bool
  /// Until when a message is sent again.
  public var reliability: DataChannelReliability
  /// Its weight among the channels that have messages to send.
  public var priority: DataChannelPriority

  public init(
    label: String, protocol: String = "", isOrdered: Bool = true,
    reliability: DataChannelReliability = .reliable, priority: DataChannelPriority = .normal
  ) {
    self.label = label
    self.protocol = `protocol`
    self.isOrdered = isOrdered
    self.reliability = reliability
    self.priority = priority
  }
}

/// Until when a message that was lost is sent again (RFC 8831 §6.1, RFC 3758).
public enum DataChannelReliability: Sendable, Hashable {
  /// Until it has come.
  case reliable
  /// As often as this at most.
  case maximumRetransmits(UInt16)
  /// For this many milliseconds at most.
  case maximumLifetime(milliseconds: UInt32)
}

/// The weight of a data channel among others (RFC 8831 §6.4).
public struct DataChannelPriority: Sendable, Hashable, RawRepresentable {
  public var rawValue: UInt16

  public init(rawValue: UInt16) { self.rawValue = rawValue }

  public static let belowNormal = DataChannelPriority(rawValue: 128)
  public static let normal = DataChannelPriority(rawValue: 256)
  public static let high = DataChannelPriority(rawValue: 512)
  public static let extraHigh = DataChannelPriority(rawValue: 1024)
}
