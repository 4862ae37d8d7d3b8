import SoraDTLS
import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraTransport
import Testing

/// How long ICE and DTLS take together on links that lose much: this project's own DTLS, on virtual time.
@Suite struct HandshakeLossTests {
  @Test(arguments: [1, 5, 10, 20, 40])
  func theHandshakeEndsAtEveryLoss(percent: Int) throws {
    var times: [Double] = []
    let seeds = simulationSeeds(100)
    var failures: [UInt64] = []
    for seed in seeds {
      // Both ways of one link: a round trip of 40 ms, each datagram lost with this chance.
      let world = try HostileWorld(
        seed: seed, .open, .open, .stun,
        conditions: LinkConditions(delay: .milliseconds(10), loss: 1 - keep(percent))
      ) { configuration in
        configuration.dtls = NativeDTLSFactory()
        configuration.signalingDelay = .zero
      }
      guard world.connect(within: .seconds(30)) else {
        failures.append(seed)
        continue
      }
      let secured = [world.a, world.b].compactMap(\.transport.statistics.secured)
      times.append(((secured.max() ?? .zero) - .zero).inMilliseconds)
    }
    times.sort()
    func quantile(_ share: Double) -> Double {
      times.isEmpty ? .infinity : times[min(times.count - 1, Int(share * Double(times.count)))]
    }
    print(
      "ICE + DTLS 1.3 at \(percent) % loss, round trip 40 ms: p50 \(quantile(0.5)) ms, p95 \(quantile(0.95)) ms, \(failures.count) of \(seeds.count) failed"
    )
    let lines = failures.map { reproduction($0, "theHandshakeEndsAtEveryLoss") }
    #expect(failures.count <= (percent < 40 ? 0 : seeds.count / 20), "\(lines)")
    let limit: Double = [1: 800, 5: 1500, 10: 2000, 20: 4000, 40: 12_000][percent] ?? 0
    #expect(quantile(0.95) < limit, "\(percent) %")
  }

  /// A side sends as soon as it has keys; its last flight may be lost, or overtaken. Nothing that comes before the other side has keys
  /// is lost there: without what a picture begins with, another would have to be asked for. In a quarter of these runs some does.
  @Test(arguments: [DTLSVersion.v13, .v12])
  func whatFollowsTheLastFlightIsKept(version: DTLSVersion) throws {
    var dtls = NativeDTLSFactory()
    dtls.settings.versions = [version]
    for seed in simulationSeeds(100) {
      let world = try HostileWorld(
        seed: seed, .open, .open, .stun,
        conditions: LinkConditions(
          delay: .milliseconds(10), jitter: .milliseconds(3), loss: 0.05, reordering: 0.1)
      ) { configuration in
        configuration.dtls = dtls
      }
      // A key frame's packets, of each side, as soon as they can be sent.
      var left = [20, 20]
      world.network.every(.milliseconds(1)) { [a = world.a, b = world.b] _ in
        for (index, peer) in [a, b].enumerated() where left[index] > 0 && peer.transport.isWritable
        {
          for number in 0..<5 { peer.send(UInt16(left[index] - number)) }
          left[index] -= 5
        }
      }
      let label = reproduction(seed, "whatFollowsTheLastFlightIsKept")
      #expect(world.connect(within: .seconds(30)), "\(label)")
      world.network.run(for: .milliseconds(200))
      for peer in [world.a, world.b] {
        let dropped = peer.transport.statistics.dropped
        #expect(dropped.beforeKeys == 0 && dropped.unauthenticated == 0, "\(label)")
        #expect(peer.packetsReceived > 10, "\(label)")
      }
    }
  }

  /// What a link keeps, so that two of them in a row lose `percent` in a hundred.
  private func keep(_ percent: Int) -> Double { (1 - Double(percent) / 100).squareRoot() }
}
