public import SoraMedia

// A server that is about to go takes nobody any more.
extension SFUCore {
  /// Where clients go that come while the server ends.
  struct Drain {
    /// The signaling URL of another server; nil for none.
    var location: String?
  }

  /// Takes no further connection. Those that there are go on until `shutdown`.
  ///
  /// - Parameters:
  ///   - location: the signaling URL of another server, to which clients are sent (`redirect`): those that come, and at `shutdown` those
  ///     that are still there. nil closes who comes with 1001.
  ///   - now: when it begins.
  public func drain(to location: String?, at now: Instant) {
    defer { deliver(at: now) }
    drain = Drain(location: location)
    // With another server a client is answered once it has sent `connect`: before that, it expects nothing.
    guard location == nil else { return }
    for peer in removeUnconnected() { emit(.close(.shutdown), to: peer) }
  }

  /// Ends every connection with 1001, as the server goes; behind `drain` it sends them to the other server before that.
  public func shutdown(at now: Instant) {
    defer { deliver(at: now) }
    let close = SFUClose.shutdown
    for connection in connections {
      if let location = drain?.location, connection.signaling.hasWebSocket {
        emit(.redirect(location), to: connection.signaling.peer)
      }
      end(connection, close, reason: close.reason, at: now)
    }
    for peer in removeUnconnected() { emit(.close(close), to: peer) }
  }

  /// Whether no further connections are taken.
  public var isDraining: Bool { drain != nil }

  /// The signaling URL of the server that clients are sent to; nil while they are taken, and where there is none.
  var drainLocation: String? { drain?.location }

  /// Answers a client that came too late.
  func sendElsewhere(_ peer: SFUPeerID, at now: Instant) {
    guard let location = drain?.location else { return refuse(peer, .shutdown, at: now) }
    send(peer, to: location, at: now)
  }

  /// Sends a client to another server.
  func send(_ peer: SFUPeerID, to location: String, at now: Instant) {
    emit(.redirect(location), to: peer)
    // Clients of the official C++ SDK wait for the server's close frame.
    refuse(peer, SFUClose(code: 1000, reason: "REDIRECT"), at: now)
  }
}
