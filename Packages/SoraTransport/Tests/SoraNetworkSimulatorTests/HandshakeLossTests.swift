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

  /// What a link keeps, so that two of them in a row lose `percent` in a hundred.
  private func keep(_ percent: Int) -> Double { (1 - Double(percent) / 100).squareRoot() }
}
