public import SoraMedia
public import SoraWire

extension ICEGatherer {
  /// What a datagram or a message of a stream turned out to be.
  public enum Received {
    /// From a server, for the gatherer.
    case handled
    /// Not from a server, or not for us: the agent's.
    case notMine
    /// What a peer sent to a relayed address: where it lies in the bytes that were given.
    case relayed(Range<Int>, from: TransportAddress, on: TransportAddress)
  }

  /// Takes a datagram of our sockets, if it comes from a server. The bytes are lent for the call.
  public func receive(
    _ bytes: RawSpan, from remote: TransportAddress,
    on local: TransportAddress, at now: Instant
  ) -> Received {
    for relay in relays where relay.base == local && relay.client.server == remote {
      switch relay.client.receive(bytes, at: now) {
      case .handled:
        settle(at: now)
        return .handled
      case .data(let payload, let peer):
        guard let address = relay.address else {
          droppedHere.noAllocation += 1
          return .handled
        }
        return .relayed(payload, from: peer, on: address)
      case .notMine: break
      }
    }
    for binding in bindings where binding.base == local && binding.client.server == remote {
      if binding.client.receive(bytes, at: now) {
        settle(at: now)
        return .handled
      }
    }
    return .notMine
  }

  /// A stream that `.openStream` asked for is open.
  public func streamOpened(_ stream: Int, at now: Instant) {
    guard let relay = relay(of: stream), !relay.isOpen else { return }
    relay.isOpen = true
    relay.client.start(at: now)
    settle(at: now)
  }

  /// A stream couldn't be opened, or has ended.
  public func streamEnded(_ stream: Int, reason: String, at now: Instant) {
    relay(of: stream)?.client.connectionEnded(.disconnected(reason: reason))
    settle(at: now)
  }

  /// Takes what a stream brought. `body` is lent each datagram that came through the relay.
  public func streamReceived(
    _ stream: Int, _ bytes: RawSpan, at now: Instant,
    _ body: (inout MutableRawSpan, TransportAddress, TransportAddress) -> Void
  ) {
    guard let relay = relay(of: stream), relay.isOpen else {
      droppedHere.unknownStream += 1
      return
    }
    // Out of the relay for the call, since `body` may come back to it.
    var deframer = relay.deframer
    relay.deframer = TURNStreamDeframer()
    do throws(TURNStreamDeframer.Unreadable) {
      try deframer.append(bytes) { message in
        switch relay.client.receive(message.bytes, at: now) {
        case .data(let payload, let peer):
          if let address = relay.address {
            var datagram = message.part(payload.lowerBound, payload.count)
            body(&datagram, peer, address)
          } else {
            droppedHere.noAllocation += 1
          }
        case .handled: break
        case .notMine: droppedHere.unexpected += 1
        }
      }
    } catch {
      droppedHere.malformed += 1
      relay.client.connectionEnded(.malformedResponse)
    }
    relay.deframer = deframer
    settle(at: now)
  }

  private func relay(of stream: Int) -> ICERelay? {
    for relay in relays where relay.stream == stream { return relay }
    return nil
  }
}
