import SoraDataChannel
import SoraMedia
import Synchronization

/// A channel for messages to the other side, beside media or without any (W3C `RTCDataChannel`).
///
/// Safe from any thread. What comes waits until a delegate is set or ``messages`` is read; of these two the first one takes all.
/// A channel whose messages nobody takes is closed beyond 16 MiB of them.
public final class RTCDataChannel: Sendable {
  private struct State: Sendable {
    var readyState: RTCDataChannelState
    var stream: UInt16?
    var isClosing = false
    weak var delegate: (any RTCDataChannelDelegate)?
  }

  /// The name that it was made with; not unique.
  public let label: String
  /// Whether messages come in the order in which they were sent.
  public let isOrdered: Bool
  /// What is spoken over it.
  public let `protocol`: String
  /// Whether both sides made it, without a word between them.
  public let isNegotiated: Bool
  private let reliability: DataChannelReliability
  private let state: Mutex<State>
  let inbox: DataChannelInbox
  let outbox = DataChannelOutbox()
  private let actor: PeerConnectionActor
  /// Runs on the connection's serial queue.
  private let onQueue: @Sendable (@escaping @Sendable () -> Void) -> Void

  init(
    _ parameters: DataChannelParameters, stream: UInt16?, isNegotiated: Bool,
    readyState: RTCDataChannelState, actor: PeerConnectionActor, backlog: DataBacklog,
    onQueue: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void
  ) {
    label = parameters.label
    isOrdered = parameters.isOrdered
    `protocol` = parameters.protocol
    reliability = parameters.reliability
    self.isNegotiated = isNegotiated
    self.actor = actor
    self.onQueue = onQueue
    state = Mutex(State(readyState: readyState, stream: stream))
    inbox = DataChannelInbox(backlog: backlog) {
      actor.execute { driver in driver.perform { _, _ in driver.data.resume() } }
    }
  }

  // MARK: State

  public var readyState: RTCDataChannelState { state.withLock { $0.readyState } }
  /// The stream's number; -1 until it has one.
  public var channelId: Int32 { state.withLock { $0.stream.map(Int32.init) ?? -1 } }
  /// How often a message is sent again; 65,535 without a limit, as libwebrtc has it.
  public var maxRetransmits: UInt16 {
    if case .maximumRetransmits(let count) = reliability { count } else { .max }
  }
  /// Milliseconds for which a message is sent again; 65,535 without a limit, as libwebrtc has it.
  public var maxPacketLifeTime: UInt16 {
    if case .maximumLifetime(let milliseconds) = reliability {
      UInt16(clamping: milliseconds)
    } else {
      .max
    }
  }
  /// Whether every message comes, unless the connection fails.
  public var isReliable: Bool { reliability == .reliable }
  /// Bytes that were given to `sendData` and haven't left.
  public var bufferedAmount: UInt64 { UInt64(outbox.amount) }
  /// What `bufferedAmount` has to fall to for the delegate to be told; at first 0. Not libwebrtc's.
  public var bufferedAmountLowThreshold: UInt64 {
    get { UInt64(outbox.lowThreshold) }
    set { outbox.lowThreshold = Int(clamping: newValue) }
  }

  /// Held weakly. One that is set late is told all the same what came, and what the state is by then.
  public var delegate: (any RTCDataChannelDelegate)? {
    get { state.withLock { $0.delegate } }
    set {
      state.withLock { $0.delegate = newValue }
      if newValue != nil, inbox.startDelegate() { schedule() }
    }
  }

  // MARK: Messages

  /// Sends a message.
  ///
  /// - Returns: whether it was taken: the channel is open, and no more than 16 MiB wait with it.
  @discardableResult
  public func sendData(_ data: RTCDataBuffer) -> Bool {
    do throws(RTCDataChannelError) {
      try enqueue(data)
      return true
    } catch {
      return false
    }
  }

  /// Sends a message as soon as no more than 1 MiB waits. From several tasks at once, in no order between them. Not libwebrtc's.
  public func send(_ data: RTCDataBuffer) async throws(RTCDataChannelError) {
    await outbox.waitForRoom()
    try enqueue(data)
  }

  /// Sends a message as `sendData` does, or says why it can't. Not libwebrtc's.
  public func enqueue(_ data: RTCDataBuffer) throws(RTCDataChannelError) {
    let now = readyState
    guard now == .open else { throw .notOpen(now) }
    switch outbox.insert(DataMessage(data: data.data, isText: !data.isBinary)) {
    case .refused(.ended): throw .notOpen(.closed)
    case .refused(.messageTooLarge(let count, let limit)):
      throw .messageTooLarge(count: count, limit: limit)
    case .refused(.full(let limit)): throw .bufferFull(limit: limit)
    case .accepted(let schedule):
      if schedule {
        actor.execute { [self] driver in driver.perform { _, _ in driver.data.flush(self) } }
      }
    }
  }

