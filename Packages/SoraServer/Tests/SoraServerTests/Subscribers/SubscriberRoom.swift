import SoraMedia
import SoraNetworkSimulator
import SoraServer
import Testing

/// Subscribers behind one bottleneck, whose forward way leads to them, and a publisher with a link of its own. The stream has
/// 1.5 Mbit/s in three layers, 330 kbit/s of them in the lowest.
final class SubscriberRoom {
  let network: SimulatedNetwork
  let server: TestServer
  let bottleneck: SimulatedLink
  /// At both ends of the bottleneck.
  let near: SimulatedHost
  let far: SimulatedHost
  let publisher: ScriptedClient
  let players: [ScriptedClient]
  /// How long what has left the bottleneck waited in it, in milliseconds, and when.
  private(set) var waits: [(at: Instant, milliseconds: Double)] = []

  init(
    _ kilobits: Int, loss: Double = 0, queue: Duration = .milliseconds(300),
    players count: Int = 1, delays: [Duration] = [], seed: UInt64
  ) throws {
    network = SimulatedNetwork(seed: seed, retention: .digestOnly)
    let server = try TestServer(network)
    self.server = server
    let (near, far) = (network.addRouter("near"), network.addRouter("far"))
    (self.near, self.far) = (near, far)
    network.link(server.host, near)
    bottleneck = network.link(
      near, far, LinkConditions(loss: loss, bitsPerSecond: kilobits * 1000, queue: .time(queue)))
    publisher = try ScriptedClient(
      "publisher", 1, server, LinkConditions(delay: .milliseconds(5))
    ).withMedia().connect(.sendonly)
    players = try (0..<count).map { index in
      try ScriptedClient(
        "player\(index)", 2 + index, server,
        LinkConditions(delay: index < delays.count ? delays[index] : .milliseconds(50)),
        behind: far
      ).withMedia().connect(.recvonly)
    }
    bottleneck.onForwardDeparture = { [unowned self] datagram, now in
      waits.append((now, datagram.waited.inMilliseconds))
    }
    #expect(network.connects(players, to: publisher))
    network.run(for: .milliseconds(100))
    try publisher.startMedia(.init(baseShare: 0.22))
  }

  var now: Instant { network.now }

  /// Bytes that have left the server for the bottleneck.
  var sentBytes: Int { Int(bottleneck.forwardStatistics.sentBytes) }

  /// Of the waits since a time, the one that a share of them doesn't exceed.
  func wait(_ share: Double, since start: Instant) -> Double {
    let sorted = waits.filter { $0.at >= start }.map(\.milliseconds).sorted()
    return sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
  }

  /// Frames that a player has put together since a time.
  func frames(_ player: Int = 0, since start: Instant) -> Int {
    players[player].media!.frames.count { $0.at >= start }
  }

  /// A TCP flow through the bottleneck that begins now and always has more to send, towards the subscribers or away from them.
  func startTransfer(
    _ algorithm: SimulatedTCPAlgorithm, isBackward: Bool = false
  ) -> SimulatedTCPFlow {
    let from = network.addHost("web", "10.0.3.1")
    let to = network.addHost("reader", "10.0.3.2")
    network.link(from, isBackward ? far : near)
    network.link(isBackward ? near : far, to, LinkConditions(delay: .milliseconds(50)))
    let transfer = SimulatedTCPFlow(network, from: from, to: to, algorithm: algorithm)
    transfer.send(nil)
    return transfer
  }

  /// Bits per second that leave the server in each of so many half seconds from now on.
  func halfSeconds(_ count: Int) -> [Double] {
    (0..<count).map { _ in
      let before = sentBytes
      network.run(for: .milliseconds(500))
      return Double(sentBytes - before) * 16
    }
  }
}
