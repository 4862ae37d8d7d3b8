import SoraDataChannel
import SoraMedia
import SoraNetworkSimulator
import SoraSignalingChannels
import SoraSignalingMessages
import SoraTransport

/// The data channels of a scripted client, which keeps to no limit of the server's: it sends what it is told to.
final class ClientData: DataTransportDelegate {
  let transport: DataTransport
  private let network: SimulatedNetwork
  private var ids: [String: DataChannelID] = [:]
  private var labels: [DataChannelID: String] = [:]
  /// What came, by label.
  private(set) var received: [String: [[UInt8]]] = [:]
  /// Takes what comes on `signaling`.
  var onSignaling: ((JSONValue, Instant) -> Void)?
  /// Channels of its own that the server has closed.
  private(set) var closed = 0

  init(_ network: SimulatedNetwork, _ peer: PeerTransport) {
    self.network = network
    var configuration = DataChannelConfiguration()
    configuration.sendBufferLimit = 64 * 1024 * 1024
    transport = DataTransport(
      configuration: configuration, random: network.random.fork(), transport: peer)
    transport.delegate = self
  }

  func start(at now: Instant) {
    // 0: it believes in no limit.
    transport.negotiated(
      DataTransport.Remote(isClient: true, port: 5000, maximumMessageSize: 0), at: now)
  }

  /// Whether it may speak on a label.
  func isOpen(_ label: String) -> Bool { ids[label] != nil }

  func send(_ payload: [UInt8], on label: String) throws {
    guard let id = ids[label] else { return }
    try transport.send(payload.span.bytes, isText: true, on: id, at: network.now)
    network.deadlinesChanged()
  }

  /// Opens a channel that the server hasn't asked for.
  func open(_ label: String) throws {
    _ = try transport.open(DataChannelParameters(label: label), at: network.now)
    network.deadlinesChanged()
  }

  func data(_ data: DataTransport, event: DataChannelEvent, at now: Instant) {
    switch event {
    case .announced(let id, let parameters, _):
      ids[parameters.label] = id
      labels[id] = parameters.label
    case .message(let id, let message):
      let label = labels[id] ?? ""
      // The server compresses what it says on these.
      let payload =
        ["signaling", "stats"].contains(label)
        ? try? MessageCompression.inflate(message.payload.span.bytes, limit: 1 << 20)
        : message.payload
      received[label, default: []].append(payload ?? [])
      if label == "signaling", let json = try? JSONValue(parsing: payload ?? []) {
        onSignaling?(json, now)
      }
    case .closed(let id, _):
      if let label = labels.removeValue(forKey: id) { ids[label] = nil } else { closed += 1 }
    case .disconnected, .connected, .acknowledged, .opened, .closing, .bufferedAmountLow,
      .sendBufferLow:
      break
    }
  }
}
