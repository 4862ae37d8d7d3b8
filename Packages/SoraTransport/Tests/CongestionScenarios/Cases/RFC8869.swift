import SoraMedia
import SoraNetworkSimulator

/// What of RFC 8869's wireless cases can be had without a radio: what the radio does to the rate and the delay of a link, as traces.
///
/// The RFC leaves the radio to a simulator of its own (802.11n with 16 stations, LTE with moving users and a scheduler). Here the rates come
/// from a generator with a fixed seed, so that each run has the same trace; contention for the medium and retransmissions on the link are
/// jitter. Left out: what needs the stations' own contention (uplinks of many stations, different rates beside each other), on-off UDP
/// traffic, and handovers between cells.
public enum RFC8869 {
  private static let video = Scenario.Kind.media(maximumVideo: 1_500_000)
  /// Of a radio that waits for its turn and repeats what is lost.
  private static let contention = Duration.milliseconds(8)

  public static var all: [Scenario] {
    [wiredBehindWiFi, wiFiRates, wiFiCell(.media), wiFiCell(.tcp), cellularLoad, cellularFading]
  }

  /// A rate each `interval` seconds, from a generator of its own.
  private static func trace(
    _ seconds: Double, every interval: Double, seed: UInt64, _ rate: (Int, RandomSource) -> Double
  ) -> [Scenario.Step] {
    let random = RandomSource(seed: seed)
    return (0..<Int(seconds / interval)).map {
      .init(at: Double($0) * interval, rate: Int(rate($0, random)))
    }
  }

  private static func scenario(
    _ name: String, _ section: String, _ capacity: [Scenario.Step], _ flows: [Scenario.Flow]
  ) -> Scenario {
    var scenario = Scenario(
      name, "RFC 8869 \(section), traced", seconds: 120, capacity: capacity, flows: flows)
    scenario.jitter = contention
    // The access link's time is its changes; those are no steps to be followed.
    scenario.measuresSteps = false
    return scenario
  }

  /// A wired link of 1 Mbit/s behind a wide Wi-Fi, which adds jitter alone.
  private static var wiredBehindWiFi: Scenario {
    scenario(
      "Wi-Fi before a wired bottleneck", "§4", [.init(at: 0, rate: 1_000_000)],
      [.init(video, 0...119)])
  }

  /// A station whose modulation changes by up to a factor of four, five times per second.
  private static var wiFiRates: Scenario {
    scenario(
      "Wi-Fi, rates of 0.8 to 3 Mbit/s", "§4",
      trace(120, every: 0.2, seed: 31) { _, random in
        [800_000, 1_500_000, 2_200_000, 3_000_000][Int(random.next() % 4)]
      }, [.init(.media(maximumVideo: 5_000_000), 0...119)])
  }

  private enum Rival { case media, tcp }

  /// Four flows down one cell, whose rate wavers with what its stations do; or three and a TCP flow.
  private static func wiFiCell(_ rival: Rival) -> Scenario {
    var flows: [Scenario.Flow] = (0..<4).map { .init(video, Double($0) * 5...119) }
    if rival == .tcp { flows[3] = .init(.tcp(.cubic), 15...119) }
    return scenario(
      rival == .media ? "Wi-Fi, four flows in a cell" : "Wi-Fi, three flows and a TCP flow", "§4",
      trace(120, every: 0.5, seed: 32) { _, random in 3_500_000 + 1_500_000 * random.unit() }, flows
    )
  }

  /// A cell whose other users come and go: what is left changes every few seconds.
  private static var cellularLoad: Scenario {
    scenario(
      "cellular, load of others", "§3",
      trace(120, every: 4, seed: 33) { _, random in 600_000 + 2_400_000 * random.unit() },
      [.init(.media(maximumVideo: 5_000_000), 0...119)])
  }

  /// A user who moves: the rate fades and comes back within some seconds, down to 300 kbit/s.
  private static var cellularFading: Scenario {
    scenario(
      "cellular, fading", "§3",
      trace(120, every: 0.5, seed: 34) { index, random in
        // There and back within 24 s, wavering by a fifth.
        let phase = Double(index % 48) / 24
        let level = phase < 1 ? 1 - phase : phase - 1
        return max(300_000, 3_000_000 * level * (0.8 + 0.4 * random.unit()))
      }, [.init(.media(maximumVideo: 5_000_000), 0...119)])
  }
}
