import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraRTP
import SoraServer
import SoraTransport
import SoraWire

/// The development server in a simulated network: the same core that `sora serve` runs, without a socket or a clock.
final class SimulatedServer: SimulatedEndpoint, SFUCoreDelegate {
  let core: SFUCore
  private let network: SimulatedNetwork
  private var clients: [SFUPeerID: SimulatedClient] = [:]
  /// One-way time of a signaling message.
  private let signalingDelay: Duration
  /// What clients are let in with; nil where nobody decides about them.
  var grant: SFUGrant?

  /// - Parameter configure: what of the server's configuration is to be another than by default.
  init(
    _ network: SimulatedNetwork, address: TransportAddress, signalingDelay: Duration,
    configure: (inout SFUCore.Configuration) -> Void
  ) throws {
    self.network = network
    self.signalingDelay = signalingDelay
    var configuration = SFUCore.Configuration(
      certificate: try SimulationCertificate.make(0), dtls: StandInDTLSFactory(),
      wallClock: WallClock(unixNanoseconds: 1_700_000_000_000_000_000, at: .zero),
      mediaAddresses: [address])
    // Who doesn't ask for data channels has none here, so that tests of media are about that.
    configuration.usesDataChannels = false
    configure(&configuration)
    core = SFUCore(configuration: configuration, random: network.random.fork(), sink: network)
    core.delegate = self
    network.bind(self, to: address)
  }

  /// Opens the client's signaling connection.
  func accept(_ client: SimulatedClient) -> SFUPeerID? {
    let peer = core.accept(at: network.now)
    if let peer { clients[peer] = client }
    return peer
  }

  /// A message of a client is on its way.
  func send(_ message: SFUMessage, from peer: SFUPeerID) {
    network.after(signalingDelay) { [core, grant] now in
      if let grant, case .connect(let request) = message {
        core.admit(request, grant, of: peer, at: now)
      } else {
        core.receive(message, from: peer, at: now)
      }
    }
  }

  /// A client's WebSocket ends.
  func close(_ peer: SFUPeerID) {
    clients[peer] = nil
    network.after(signalingDelay) { [core] now in core.signalingLost(peer, at: now) }
  }

  func received(
    _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress,
    on local: TransportAddress, ecn: ECNCodepoint, at now: Instant
  ) {
    core.received(bytes, from: source, on: local, ecn: ecn, at: now)
    core.batchEnded(at: now)
  }

  func poll(at now: Instant) { core.poll(at: now) }
  var nextDeadline: Instant? { core.nextDeadline }

  func core(_ core: SFUCore, sends output: SFUOutput, to peer: SFUPeerID, at now: Instant) {
    guard let client = clients[peer] else { return }
    network.after(signalingDelay) { [weak client] now in client?.handle(output, at: now) }
  }

  func core(_ core: SFUCore, event: SFUEvent, at now: Instant) {
    switch event {
    case .joined(let channel, _, let role): network.note("joined \(channel) \(role.rawValue)")
    case .left(let channel, _, let role, let reason):
      network.note("left \(channel) \(role.rawValue) \(reason)")
    case .refused(_, let reason): network.note("refused \(reason)")
    case .ignored(let channel, _, let what): network.note("ignored \(channel) \(what)")
    }
  }
}
