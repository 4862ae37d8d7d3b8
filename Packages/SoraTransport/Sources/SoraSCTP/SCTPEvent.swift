/// What happened to an association, in order. After `closed` and `aborted` nothing further comes.
public enum SCTPEvent: Hashable, Sendable {
  /// Messages flow; says what both ends can do.
  case connected(SCTPCapabilities)
  /// A message of the peer. Those that aren't taken close the window that the peer has.
  case message(SCTPMessage)
  /// The peer began anew with the same addresses (RFC 9260 §5.2). What wasn't acknowledged is sent again to the new association; streams
  /// count from 0.
  case restarted
  /// The peer has reset what it sends on these streams: all of it has been delivered. An empty list stands for all streams.
  case incomingStreamsReset([UInt16])
  /// The peer has taken the reset of what this end sends on these streams.
  case outgoingStreamsReset([UInt16])
  /// The peer has refused to reset these streams.
  case streamsResetFailed([UInt16])
  /// What waits on a stream has fallen to its threshold.
  case bufferedAmountLow(stream: UInt16)
  /// `send` has thrown `bufferFull`, and half of the limit is free now.
  case sendBufferLow
  /// A message with a token was given up before all of it was acknowledged.
  case sendFailed(stream: UInt16, token: UInt64)
  /// The association has ended as either end wanted: all messages were delivered.
  case closed
  /// The association has ended for this reason; messages may be lost.
  case aborted(SCTPAbortReason)
}

/// What both ends of an association can do.
public struct SCTPCapabilities: Hashable, Sendable {
  /// Streams that this end may send on, and the peer.
  public var outgoingStreams: UInt16
  public var incomingStreams: UInt16
  public var partialReliability: Bool
  public var streamReset: Bool
  public var interleaving: Bool
  /// Whether this end leaves out checksums.
  public var zeroChecksum: Bool
}

/// Why an association ended before its time.
public enum SCTPAbortReason: Error, Hashable, Sendable {
  /// The peer sent an ABORT with this cause code (RFC 9260 §3.3.10), if any, and these words, if any.
  case byPeer(cause: UInt16?, text: String)
  /// This end was told to.
  case byUser
  /// The peer didn't answer.
  case timeout(SCTPTimeoutStage)
  /// The peer broke the protocol.
  case protocolViolation(String)
  /// A message of the peer is larger than this end takes, or than its window.
  case messageTooLarge(limit: Int)
}

/// What an answer was awaited to.
public enum SCTPTimeoutStage: Hashable, Sendable {
  case initiation, cookie, data, heartbeat, shutdown, streamReset
}

/// How far an association is.
public enum SCTPAssociationState: Hashable, Sendable {
  /// Before `connect` or the peer's INIT.
  case idle
  case connecting
  case connected
  case shuttingDown
  case ended
}
