public import SoraMedia
public import SoraSignalingMessages
public import SoraTransport

// What somebody outside of the channels asks of some connections.
extension SFUCore {
  /// Sends data to connections.
  ///
  /// - Returns: how many it went to.
  @discardableResult
  public func push(_ data: JSONValue, to selection: SFUSelection, at now: Instant) -> Int {
    defer { deliver(at: now) }
    let chosen = connections.filter { $0.isConnected && $0.isIn(selection) }
    for connection in chosen {
      connection.tell(.push(data), at: now)
      touch(connection)
    }
    return chosen.count
  }

  /// Ends connections as Sora's API does.
  ///
  /// - Returns: how many there were.
  @discardableResult
  public func disconnect(
    _ selection: SFUSelection, reason: String? = nil, at now: Instant
  ) -> Int {
    defer { deliver(at: now) }
    let all = connections.filter { $0.isIn(selection) }
    let close = SFUClose(code: 1000, reason: reason ?? "DISCONNECTED-API")
    for connection in all { end(connection, close, reason: close.reason, at: now) }
    return all.count
  }

  /// Has a connection be sent another layer of simulcasts.
  ///
  /// - Parameters:
  ///   - rid: the layer, or `none`.
  ///   - channelID: the channel of both.
  ///   - receiver: the connection's id.
  ///   - sender: whose simulcast; nil for all.
  ///   - now: when it is asked for.
  /// - Returns: whether both are in the channel.
  @discardableResult
  public func requestSimulcastRid(
    _ rid: SignalingRid, channelID: String, receiver: String, sender: String?, at now: Instant
  ) -> Bool {
    defer { deliver(at: now) }
    guard let channel = channel(channelID), let connection = channel.member(receiver),
      sender.map({ channel.member($0) != nil }) ?? true
    else { return false }
    connection.request(rid, of: sender, at: now)
    return true
  }

  /// Asks a connection's publisher for a key frame. False where there is no such connection.
  @discardableResult
  public func requestKeyFrame(connectionID: String, at now: Instant) -> Bool {
    guard let connection = directory.connection(id: connectionID), !connection.isEnded else {
      return false
    }
    for track in connection.uplink.tracks {
      for layer in track.layers { connection.requestKeyFrame(of: layer, at: now) }
    }
    return true
  }

  /// Names of the channels, in the order of their making.
  public var channelIDs: [String] { channels.map(\.id) }

  /// A channel's session; nil where nobody is in it.
  public func sessionID(channelID: String) -> String? {
    channel(channelID)?.sessionID
  }

  /// All connections, in the order of their `connect`.
  public var status: [SFUConnectionStatus] { connections.map(\.status) }

  /// Some connections, in the order of their `connect`.
  public func status(of selection: SFUSelection) -> [SFUConnectionStatus] {
    connections.filter { $0.isIn(selection) }.map(\.status)
  }

  /// What statistics say of a connection's data channels; nil where it has none.
  public func dataReport(connectionID: String) -> DataReport? {
    directory.connection(id: connectionID)?.signaling.channels?.report
  }
}