  /// What comes, in order; ends with the channel. For one task at a time, in place of a delegate; a task that is slow makes the other
  /// side wait, on all channels of the connection once 4 MiB wait: SCTP has one window for them. One that takes nothing for ten seconds
  /// then loses its channel, which is closed with all that waits. Not libwebrtc's.
  public var messages: Messages { Messages(inbox: inbox) }

  /// The messages of a channel.
  public struct Messages: AsyncSequence, Sendable {
    fileprivate let inbox: DataChannelInbox

    public func makeAsyncIterator() -> Iterator { Iterator(inbox: inbox) }

    public struct Iterator: AsyncIteratorProtocol {
      fileprivate let inbox: DataChannelInbox

      public mutating func next() async -> RTCDataBuffer? {
        await inbox.next().map(RTCDataBuffer.init)
      }
    }
  }

  /// Closes the channel once all that waits has been sent; nothing more can be sent.
  public func close() {
    let isNew = state.withLock { state in
      guard !state.isClosing, state.readyState != .closed else { return false }
      state.isClosing = true
      state.readyState = .closing
      return true
    }
    guard isNew else { return }
    tell(.stateChanged)
    actor.execute { [self] driver in driver.perform { _, _ in driver.data.close(self) } }
  }

  // MARK: To the delegate

  private func tell(_ item: DataChannelInbox.Item) {
    if inbox.insert(item) { schedule() }
  }

  private func schedule() {
    onQueue { [self] in
      while let item = inbox.nextForDelegate() {
        let delegate = delegate
        switch item {
        case .message(let message):
          delegate?.dataChannel(self, didReceiveMessageWith: RTCDataBuffer(message))
          inbox.taken(message)
        case .stateChanged: delegate?.dataChannelDidChangeState(self)
        case .amountChanged(let amount, let isLow):
          delegate?.dataChannel(self, didChangeBufferedAmount: amount)
          if isLow { delegate?.dataChannelDidReachLowBufferedAmount(self) }
        }
      }
    }
  }
}

extension RTCDataChannel: DataChannelEnd {
  /// What the app has closed doesn't open any more.
  func update(_ newState: DataChannelState, stream: UInt16?) {
    let readyState = RTCDataChannelState(newState)
    let hasChanged = state.withLock { state in
      if let stream { state.stream = stream }
      guard state.readyState != readyState, state.readyState != .closed,
        !state.isClosing || readyState == .closed
      else { return false }
      state.readyState = readyState
      return true
    }
    if hasChanged { tell(.stateChanged) }
    guard readyState == .closed else { return }
    outbox.end()
    inbox.end()
  }

  func receive(_ message: DataMessage) -> Bool {
    let (insertion, isFull) = inbox.insert(message)
    switch insertion {
    case .none: break
    case .schedule: schedule()
    case .overflow: close()
    }
    return isFull
  }

  var unread: Int { inbox.unread }

  func abandon() {
    close()
    inbox.discard()
  }

  func update(handed: Int) {
    guard let (amount, isLow) = outbox.update(handed: handed) else { return }
    tell(.amountChanged(UInt64(amount), isLow: isLow))
  }
}

extension RTCDataBuffer {
  init(_ message: DataMessage) { self.init(data: message.data, isBinary: !message.isText) }
}

extension RTCDataChannelState {
  init(_ state: DataChannelState) {
    self =
      switch state {
      case .connecting: .connecting
      case .open: .open
      case .closing: .closing
      case .closed: .closed
      }
  }
}

/// What happens to a data channel. All calls come on the connection's serial queue, in order; none blocks the network. A delegate that is
/// slow makes the other side wait: what comes is held back once 4 MiB wait for the app.
public protocol RTCDataChannelDelegate: AnyObject, Sendable {
  /// `readyState` has changed, and can have changed again by the time of this call: who is told of `closing` may read `closed`, twice.
  func dataChannelDidChangeState(_ dataChannel: RTCDataChannel)
  /// A message has come.
  func dataChannel(
    _ dataChannel: RTCDataChannel, didReceiveMessageWith buffer: RTCDataBuffer)
  /// Bytes have left; `amount` are those that still wait.
  func dataChannel(_ dataChannel: RTCDataChannel, didChangeBufferedAmount amount: UInt64)
  /// `bufferedAmount` has fallen to `bufferedAmountLowThreshold`, from above it (W3C `bufferedamountlow`). Not libwebrtc's.
  func dataChannelDidReachLowBufferedAmount(_ dataChannel: RTCDataChannel)
}

extension RTCDataChannelDelegate {
  public func dataChannel(_: RTCDataChannel, didChangeBufferedAmount amount: UInt64) {}
  public func dataChannelDidReachLowBufferedAmount(_: RTCDataChannel) {}
}
