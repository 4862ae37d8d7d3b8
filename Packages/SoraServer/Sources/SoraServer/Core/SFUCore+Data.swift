public import SoraDataChannel
public import SoraMedia
public import SoraTransport
import SoraWire

// Data channels of connections, for those that have asked for them. What happens on them is the delegate's to hear.
extension SFUCore {
  /// Makes a channel to a client; it opens when there is a connection.
  ///
  /// - Returns: its name; nil where there is no such connection, or it has no channels.
  public func openDataChannel(
    _ parameters: DataChannelParameters, connectionID: String, at now: Instant
  ) throws(DataChannelError) -> DataChannelID? {
    try withData(connectionID, at: now) { data throws(DataChannelError) in
      try data.open(parameters, at: now)
    }
  }

  /// Sends a message on a channel that is open.
  ///
  /// - Returns: whether there is such a connection, with channels.
  @discardableResult
  public func send(
    _ payload: [UInt8], isText: Bool, on channel: DataChannelID, connectionID: String,
    at now: Instant
  ) throws(DataChannelError) -> Bool {
    try withData(connectionID, at: now) { data throws(DataChannelError) in
      try data.send(payload.rawSpan, isText: isText, on: channel, at: now)
    } != nil
  }

  /// Closes a channel when all that waits on it has been sent.
  public func closeDataChannel(_ channel: DataChannelID, connectionID: String, at now: Instant) {
    withData(connectionID, at: now) { $0.close(channel, at: now) }
  }

  /// What statistics say of a connection's channels.
  public func dataReport(connectionID: String) -> DataReport? {
    connection(id: connectionID)?.data?.report
  }

  @discardableResult
  private func withData<Result, Failure>(
    _ connectionID: String, at now: Instant, _ body: (DataTransport) throws(Failure) -> Result
  ) throws(Failure) -> Result? {
    guard let connection = connection(id: connectionID), let data = connection.data else {
      return nil
    }
    defer {
      touch(connection)
      deliver(at: now)
    }
    return try body(data)
  }
}
