import SoraMedia
import SoraNetworkSimulator

/// One of RFC 8867 §5.7's users: downloads of 100 kB to 1 MB, evenly distributed, with idle times between them that are
/// exponentially distributed around 10 s.
final class WebTraffic {
  private static let idle = 10.0
  private static let sizes = (least: 100_000.0, most: 1_000_000.0)

  private let network: SimulatedNetwork
  private let flow: SimulatedTCPFlow
  private let random: RandomSource

  init(
    _ network: SimulatedNetwork, _ flow: SimulatedTCPFlow, startsIdle: Bool
  ) {
    self.network = network
    self.flow = flow
    random = network.random.fork()
    flow.onDone = { [weak self] _ in self?.rest() }
    if startsIdle { rest() } else { download() }
  }

  private func download() {
    flow.send(Int(Self.sizes.least + (Self.sizes.most - Self.sizes.least) * random.unit()))
  }

  private func rest() {
    network.after(.nanoseconds(Int64(Self.idle * 1e9 * random.exponential()))) { [weak self] _ in
      self?.download()
    }
  }
}
