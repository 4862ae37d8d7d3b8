import SoraDTLS
import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraTransport
import Testing

/// Strangers who begin handshakes, as many as they can.
@Suite struct HandshakeFloodTests {
  /// A first flight as a real client sends it.
  private func hello(_ random: RandomSource) throws -> [UInt8] {
    let endpoint = try NativeDTLSFactory().makeEndpoint(
      role: .client, certificate: SimulationCertificate.make(77), expectedFingerprint: nil,
      random: random)
    endpoint.start(at: .zero)
    return endpoint.nextTransmit() ?? []
  }

  /// Before, during and after the handshake of a call: it comes up all the same, and stays.
  @Test(arguments: [true, false])
  func aCallComesUpAmongForeignHellos(toTheServer: Bool) throws {
    for seed in simulationSeeds(5) {
      let label = reproduction(seed, "aCallComesUpAmongForeignHellos")
      let world = try HostileWorld(seed: seed, .open, .open, .stun) {
        $0.dtls = NativeDTLSFactory()
      }
      let network = world.network
      let stranger = network.addHost("stranger", "198.51.100.66")
      network.link(stranger, world.internet, LinkConditions(delay: .milliseconds(1)))
      let from = TransportAddress(ip: stranger.addresses[0], port: 6666)
      let dice = RandomSource(seed: seed)
      let hellos = try (0..<50).map { _ in try hello(dice.fork()) }
      #expect(hellos.allSatisfy { $0.count > 100 && $0[0] == 22 })
      // The controlling side is DTLS's client.
      let victim = toTheServer ? world.b : world.a
      var sent = 0
      network.every(.milliseconds(1)) { [unowned network] _ in
        for _ in 0..<4 {
          network.send(hellos[sent % hellos.count], from: from, to: victim.bases[0])
          sent += 1
        }
      }
      network.run(for: .milliseconds(200))
      #expect(world.connect(within: .seconds(3)), "\(label) \(world.story)")
      let arrived = world.exchange(for: .seconds(2))
      #expect(arrived.atA >= 100 && arrived.atB >= 100, "\(label) \(arrived)")
      #expect(victim.transport.statistics.dropped.unknownSource > 8_000, "\(label)")
      #expect(victim.transport.statistics.dropped.beforeKeys == 0, "\(label)")
    }
  }

  /// Somebody who writes the peer's address on his datagrams: new hellos cost little and change nothing once there are keys.
  @Test(arguments: [true, false])
  func helloesUnderThePeersAddressChangeNothing(toTheServer: Bool) throws {
    let world = try HostileWorld(seed: 3, .open, .open, .stun) {
      $0.dtls = NativeDTLSFactory()
    }
    #expect(world.connect())
    let dice = RandomSource(seed: 9)
    let hellos = try (0..<50).map { _ in try hello(dice.fork()) }
    let (victim, peer) = toTheServer ? (world.b, world.a) : (world.a, world.b)
    let sentBefore = victim.transport.statistics.datagramsSent
    let count = 20_000
    let clock = ContinuousClock()
    let started = clock.now
    for number in 0..<count {
      var bytes = hellos[number % hellos.count]
      bytes.withUnsafeMutableBytes {
        victim.transport.receive(
          $0, from: peer.bases[0], on: victim.bases[0], at: world.network.now)
      }
    }
    let each = (clock.now - started).inMilliseconds * 1000 / Double(count)
    let answers = victim.transport.statistics.datagramsSent - sentBefore
    print("a hello under the peer's address: \(each) us, \(answers) answers to \(count)")
    // No amplifier, and no place where handshakes pile up.
    #expect(answers < 100)
    #expect(world.areConnected)
    let arrived = world.exchange(for: .seconds(2))
    #expect(arrived.atA >= 100 && arrived.atB >= 100)
    #expect(world.areConnected)
  }
}
