public import SoraICE
import SoraMedia

extension SimulatedNetwork {
  /// Takes streams that are opened to `address`; a second call takes the place of the first.
  ///
  /// - Parameters:
  ///   - address: an address and port of a host.
  ///   - accept: called with the server's end of each, open. Set its closures there.
  public func listen(on address: TransportAddress, _ accept: @escaping (SimulatedStream) -> Void) {
    streams.listen(on: address, accept)
  }

  /// Takes no more streams; those that are open stay.
  public func stopListening(on address: TransportAddress) {
    streams.listen(on: address, nil)
  }

  /// Opens a stream. Its `onOpen` or `onEnd` is called later: at once where nobody listens or there is no way, after ten seconds where
  /// something on the way keeps silent.
  ///
  /// - Parameters:
  ///   - local: an address of the host that opens it.
  ///   - remote: whom to connect to.
  ///   - roundTrips: until it is open: 1 for TCP, 2 with TLS 1.3 (RFC 8446 §2) over it, 3 with TLS 1.2.
  public func openStream(
    from local: IPAddress, to remote: TransportAddress, roundTrips: Int = 1
  ) -> SimulatedStream {
    let inside = TransportAddress(ip: local, port: streams.nextPort())
    let way = streamWay(from: inside, to: remote)
    let empty = SimulatedStreamPath(
      directions: [], node: -1, address: local, farNode: -1, farAddress: remote.ip)
    let path: SimulatedStreamPath
    if case .open(let found, _) = way { path = found } else { path = empty }
    let client = SimulatedStream(
      network: self, local: inside, remote: remote, path: path, seed: random.next())
    streams.keep(client)
    switch way {
    case .open(let path, let outside):
      let server = SimulatedStream(
        network: self, local: remote, remote: outside, path: path.reversed, seed: random.next())
      streams.keep(server)
      client.join(server)
      server.join(client)
      client.begin(roundTrips: roundTrips)
    case .noRoute:
      after(.zero) { [weak client] _ in client?.breakOff("no route to host") }
    case .blocked:
      after(SimulatedStream.openTimeout) { [weak client] _ in client?.breakOff("timed out") }
    }
    return client
  }

  func forget(_ stream: SimulatedStream) { streams.forget(stream) }

  private enum StreamWay {
    /// The way, and the client's address as the server sees it.
    case open(SimulatedStreamPath, TransportAddress)
    case noRoute
    case blocked
  }

  /// Follows the way of a first packet, and asks each middlebox.
  private func streamWay(from local: TransportAddress, to remote: TransportAddress) -> StreamWay {
    guard let start = topology.owner(of: local.ip), let goal = topology.owner(of: remote.ip) else {
      return .noRoute
    }
    var directions: [Int32] = []
    var source = local
    var node = start
    while node != goal {
      guard directions.count < 16,
        let next = topology.nextHop(from: node, source: source.ip, to: remote.ip)
      else { return .noRoute }
      directions.append(next)
      node = topology.direction(next).to
      if let middlebox = topology.host(node).middlebox,
        !middlebox.admitStream(
          source: &source, destination: remote, over: topology.link(of: next), at: now)
      {
        return .blocked
      }
    }
    let path = SimulatedStreamPath(
      directions: directions, node: start, address: local.ip, farNode: goal, farAddress: remote.ip)
    return .open(path, source)
  }

  /// The round trip of links that are idle.
  func roundTrip(of path: SimulatedStreamPath) -> Duration {
    var sum = Duration.zero
    for index in path.directions {
      sum += topology.direction(index).conditions.delay
      sum += topology.direction(index ^ 1).conditions.delay
    }
    return sum
  }

  /// How long a piece takes along a way now; `nil` where it doesn't arrive.
  func crossing(
    _ path: SimulatedStreamPath, bytes: Int, _ random: inout SimulationRandom
  ) -> Duration? {
    guard topology.owner(of: path.address) == path.node,
      topology.owner(of: path.farAddress) == path.farNode
    else { return nil }
    var time: Int64 = path.directions.isEmpty ? SimulatedNetwork.loopbackDelay : 0
    // What doesn't fit into one packet is lost more often.
    let packets = max(1, (bytes + 1399) / 1400)
    for index in path.directions {
      let direction = topology.direction(index)
      let conditions = direction.conditions
      guard conditions.isUp else { return nil }
      for _ in 0..<packets {
        if random.chance(conditions.loss) { return nil }
        if let burst = conditions.burstLoss, random.chance(burst.averageLoss) { return nil }
      }
      time += direction.waitingTime(at: now.nanoseconds)
      time += direction.sendingTime(bytes + 40 * packets)
      let jitter = Double(conditions.jitter.wholeNanoseconds)
      let spread = jitter > 0 ? Int64((2 * random.unit() - 1) * jitter) : 0
      time += max(0, conditions.delay.wholeNanoseconds + spread)
    }
    return .nanoseconds(time)
  }
}
