import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraTransport
import Testing

/// Allocations that are lost while a call runs.
@Suite struct RelayRemakeTests {
  /// The longest silence at each end from now on.
  private final class Silence {
    private let network: SimulatedNetwork
    private var last: [Instant]
    private var longest: [Duration] = [.zero, .zero]

    init(_ world: HostileWorld) {
      network = world.network
      last = [network.now, network.now]
      for (index, peer) in [world.a, world.b].enumerated() {
        peer.onPacket = { [unowned self] _, now in
          longest[index] = max(longest[index], now - last[index])
          last[index] = now
        }
      }
    }

    /// Silence that still lasts counts too.
    var most: Duration {
      zip(longest, last).map { max($0, network.now - $1) }.max() ?? .zero
    }
  }

  /// A call whose controlling side insists on relays, running for two seconds.
  private func relayedCall(
    seed: UInt64, _ access: Access, serversB: [ICEServer] = [], loss: Double = 0,
    policyOfBoth: Bool = false
  ) throws -> HostileWorld {
    let world = try HostileWorld(
      seed: seed, .symmetric, .open, access,
      conditions: LinkConditions(
        delay: .milliseconds(15), jitter: .milliseconds(3), loss: loss),
      serversB: serversB, policies: (.relay, policyOfBoth ? .relay : .all))
    try #require(world.connect(), "seed \(seed) \(world.story)")
    world.keepSending()
    world.network.run(for: .seconds(2))
    return world
  }

  /// The peer is told of nothing: our check through the new relay is how it learns of it (RFC 8445 §7.3.1.3).
  @Test(arguments: [Access.turnUDP, .turnTCP, .turnTLS], [0, 2])
  func aRestartedServerIsAskedAgain(access: Access, downtime: Int) throws {
    var longest = Duration.zero
    for seed in simulationSeeds(20) {
      let label = "\(access): " + reproduction(seed, "aRestartedServerIsAskedAgain")
      let world = try relayedCall(seed: seed, access, loss: 0.01)
      let first = try #require(world.a.transport.ice.selectedPair)
      world.a.isSignalingUp = false
      let silence = Silence(world)
      world.server.restart(downtime: .seconds(Int64(downtime)))
      world.network.run(for: .seconds(10))
      longest = max(longest, silence.most)
      #expect(world.areConnected, "\(label) \(world.story)")
      #expect(world.a.selectedTypes == [.relay, .host], "\(label) \(world.story)")
      #expect(silence.most < .milliseconds(4500), "\(label) \(silence.most)")
      #expect(world.server.server.statistics.allocationsMade == 1, "\(label)")
      // One candidate is gone, and one has come, whatever its port.
      #expect(world.a.transport.gathered.map(\.isGone) == [true, false], "\(label)")
      #expect(world.a.transport.gathered.map(\.candidate.type) == [.relay, .relay], "\(label)")
      #expect(world.a.transport.gatherer.failures.isEmpty, "\(label)")
      #expect(first.localType == .relay)
      #expect(world.network.overduePolls == 0, "\(label)")
      // It lasts, and the packets have the short header again.
      let before = world.server.server.statistics.datagramsToPeers
      let arrived = (world.a.packetsReceived, world.b.packetsReceived)
      world.network.run(for: .seconds(60))
      #expect(world.b.packetsReceived - arrived.1 > 2800, "\(label)")
      #expect(world.a.packetsReceived - arrived.0 > 2800, "\(label)")
      #expect(world.server.server.statistics.datagramsToPeers > before + 2800, "\(label)")
    }
    print(
      "TURN server restarted, down for \(downtime) s, \(access): silence of at most \(longest.inMilliseconds) ms"
    )
  }

  /// Both ends lose their allocations at once, and each learns the other's new one over signaling.
  @Test(arguments: [Access.turnUDP, .turnTCP, .turnTLS])
  func bothRelaysAreMadeAnew(access: Access) throws {
    var longest = Duration.zero
    for seed in simulationSeeds(10) {
      let label = "\(access): " + reproduction(seed, "bothRelaysAreMadeAnew")
      let world = try relayedCall(
        seed: seed, access, serversB: access.servers, policyOfBoth: true)
      #expect(world.a.selectedTypes == [.relay, .relay], "\(label)")
      let silence = Silence(world)
      world.server.restart()
      world.network.run(for: .seconds(10))
      longest = max(longest, silence.most)
      #expect(world.areConnected, "\(label) \(world.story)")
      #expect(silence.most < .milliseconds(4500), "\(label) \(silence.most)")
      #expect(world.server.server.allocationCount == 2, "\(label)")
    }
    print("both relays restarted, \(access): silence of at most \(longest.inMilliseconds) ms")
  }

