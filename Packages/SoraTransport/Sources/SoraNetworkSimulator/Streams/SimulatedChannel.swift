public import SoraMedia

/// One end of a reliable, ordered connection for text in virtual time, as a WebSocket would be.
///
/// Make a pair with `SimulatedNetwork.makeChannel(delay:)`. Confined to the network's thread. What arrives before
/// `onMessage` is set waits for it.
public final class SimulatedChannel {
  /// Called with each message of the other end, in order.
  public var onMessage: ((String, Instant) -> Void)? {
    didSet { drain() }
  }
  /// Called once when the other end has closed, after its last message.
  public var onClose: ((_ code: Int, _ reason: String, Instant) -> Void)? {
    didSet { drain() }
  }
  /// Whether neither end has closed, as far as this end knows.
  public private(set) var isOpen = true
  /// Travelling time of what is sent from now on; order is kept.
  public var delay: Duration

  private unowned let network: SimulatedNetwork
  private let pipe: MessagePipe
  private var early: [MessagePipe.Item] = []

  init(network: SimulatedNetwork, pipe: MessagePipe, delay: Duration) {
    self.network = network
    self.pipe = pipe
    self.delay = delay
  }

  /// Sends a message. After a close it is dropped.
  public func send(_ text: String) {
    guard isOpen else { return }
    network.send(.text(text), delay, over: pipe)
  }

  /// Closes both ends. What was sent before still arrives.
  public func close(code: Int = 1000, reason: String = "") {
    guard isOpen else { return }
    isOpen = false
    network.send(.close(code, reason), delay, over: pipe)
  }

  fileprivate func received(_ item: MessagePipe.Item) {
    early.append(item)
    drain()
  }

  private func drain() {
    while let item = early.first {
      switch item {
      case .text(let text):
        guard let onMessage else { return }
        early.removeFirst()
        onMessage(text, network.now)
      case .close(let code, let reason):
        isOpen = false
        guard let onClose else { return }
        early.removeFirst()
        onClose(code, reason, network.now)
      }
    }
  }
}

extension SimulatedNetwork {
  /// Makes a connection for text between two parties of the simulation, beside the links: signaling, typically.
  ///
  /// - Parameter delay: travelling time of a message, one way.
  public func makeChannel(delay: Duration = .milliseconds(10)) -> (
    SimulatedChannel, SimulatedChannel
  ) {
    let forward = makePipe()
    let backward = makePipe()
    let a = SimulatedChannel(network: self, pipe: forward, delay: delay)
    let b = SimulatedChannel(network: self, pipe: backward, delay: delay)
    forward.onArrival = { [weak b] in b?.received($0) }
    backward.onArrival = { [weak a] in a?.received($0) }
    return (a, b)
  }
}
