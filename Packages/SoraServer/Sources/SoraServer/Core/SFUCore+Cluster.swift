public import SoraMedia

// Channels may be on other servers.
extension SFUCore {
  /// Sends a client that was examined to another server (`redirect`, then 1000).
  ///
  /// - Parameters:
  ///   - peer: the client.
  ///   - location: the other server's signaling URL.
  ///   - now: the time.
  public func redirect(_ peer: SFUPeerID, to location: String, at now: Instant) {
    defer { deliver(at: now) }
    guard isUnconnected(peer) else { return }
    send(peer, to: location, at: now)
  }

  /// Turns away a client that was examined, and that may come again.
  ///
  /// - Parameters:
  ///   - peer: the client.
  ///   - reason: for the client; begins with a fixed word.
  ///   - now: the time.
  public func putOff(_ peer: SFUPeerID, reason: String, at now: Instant) {
    defer { deliver(at: now) }
    guard isUnconnected(peer) else { return }
    refuse(peer, SFUClose(code: 1013, reason: reason), at: now)
  }

  /// Another server has the channel now: its connections end with 1001, so that they come again and are sent there.
  ///
  /// - Parameters:
  ///   - channelID: the channel.
  ///   - now: the time.
  public func giveUp(channelID: String, at now: Instant) {
    defer { deliver(at: now) }
    let close = SFUClose(code: 1001, reason: "CHANNEL-MOVED")
    for connection in connections where connection.channel.id == channelID {
      end(connection, close, reason: close.reason, at: now)
    }
  }
}
