import SoraMedia
import SoraSignalingChannels
import SoraSignalingMessages
import SoraTransport

/// How a client is spoken to: over its WebSocket, and over data channels from `switched` on. Confined to its connection.
final class ClientSignaling {
  let peer: SFUPeerID
  /// nil where the client has no data channels: it wants none, or has turned them down.
  private(set) var channels: ClientChannels?
  /// Whether the connection outlives its WebSocket, once it has switched.
  let ignoresWebSocket: Bool
  /// A client that came by an HTTP request has none.
  private(set) var hasWebSocket: Bool
  private(set) var isSwitched = false
  /// Whether `switched` is due as soon as no offer waits for its answer.
  private var isReady = false
  private var keepalive: SFUKeepalive
  /// What its calls may cost.
  var calls = CallBudget()

  init(
    peer: SFUPeerID, hasWebSocket: Bool, channels: ClientChannels?, ignoresWebSocket: Bool,
    keepalive: SFUKeepalive
  ) {
    self.peer = peer
    self.hasWebSocket = hasWebSocket
    self.channels = channels
    self.ignoresWebSocket = channels != nil && ignoresWebSocket
    self.keepalive = keepalive
  }

  /// The client has turned the channels down.
  func giveUpChannels() {
    if !isSwitched { channels = nil }
  }

  /// Where something is said.
  enum Way {
    case webSocket
    case channel(ClientChannels, SignalingLabel)
    /// Nowhere: there is no WebSocket any more, and no channel for it.
    case none
  }

  func way(of output: SFUOutput) -> Way {
    guard isSwitched, let channels, let label = output.label else {
      return hasWebSocket ? .webSocket : .none
    }
    return .channel(channels, label)
  }

  // MARK: Switching

  /// The client knows all channels.
  func becameReady() { isReady = true }

  /// Whether to say `switched` now. An offer that is under way is answered first, so that nobody has to guess where.
  func takeSwitch(isNegotiating: Bool) -> Bool {
    guard isReady, !isSwitched, !isNegotiating, channels != nil else { return false }
    isSwitched = true
    return true
  }

  /// - Returns: whether the connection goes on without its WebSocket.
  func webSocketLost() -> Bool {
    hasWebSocket = false
    return isSwitched && ignoresWebSocket
  }

  // MARK: Keeping alive

  enum Due {
    case ping(statistics: Bool)
    /// `req-stats`, on its channel.
    case statistics
    case lost
  }

  func start(at now: Instant) { keepalive.start(at: now) }

  func heard(at now: Instant) { keepalive.receivedPong(at: now) }

  var nextDeadline: Instant? { keepalive.nextDeadline }

  /// What is due. Without a WebSocket nothing is pinged: the path's consent tells whether the client is there.
  func poll(at now: Instant) -> [Due] {
    if !hasWebSocket { keepalive.receivedPong(at: now) }
    switch keepalive.poll(at: now) {
    case .ping(let statistics):
      guard isSwitched else { return [.ping(statistics: statistics)] }
      return (hasWebSocket ? [.ping(statistics: false)] : []) + (statistics ? [.statistics] : [])
    case .lost: return [.lost]
    case nil: return []
    }
  }
}

extension SFUOutput {
  /// The data channel that carries it once the client has switched; nil for what stays on the WebSocket.
  fileprivate var label: SignalingLabel? {
    switch self {
    case .reOffer: .signaling
    case .notify, .event: .notify
    case .push: .push
    case .requestStatistics: .stats
    case .offer, .ping, .switched, .redirect, .close: nil
    }
  }
}
