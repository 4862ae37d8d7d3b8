import SoraDTLS
import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraTransport
import Testing

/// ICE that has failed, and the restart that leads out of it (W3C `RTCIceTransportState`, "failed").
@Suite struct RecoveryTests {
  /// A call whose link dies for so long, and comes back, with or without its TURN server's memory.
  private func recover(
    seed: UInt64, _ access: Access, policy: ICETransportPolicy, outage: Duration, byA: Bool,
    serverForgets: Bool = false, _ label: String
  ) throws -> (took: Duration?, digest: UInt64) {
    let world = try HostileWorld(
      seed: seed, .portRestrictedCone, .portRestrictedCone, access,
      conditions: LinkConditions(
        delay: .milliseconds(15), jitter: .milliseconds(3), loss: 0.01),
      serversB: access.servers, policies: (policy, policy))
    try #require(world.connect(), "\(label) \(world.story)")
    world.keepSending()
    world.network.run(for: .seconds(2))
    let peers = [world.a, world.b]
    let keys = peers.map { $0.transport.session?.localKeyingMaterial }
    let before = peers.map(\.states.count)
    world.links[0].setUp(false)
    if serverForgets { world.server.restart() }
    world.network.run(for: outage)
    for (index, peer) in peers.enumerated() {
      #expect(
        peer.states[before[index]...].map(\.state) == [.disconnected, .failed(.consentLost)],
        "\(label) \(peer.states)")
      #expect(!peer.send(0), "\(label)")
    }
    world.links[0].setUp(true)
    world.network.run(for: .seconds(5))
    #expect(!world.a.isConnected && !world.b.isConnected, "\(label): nobody asked")
    let (one, two) = byA ? (world.a, world.b) : (world.b, world.a)
    let began = world.network.now
    let received = (one.packetsReceived, two.packetsReceived)
    one.restartICE()
    let isBack = world.network.run(
      until: {
        world.areConnected && one.packetsReceived > received.0 && two.packetsReceived > received.1
      }, within: .seconds(15))
    #expect(isBack, "\(label) \(world.story)")
    let took = isBack ? world.network.now - began : nil
    let arrived = peers.map(\.packetsReceived)
    world.network.run(for: .seconds(40))
    for (index, peer) in peers.enumerated() {
      #expect(
        peer.states[before[index]...].map(\.state) == [
          .disconnected, .failed(.consentLost), .connecting, .connected,
        ], "\(label) \(peer.states)")
      #expect(peer.packetsReceived > arrived[index] + 1900, "\(label)")
      #expect(peer.transport.session?.localKeyingMaterial == keys[index], "\(label)")
      #expect(keys[index] != nil)
      if policy == .relay { #expect(peer.selectedTypes == [.relay, .relay], "\(label)") }
    }
    #expect(world.network.overduePolls == 0, "\(label)")
    return (took, world.network.log.digest)
  }

  @Test(
    arguments: [true, false],
    [
      (Access.stun, ICETransportPolicy.all), (.turnUDP, .relay), (.turnTCP, .relay),
      (.turnTLS, .relay),
    ])
  func aMinuteWithoutALink(byA: Bool, way: (Access, ICETransportPolicy)) throws {
    var slowest = Duration.zero
    for seed in simulationSeeds(way.1 == .relay ? 3 : 5) {
      let label = "\(way), by a: \(byA): " + reproduction(seed, "aMinuteWithoutALink")
      let took = try recover(
        seed: seed, way.0, policy: way.1, outage: .seconds(60), byA: byA, label
      ).took
      slowest = max(slowest, took ?? .seconds(15))
    }
    print(
      "a minute without a link, \(way.0), \(way.1), restart by the \(byA ? "controlling" : "controlled"): back "
        + "within \(slowest.inMilliseconds) ms")
    #expect(slowest < .seconds(4))
  }

  /// The allocations are gone: the server has restarted, or they have run out.
  @Test(arguments: [Access.turnUDP, .turnTCP, .turnTLS], [60, 1500])
  func allocationsThatAreGoneAreMadeAnew(access: Access, seconds: Int) throws {
    var slowest = Duration.zero
    for seed in simulationSeeds(2) {
      let label = "\(access), \(seconds) s: " + reproduction(seed, "allocationsThatAreGone")
      let took = try recover(
        seed: seed, access, policy: .relay, outage: .seconds(Int64(seconds)), byA: seed % 2 == 0,
        serverForgets: seconds == 60, label
      ).took
      slowest = max(slowest, took ?? .seconds(15))
    }
    print(
      "\(access) without its allocations after \(seconds) s: back within \(slowest.inMilliseconds) ms"
    )
    #expect(slowest < .seconds(4))
  }

  @Test func aSeedRunsTheSameWayTwice() throws {
    let digests = try (1...2).map { _ in
      try recover(
        seed: 3, .turnUDP, policy: .relay, outage: .seconds(60), byA: true, "twice"
      ).digest
    }
    #expect(digests[0] == digests[1])
  }

  /// The relay policy with a server that isn't there yet: nothing was found, and a restart asks again.
  @Test(arguments: [Access.turnUDP, .turnTCP, .turnTLS])
  func aServerThatComesLateIsFoundByARestart(access: Access) throws {
    for seed in simulationSeeds(2) {
      let label = "\(access): " + reproduction(seed, "aServerThatComesLate")
      let world = try HostileWorld(
        seed: seed, .portRestrictedCone, .open, access, policies: (.relay, .all))
      world.server.restart(downtime: .seconds(100))
      #expect(!world.connect(within: .seconds(60)), "\(label)")
      guard case .failed(.serversFailed(let failures, _, _))? = world.a.states.last?.state else {
        Issue.record("\(label) \(world.a.states)")
        continue
      }
      #expect(failures.map(\.url) == [access.servers[1].url], "\(label)")
      world.network.run(for: .seconds(60))
      world.a.restartICE()
      #expect(
        world.network.run(until: { world.areConnected }, within: .seconds(15)),
        "\(label) \(world.story) \(world.a.states) \(world.b.states)")
      #expect(world.a.transport.gatherer.failures.isEmpty, "\(label)")
      #expect(world.a.selectedTypes == [.relay, .host], "\(label)")
    }
  }
}
