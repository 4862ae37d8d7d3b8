import SoraDTLS
import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraRTP
import SoraServer
import SoraTransport
import SoraWire
import Testing

/// The core in a simulated network, with signaling that takes 10 ms each way.
final class TestServer: SimulatedEndpoint, SFUCoreDelegate {
  let core: SFUCore
  let network: SimulatedNetwork
  let host: SimulatedHost
  private(set) var events: [SFUEvent] = []
  private(set) var reports: [SFUReport] = []
  private var clients: [SFUPeerID: ScriptedClient] = [:]
  static let signalingDelay = Duration.milliseconds(10)

  init(
    _ network: SimulatedNetwork, addresses: [String] = ["10.0.0.1"],
    sink: (any DatagramSink)? = nil,
    configure: (inout SFUCore.Configuration) -> Void = { _ in }
  ) throws {
    self.network = network
    host = network.addHost("server", addresses: addresses.compactMap { IPAddress($0) })
    let media = host.addresses.map { TransportAddress(ip: $0, port: 4000) }
    var configuration = SFUCore.Configuration(
      certificate: try SimulationCertificate.make(1), dtls: StandInDTLSFactory(),
      wallClock: WallClock(unixNanoseconds: 1_750_000_000_000_000_000, at: .zero),
      mediaAddresses: media)
    // These clients speak over their WebSockets alone.
    configuration.usesDataChannels = false
    configure(&configuration)
    core = SFUCore(
      configuration: configuration, random: network.random.fork(), sink: sink ?? network)
    core.delegate = self
    for address in media { network.bind(self, to: address) }
  }

  deinit {
    // Whatever happens: behind a poll nothing is due at once.
    if network.overduePolls > 0 {
      Issue.record("\(network.overduePolls) polls left a deadline in the past")
    }
  }

  func accept(_ client: ScriptedClient) -> SFUPeerID? {
    let peer = core.accept(from: ClientNetwork(client.address.ip), at: network.now)
    if let peer { clients[peer] = client }
    return peer
  }

  /// Lets go of a client that has gone, and of what was told before: of what is held then, nothing is the test's.
  func forget(_ client: ScriptedClient) {
    clients = clients.filter { $0.value !== client }
    events = []
    reports = []
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
    network.after(Self.signalingDelay) { client.handle(output, at: $0) }
  }

  func core(_ core: SFUCore, event: SFUEvent, at now: Instant) { events.append(event) }

  func core(_ core: SFUCore, reports report: SFUReport, at now: Instant) { reports.append(report) }

  func status(_ client: ScriptedClient) -> SFUConnectionStatus? {
    core.status.first { $0.connectionID == client.offer?.connectionID }
  }
}
