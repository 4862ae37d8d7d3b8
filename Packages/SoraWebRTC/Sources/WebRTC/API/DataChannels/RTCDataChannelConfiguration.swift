public import Foundation
import SoraDataChannel

/// What a data channel is made with (W3C `RTCDataChannelInit`).
public final class RTCDataChannelConfiguration {
  /// Whether messages come in the order in which they were sent.
  public var isOrdered = true
  /// Milliseconds for which a message is sent again, 0 to 65,535; -1 for no limit. Not beside `maxRetransmits`.
  public var maxPacketLifeTime: Int32 = -1
  /// How often a message is sent again, 0 to 65,535; -1 for no limit. Not beside `maxPacketLifeTime`.
  public var maxRetransmits: Int32 = -1
  /// Whether both sides make the channel, with the same `channelId`, without a word between them.
  public var isNegotiated = false
  /// The channel's stream, 0 to 65,534: of negotiated channels alone.
  public var channelId: Int32 = -1
  /// What is spoken over the channel.
  public var `protocol` = ""
  /// The channel's weight among others (W3C webrtc-priority). Not libwebrtc's.
  public var priority = RTCPriorityType.low

  public init() {}

  /// What the engine makes of it; nil where values contradict each other or are out of range (W3C webrtc §6.1, `createDataChannel`).
  func parameters(label: String) -> (DataChannelParameters, stream: UInt16?)? {
    guard label.utf8.count <= Int(UInt16.max), `protocol`.utf8.count <= Int(UInt16.max),
      maxPacketLifeTime < 0 || maxRetransmits < 0
    else { return nil }
    var parameters = DataChannelParameters(
      label: label, protocol: `protocol`, isOrdered: isOrdered, priority: priority.ofChannels)
    if maxPacketLifeTime >= 0 {
      guard let milliseconds = UInt16(exactly: maxPacketLifeTime) else { return nil }
      parameters.reliability = .maximumLifetime(milliseconds: UInt32(milliseconds))
    } else if maxRetransmits >= 0 {
      guard let count = UInt16(exactly: maxRetransmits) else { return nil }
      parameters.reliability = .maximumRetransmits(count)
    }
    guard isNegotiated else { return (parameters, nil) }
    guard let stream = UInt16(exactly: channelId), stream < UInt16.max else { return nil }
    return (parameters, stream)
  }
}

/// How much something weighs beside others (W3C webrtc-priority).
public enum RTCPriorityType: Int, Sendable {
  case veryLow, low, medium, high

  /// RFC 8831 §6.4, in the order of W3C webrtc-priority §4.3.
  fileprivate var ofChannels: DataChannelPriority {
    switch self {
    case .veryLow: .belowNormal
    case .low: .normal
    case .medium: .high
    case .high: .extraHigh
    }
  }
}

/// A message of a data channel.
public struct RTCDataBuffer: Sendable, Hashable {
  /// Its bytes: of text, UTF-8. A received text's are as the other side sent them, which nobody has checked.
  public var data: Data
  /// Whether it is binary and not text.
  public var isBinary: Bool

  public init(data: Data, isBinary: Bool) {
    self.data = data
    self.isBinary = isBinary
  }

  /// A text.
  public init(text: String) { self.init(data: Data(text.utf8), isBinary: false) }

  /// A text's characters; nil where it isn't UTF-8, or binary.
  public var text: String? { isBinary ? nil : String(validating: data, as: UTF8.self) }
}

/// Why a message wasn't sent.
public enum RTCDataChannelError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The channel is in this state.
  case notOpen(RTCDataChannelState)
  /// The other side takes none this large, or it is larger than all that may wait.
  case messageTooLarge(count: Int, limit: Int)
  /// More bytes would wait than may.
  case bufferFull(limit: Int)

  public var description: String {
    switch self {
    case .notOpen(let state): "The data channel is \(state): messages can be sent while it is open"
    case .messageTooLarge(let count, let limit):
      "A message of \(count) bytes is too large: the limit is \(limit) (the other side's a=max-message-size, or what may wait)"
    case .bufferFull(let limit):
      "More than \(limit) bytes would wait: send slower, by `send` or `bufferedAmount`"
    }
  }
}
