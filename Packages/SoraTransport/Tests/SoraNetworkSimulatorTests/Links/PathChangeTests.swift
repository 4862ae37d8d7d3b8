import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraTransport
import Testing

/// Ways that break, move and come back while a call runs.
@Suite struct PathChangeTests {
  /// Time from `event` until each side has heard three packets more.
  private func recovery(
    _ world: HostileWorld, within limit: Duration, _ event: () -> Void
  ) -> Duration? {
    event()
    let began = world.network.now
    // What is under way still arrives.
    world.network.run(for: .milliseconds(200))
    let before = (world.a.packetsReceived, world.b.packetsReceived)
    let isBack = world.network.run(
      until: {
        world.a.packetsReceived >= before.0 + 3 && world.b.packetsReceived >= before.1 + 3
      }, within: limit)
    return isBack ? world.network.now - began : nil
  }

  /// The controlling or the controlled side gets another address, as from one network to another.
  @Test(arguments: [0, 1], [Place.open, .portRestrictedCone, .symmetric])
  func anotherAddressIsFollowed(side: Int, place: Place) throws {
    var slowest = Duration.zero
    for seed in simulationSeeds(10) {
      let world = try HostileWorld(
        seed: seed, side == 0 ? place : .portRestrictedCone,
        side == 1 ? place : .portRestrictedCone, .turnUDP)
      let label = "side \(side), \(place): " + reproduction(seed, "anotherAddressIsFollowed")
      #expect(world.connect(), "\(label)")
      world.keepSending()
      world.network.run(for: .seconds(2))
      let host = world.hosts[side]
      let old = host.addresses[0]
      let next = IPAddress(place == .open ? "203.0.\(side + 1).77" : "10.\(side + 1).0.77")!
      let took = recovery(world, within: .seconds(5)) {
        world.network.changeAddress(old, to: next, of: host, over: world.links[side])
      }
      #expect(took != nil, "\(label) \(world.story)")
      slowest = max(slowest, took ?? .seconds(5))
      world.network.run(for: .seconds(10))
      #expect(world.areConnected, "\(label) \(world.story)")
    }
    print(
      "another address behind \(place) at the \(side == 0 ? "controlling" : "controlled") side: back within \(slowest.inMilliseconds) ms"
    )
    #expect(slowest < .seconds(4))
  }

  /// From one interface with its own way to another: the first goes away for good.
  @Test func aSecondInterfaceTakesOver() throws {
    for seed in simulationSeeds(10) {
      let world = try HostileWorld(seed: seed, .open, .portRestrictedCone, .stun)
      let label = reproduction(seed, "aSecondInterfaceTakesOver")
      let host = world.hosts[0]
      let mobile = world.network.addNAT(
        "mobile", .symmetric, outside: [IPAddress("198.51.100.9")!], uplink: world.internet)
      let slow = LinkConditions(delay: .milliseconds(40))
      let radio = world.network.link(
        host, mobile.router, forward: slow, backward: slow, interfaceA: [])
      _ = world.connect()
      world.keepSending()
      world.network.run(for: .seconds(2))
      let first = host.addresses[0]
      world.network.addAddress(IPAddress("10.9.0.2")!, to: host, over: radio)
      world.network.run(for: .seconds(2))
      let took = recovery(world, within: .seconds(5)) {
        world.network.removeAddress(first, from: host)
      }
      // A symmetric way out meets a filter that asks for ports: there is no pair without a relay.
      #expect(took == nil, "\(label)")
      #expect(radio.forwardStatistics.deliveredPackets > 0, "\(label)")
    }
    for seed in simulationSeeds(10) {
      let world = try HostileWorld(seed: seed, .open, .restrictedCone, .stun)
      let label = reproduction(seed, "aSecondInterfaceTakesOver")
      let host = world.hosts[0]
      let mobile = world.network.addNAT(
        "mobile", .symmetric, outside: [IPAddress("198.51.100.9")!], uplink: world.internet)
      let slow = LinkConditions(delay: .milliseconds(40))
      let radio = world.network.link(
        host, mobile.router, forward: slow, backward: slow, interfaceA: [])
      #expect(world.connect(), "\(label)")
      world.keepSending()
      world.network.run(for: .seconds(2))
      let first = host.addresses[0]
      world.network.addAddress(IPAddress("10.9.0.2")!, to: host, over: radio)
      world.network.run(for: .seconds(2))
      let took = recovery(world, within: .seconds(5)) {
        world.network.removeAddress(first, from: host)
      }
      #expect(took ?? .seconds(9) < .seconds(4), "\(label) \(world.story)")
      #expect(world.b.selectedTypes == [.srflx, .prflx], "\(label) \(world.story)")
    }
  }

  /// RFC 7675 §5.1 lets consent last; then nothing is lost but what was sent meanwhile.
  @Test(arguments: Access.allCases)
  func aLinkThatDiesForTenSecondsComesBack(access: Access) throws {
    var slowest = Duration.zero
    for seed in simulationSeeds(5) {
      let place = access == .stun ? Place.portRestrictedCone : .symmetric
      let world = try HostileWorld(seed: seed, place, place, access) { configuration in
        configuration.ice.consentTimeout = .seconds(30)
      }
      let label = "\(access): " + reproduction(seed, "aLinkThatDiesForTenSecondsComesBack")
      #expect(world.connect(), "\(label)")
      world.keepSending()
      world.network.run(for: .seconds(2))
      world.links[0].setUp(false)
      world.network.run(for: .seconds(10))
      #expect(world.a.transport.state == .disconnected, "\(label)")
      #expect(world.b.transport.state == .disconnected, "\(label)")
      let took = recovery(world, within: .seconds(10)) { world.links[0].setUp(true) }
      #expect(took != nil, "\(label) \(world.story)")
      slowest = max(slowest, took ?? .seconds(10))
      world.network.run(for: .seconds(2))
      #expect(world.areConnected, "\(label) \(world.story)")
    }
    print("ten seconds without a link, \(access): back after \(slowest.inMilliseconds) ms")
  }

  /// A home's translator restarts and gives other ports: nobody is told.
  @Test(arguments: [0, 1])
  func aTranslatorThatRestartsIsSurvived(side: Int) throws {
    var slowest = Duration.zero
    for seed in simulationSeeds(10) {
      let world = try HostileWorld(
        seed: seed, .restrictedCone, .restrictedCone, .stun, ports: .random)
      let label = "side \(side): " + reproduction(seed, "aTranslatorThatRestartsIsSurvived")
      #expect(world.connect(), "\(label)")
      world.keepSending()
      world.network.run(for: .seconds(3))
      let took = recovery(world, within: .seconds(8)) { world.nats[side]?.reboot() }
      #expect(took != nil, "\(label) \(world.story)")
      slowest = max(slowest, took ?? .seconds(8))
      world.network.run(for: .seconds(10))
      #expect(world.areConnected, "\(label) \(world.story)")
    }
    print(
      "a restarted NAT at the \(side == 0 ? "controlling" : "controlled") side: back within \(slowest.inMilliseconds) ms"
    )
  }
}
