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
    pipe.send(.text(text), delay, network)
  }

  /// Closes both ends. What was sent before still arrives.
  public func close(code: Int = 1000, reason: String = "") {
    guard isOpen else { return }
    isOpen = false
    pipe.send(.close(code, reason), delay, network)
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
    let forward = MessagePipe(index: Int32(pipes.count))
    let backward = MessagePipe(index: Int32(pipes.count + 1))
    pipes += [forward, backward]
    let a = SimulatedChannel(network: self, pipe: forward, delay: delay)
    let b = SimulatedChannel(network: self, pipe: backward, delay: delay)
    forward.receiver = b
    backward.receiver = a
    return (a, b)
  }
}

/// One direction of a channel.
final class MessagePipe {
  enum Item {
    case text(String)
    case close(Int, String)
  }

  let index: Int32
  weak var receiver: SimulatedChannel?
  private var waiting: [Item] = []
  private var latest: Int64 = .min

  init(index: Int32) { self.index = index }

  func send(_ item: Item, _ delay: Duration, _ network: SimulatedNetwork) {
    latest = max(latest, network.now.nanoseconds + max(0, delay.wholeNanoseconds))
    waiting.append(item)
    network.heap.push(.message, at: latest, index: index)
  }

  func deliverNext(_ network: SimulatedNetwork) {
    guard !waiting.isEmpty else { return }
    let item = waiting.removeFirst()
    switch item {
    case .text(let text): network.log.record(.message, at: network.now.nanoseconds, text)
    case .close(let code, let reason):
      network.log.record(.message, at: network.now.nanoseconds, "close \(code) \(reason)")
    }
    receiver?.received(item)
    network.deadlinesChanged()
  }
}
