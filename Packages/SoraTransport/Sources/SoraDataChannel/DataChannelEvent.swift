public import SoraSCTP

/// Names one channel of a session, for as long as that lives: numbers of streams come again.
public struct DataChannelID: Hashable, Sendable, CustomStringConvertible {
  let number: Int

  public var description: String { "#\(number)" }
}

/// What happened to a session and its channels, in order.
public enum DataChannelEvent: Hashable, Sendable {
  /// The association is there.
  case connected(SCTPCapabilities)
  /// The peer has opened a channel on this stream; it is open.
  case announced(DataChannelID, DataChannelParameters, stream: UInt16)
  /// A channel of this end can be sent on, on this stream.
  case opened(DataChannelID, stream: UInt16)
  /// The peer has said that it knows a channel of this end (RFC 8832 §5.2).
  case acknowledged(DataChannelID)
  /// A message of the peer.
  case message(DataChannelID, DataChannelMessage)
  /// What waits on a channel has fallen to its threshold.
  case bufferedAmountLow(DataChannelID)
  /// `send` has thrown `bufferFull`, and half of the limit is free now.
  case sendBufferLow
  /// The peer closes the channel: nothing can be sent on it any more, and nothing comes.
  case closing(DataChannelID)
  /// The channel is gone, for this reason where nobody wanted that.
  case closed(DataChannelID, DataChannelFailure?)
  /// The association is gone, with all channels before; nil where an end wanted that.
  case disconnected(SCTPAbortReason?)
}

/// A message of the peer.
public struct DataChannelMessage: Sendable, Hashable {
  /// Whether it was sent as text, which then is UTF-8 by the peer's word only.
  public var isText: Bool
  /// The bytes. Whoever gives them back with ``DataChannelSession/recycle(_:)`` saves the next message an allocation.
  public var payload: [UInt8]

  public init(isText: Bool, payload: [UInt8]) {
    self.isText = isText
    self.payload = payload
  }
}

/// Why a channel ended that nobody closed.
public enum DataChannelFailure: Error, Hashable, Sendable {
  /// The association ended.
  case associationEnded(SCTPAbortReason?)
  /// The peer began a new association.
  case associationRestarted
  /// There is no stream for it: the peer takes `limit` at most, and they are in use.
  case noStream(limit: UInt16)
  /// The peer refused to reset its streams.
  case resetRefused
}

/// Why a channel wasn't opened, or a message not taken.
public enum DataChannelError: Error, Hashable, Sendable {
  /// The session has ended.
  case sessionEnded
  /// A label or protocol of more than 65,535 bytes.
  case nameTooLong
  /// The stream that was agreed on is in use, or 65535, which none can have (RFC 8832 §4).
  case streamInUse(UInt16)
  /// There is no such channel, or it isn't open.
  case notOpen
  /// The peer takes no messages this large.
  case messageTooLarge(count: Int, limit: Int)
  /// More bytes than the session's limit would wait. ``DataChannelEvent/sendBufferLow`` says when half of them are gone.
  case bufferFull(limit: Int)
}
