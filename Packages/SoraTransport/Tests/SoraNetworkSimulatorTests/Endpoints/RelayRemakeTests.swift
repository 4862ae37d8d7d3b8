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
        peer.onPacket = { [unowned self] now in
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
  @Test(arguments: [Access.turnUDP, .turnTCP, .turnTLS], [0, 2, 6, 20])
  func aRestartedServerIsAskedAgain(access: Access, downtime: Int) throws {
    var longest = Duration.zero
    // Streams are tried again every three seconds, give or take a fifth.
    let patience = Duration.seconds(Int64(downtime)) + .milliseconds(4500)
    for seed in simulationSeeds(downtime > 2 ? 4 : 20) {
      let label = "\(access): " + reproduction(seed, "aRestartedServerIsAskedAgain")
      let world = try relayedCall(seed: seed, access, loss: 0.01)
      let first = try #require(world.a.transport.ice.selectedPair)
      world.a.isSignalingUp = false
      let silence = Silence(world)
      world.server.restart(downtime: .seconds(Int64(downtime)))
      world.network.run(for: .seconds(Int64(downtime) + 10))
      longest = max(longest, silence.most)
      #expect(world.areConnected, "\(label) \(world.story)")
      #expect(world.a.selectedTypes == [.relay, .host], "\(label) \(world.story)")
      #expect(silence.most < patience, "\(label) \(silence.most)")
      for peer in [world.a, world.b] { #expect(!peer.states.contains { $0.state.isFailure }) }
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
  @Test(arguments: [Access.turnUDP, .turnTCP, .turnTLS], [0, 12])
  func bothRelaysAreMadeAnew(access: Access, downtime: Int) throws {
    var longest = Duration.zero
    let patience = Duration.seconds(Int64(downtime)) + .milliseconds(4500)
    for seed in simulationSeeds(downtime > 0 ? 4 : 10) {
      let label = "\(access): " + reproduction(seed, "bothRelaysAreMadeAnew")
      let world = try relayedCall(
        seed: seed, access, serversB: access.servers, policyOfBoth: true)
      #expect(world.a.selectedTypes == [.relay, .relay], "\(label)")
      let silence = Silence(world)
      world.server.restart(downtime: .seconds(Int64(downtime)))
      world.network.run(for: .seconds(Int64(downtime) + 10))
      longest = max(longest, silence.most)
      #expect(world.areConnected, "\(label) \(world.story)")
      #expect(silence.most < patience, "\(label) \(silence.most)")
      #expect(world.server.server.allocationCount == 2, "\(label)")
    }
    print(
      "both relays restarted, down for \(downtime) s, \(access): silence of at most \(longest.inMilliseconds) ms"
    )
  }

  /// Who is silent decides how long is waited: a server that answers shows that it is the peer.
  @Test(arguments: [Access.turnUDP, .turnTCP, .turnTLS])
  func aVanishedPeerIsReportedOnce(access: Access) throws {
    for seed in simulationSeeds(3) {
      for side in 0..<2 {
        let label = "\(access), side \(side): " + reproduction(seed, "aVanishedPeerIsReportedOnce")
        let world = try relayedCall(seed: seed, access)
        let vanished = world.network.now
        world.links[side].setUp(false)
        world.network.run(for: .seconds(60))
        let took = try [world.a, world.b].map { peer in
          let ends = peer.states.filter { $0.state.isFailure }
          #expect(ends.map(\.state) == [.failed(.consentLost)], "\(label) \(peer.states)")
          return try #require(ends.first, "\(label) \(peer.states)").at - vanished
        }
        // `a` stands behind its relay. Cut off from it, neither can know who is gone; where it still answers, `a` does.
        #expect(took[0] < (side == 0 ? .seconds(30.2) : .seconds(5.2)), "\(label) \(took)")
        #expect(took[0] > (side == 0 ? .seconds(28) : .seconds(4)), "\(label) \(took)")
        #expect(took[1] < .seconds(30.2) && took[1] > .seconds(28), "\(label) \(took)")
        #expect(world.network.overduePolls == 0, "\(label)")
      }
    }
  }

  /// A server that stays away ends the call that has no other way, when RFC 7675 says so.
  @Test(arguments: [Access.turnUDP, .turnTCP, .turnTLS])
  func aServerThatStaysAwayEndsTheCall(access: Access) throws {
    let world = try relayedCall(seed: 3, access)
    let gone = world.network.now
    world.server.restart(downtime: .seconds(1000))
    world.network.run(for: .seconds(40))
    for peer in [world.a, world.b] {
      let end = try #require(peer.states.first { $0.state.isFailure })
      #expect(end.at - gone < .seconds(30.2) && end.at - gone > .seconds(28), "\(access) \(end)")
    }
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
    #expect(world.a.selectedTypes == [.srflx, .host])
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
    #expect(world.a.selectedTypes == [.srflx, .host])
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