  @Test(arguments: [Access.turnUDP, .turnTLS])
  func aSeedRunsTheSameWayTwice(access: Access) throws {
    let digests = try (1...2).map { _ in
      let world = try relayedCall(seed: 5, access, loss: 0.03)
      world.server.restart(downtime: .seconds(1))
      world.network.run(for: .seconds(10))
      return world.network.log.digest
    }
    #expect(digests[0] == digests[1])
  }

  /// The way of a connection dies without its end: the host has another address, and nobody tells the other side of the old one.
  @Test(arguments: [Access.turnTCP, .turnTLS])
  func aStreamThatIsStuckIsReplaced(access: Access) throws {
    var longest = Duration.zero
    for seed in simulationSeeds(10) {
      let label = "\(access): " + reproduction(seed, "aStreamThatIsStuckIsReplaced")
      let world = try relayedCall(seed: seed, access)
      let silence = Silence(world)
      world.network.changeAddress(
        world.hosts[0].addresses[0], to: IPAddress("10.1.0.77")!, of: world.hosts[0],
        over: world.links[0])
      world.network.run(for: .seconds(10))
      longest = max(longest, silence.most)
      #expect(world.areConnected, "\(label) \(world.story)")
      #expect(silence.most < .milliseconds(4500), "\(label) \(silence.most)")
      #expect(world.a.transport.gathered.map(\.isGone) == [true, false], "\(label)")
    }
    print("another address under \(access): silence of at most \(longest.inMilliseconds) ms")
  }

  /// One that was only slow keeps its place, and what was begun beside it is given up.
  @Test(arguments: [Access.turnTCP, .turnTLS])
  func aStreamThatIsOnlySlowIsKept(access: Access) throws {
    for seed in simulationSeeds(10) {
      let label = "\(access): " + reproduction(seed, "aStreamThatIsOnlySlowIsKept")
      let world = try relayedCall(seed: seed, access)
      world.links[0].setUp(false)
      world.network.run(for: .milliseconds(3200))
      world.links[0].setUp(true)
      world.network.run(for: .seconds(10))
      #expect(world.areConnected, "\(label) \(world.story)")
      #expect(world.server.server.allocationCount == 1, "\(label)")
      #expect(world.server.streamCount == 1, "\(label)")
      #expect(world.a.transport.gathered.filter { !$0.isGone }.count == 1, "\(label)")
    }
  }

  /// A server that has forgotten our name is asked no more; the call goes on over the way that it has.
  @Test(arguments: [Access.turnUDP, .turnTCP, .turnTLS])
  func whatDoesNotHealIsNotTriedAgain(access: Access) throws {
    let world = try HostileWorld(seed: 1, .portRestrictedCone, .open, access)
    try #require(world.connect())
    world.keepSending()
    world.network.run(for: .seconds(2))
    #expect(world.a.selectedTypes == [.host, .host])
    world.server.restart(
      configuration: .init(realm: "sora.test", credentials: .users(["bob": "other"])))
    world.network.run(for: .seconds(700))
    #expect(
      world.a.transport.gatherer.failures == [
        ICEServerFailure(url: access.servers[1].url, error: .wrongCredentials)
      ])
    // A refresh or an allocation, unsigned and signed.
    #expect(world.server.server.statistics.errorResponses <= 4)
    #expect(world.areConnected)
    #expect(world.a.selectedTypes == [.host, .host])
  }

  /// A server that stays away is given up after a bounded number of tries, and named.
  @Test(arguments: [Access.turnUDP, .turnTCP, .turnTLS])
  func aServerThatStaysAwayIsGivenUp(access: Access) throws {
    let world = try HostileWorld(seed: 2, .portRestrictedCone, .open, access) {
      // Nothing else that has timers.
      $0.servers.removeAll { !$0.url.scheme.isTURN }
    }
    try #require(world.connect())
    world.network.run(for: .seconds(2))
    world.server.restart(downtime: .seconds(100_000))
    world.network.run(for: .seconds(1800))
    #expect(world.a.transport.gatherer.failures.map(\.url) == [access.servers[1].url])
    #expect(world.a.transport.gatherer.nextDeadline == nil)
    #expect(world.areConnected)
    #expect(world.network.overduePolls == 0)
    print("\(access) stays away: \(world.a.transport.gatherer.failures)")
  }
}
