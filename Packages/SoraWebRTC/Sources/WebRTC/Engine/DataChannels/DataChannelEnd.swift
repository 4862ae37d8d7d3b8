import SoraDataChannel

/// What the loop knows of the owner of a data channel. Called on the loop.
protocol DataChannelEnd: AnyObject, Sendable {
  /// What waits to be sent.
  var outbox: DataChannelOutbox { get }
  /// The channel's state, with its stream where that has become known.
  func update(_ state: DataChannelState, stream: UInt16?)
  /// - Returns: whether the connection is to take nothing more for now.
  func receive(_ message: DataMessage) -> Bool
  /// Bytes that wait for a reader who has begun to read.
  var unread: Int { get }
  /// Closes the channel and forgets what waits: its reader holds up all others.
  func abandon()
  /// How many bytes of those that were taken from the outbox haven't left.
  func update(handed: Int)
}
