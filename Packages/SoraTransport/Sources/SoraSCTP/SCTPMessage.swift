/// A message of the peer.
public struct SCTPMessage: Sendable, Hashable {
  public var stream: UInt16
  /// The payload protocol identifier, which says what the bytes are (RFC 8831 §8).
  public var ppid: UInt32
  /// Whether it came without regard to the order of others.
  public var isUnordered: Bool
  /// The bytes. Whoever gives them back with ``SCTPAssociation/recycle(_:)`` saves the next message an allocation.
  public var payload: [UInt8]

  public init(stream: UInt16, ppid: UInt32, isUnordered: Bool = false, payload: [UInt8]) {
    self.stream = stream
    self.ppid = ppid
    self.isUnordered = isUnordered
    self.payload = payload
  }
}

/// How a message is sent.
public struct SCTPSendOptions: Sendable, Hashable {
  /// Whether it may be delivered before messages that were sent earlier on its stream.
  public var isUnordered = false
  /// How often each of its parts may be sent again before it is given up (RFC 7496 §3.1); `nil` for no limit.
  public var maximumRetransmissions: UInt16?
  /// How long it may take, from now on, before it is given up (RFC 3758 §4.1); `nil` for no limit.
  public var lifetime: Duration?
  /// Comes back in ``SCTPEvent/sendFailed(stream:token:)``, if the message was given up; 0 for no event.
  public var token: UInt64 = 0

  public init(
    isUnordered: Bool = false, maximumRetransmissions: UInt16? = nil, lifetime: Duration? = nil,
    token: UInt64 = 0
  ) {
    self.isUnordered = isUnordered
    self.maximumRetransmissions = maximumRetransmissions
    self.lifetime = lifetime
    self.token = token
  }
}

/// Why a message wasn't taken.
public enum SCTPSendError: Error, Hashable, Sendable {
  /// The association has ended or is being shut down.
  case notConnected
  /// SCTP has no messages without a byte (RFC 9260 §3.3.1); RFC 8831 §6.6 says what stands for one.
  case empty
  case messageTooLarge(count: Int, limit: Int)
  /// More than `sendBufferLimit` would wait. ``SCTPEvent/sendBufferLow`` says when half of them are gone.
  case bufferFull(limit: Int)
  /// There is no such stream; `limit` is how many there are.
  case noSuchStream(UInt16, limit: UInt16)
  /// The stream is being reset.
  case streamClosing(UInt16)
}

/// Why streams can't be reset.
public enum SCTPResetError: Error, Hashable, Sendable {
  case notConnected
  /// The peer doesn't know RFC 6525, or this end was made without it.
  case unsupported
}
