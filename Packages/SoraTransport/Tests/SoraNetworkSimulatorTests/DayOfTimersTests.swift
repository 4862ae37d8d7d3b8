import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraRTP
import SoraTransport
import Testing

/// A day in virtual time behind translators that forget after half a minute.
@Suite struct DayOfTimersTests {
  @Test(arguments: [
    (Place.portRestrictedCone, Place.portRestrictedCone, Access.turnUDP),
    (.symmetric, .symmetric, .turnUDP), (.symmetric, .symmetric, .turnTLS),
  ])
  func aDayLosesNothing(a: Place, b: Place, access: Access) throws {
    let world = try HostileWorld(
      seed: 24, a, b, access, ports: .random, mappingTimeout: .seconds(30)
    ) { configuration in
      // RFC 7675 §5.1's own.
      configuration.ice.consentInterval = .seconds(5)
      configuration.ice.consentTimeout = .seconds(30)
      configuration.ice.disconnectedTimeout = .seconds(15)
    }
    world.network.log.retention = .digestOnly
    #expect(world.connect(), "\(world.story)")
    world.network.run(for: .seconds(2))
    let types = world.a.selectedTypes
    for hour in 1...24 {
      world.network.run(for: .seconds(3595))
      let before = (world.a.packetsReceived, world.b.packetsReceived)
      world.a.send(UInt16(hour))
      world.b.send(UInt16(hour))
      world.network.run(for: .seconds(5))
      #expect(world.a.packetsReceived == before.0 + 1, "hour \(hour)")
      #expect(world.b.packetsReceived == before.1 + 1, "hour \(hour)")
    }
    #expect(world.a.selectedTypes == types)
    #expect(world.a.states.map(\.state) == [.connecting, .connected])
    #expect(world.b.states.map(\.state) == [.connecting, .connected])
    // The relay that may be needed one day is there all the time, used or not.
    #expect(world.server.server.statistics.allocationsMade == 1)
    #expect(world.server.server.allocationCount == 1)
    #expect(world.network.overduePolls == 0)
    let made = world.nats.map { $0?.statistics.mappingsMade ?? 0 }
    print("24 h \(a) x \(b), \(access): \(types ?? []), mappings made \(made)")
  }

  /// A way that isn't used is kept too, through a translator that knows no other traffic to the server.
  @Test func aRelayThatNobodyUsesStays() throws {
    let world = try HostileWorld(
      seed: 25, .symmetric, .open, .turnUDP, mappingTimeout: .seconds(30)
    ) { configuration in
      // Without STUN requests beside it.
      configuration.servers.removeAll { !$0.url.scheme.isTURN }
    }
    #expect(world.connect(), "\(world.story)")
    world.network.run(for: .seconds(3600))
    #expect(world.a.selectedTypes == [.prflx, .host])
    #expect(world.a.transport.gathered.allSatisfy { !$0.isGone })
    #expect(world.server.server.statistics.allocationsMade == 1)
    #expect(world.server.server.allocationCount == 1)
    let took = world.exchange(for: .seconds(1))
    #expect(took.atA >= 50 && took.atB >= 50)
  }

  /// The time of day is nobody's business: a step of an hour changes what is written, not what happens.
  @Test func aStepOfTheWallClockChangesNothingElse() throws {
    let network = SimulatedNetwork(seed: 1)
    let host = network.addHost("a", "10.0.0.1")
    let before = host.wallClock.ntp(at: network.now)
    network.run(for: .seconds(10))
    host.stepWallClock(by: .seconds(-3600))
    let after = host.wallClock.ntp(at: network.now)
    #expect(after.unixNanoseconds - before.unixNanoseconds == (10 - 3600) * 1_000_000_000)
    #expect(network.now == .zero + .seconds(10))
  }
}
