public import SoraICE
public import SoraMedia

/// The connections of one peer to TURN servers: an `ICEStreamSink` over a connector, confined to a loop.
///
/// What is sent in one turn of the loop is handed over at its end, as one.
public final class ICEStreamSet: ICEStreamSink {
  /// Told of what happens, on the loop.
  public var onEvent: ((_ stream: Int, ICEStreamEvent, _ now: Instant) -> Void)?

  // A class: changing a struct inside the dictionary allocates for each packet.
  private final class Entry {
    let connection: any ICEStreamConnection
    var pending: [UInt8] = []
    /// Bytes that the last turn sent: memory for as many is asked for at once.
    var usual = 0
    var isOpen = false

    init(connection: any ICEStreamConnection) { self.connection = connection }

    /// Appends what `write` makes; whether there was room.
    func append(
      _ capacity: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int
    ) -> Bool {
      guard isOpen, capacity > 0, pending.count + capacity <= ICEStreamSet.maximumPending else {
        return false
      }
      let start = pending.count
      if start == 0 { pending.reserveCapacity(max(usual, capacity)) }
      pending.append(contentsOf: repeatElement(0, count: capacity))
      let count = unsafe pending.withUnsafeMutableBytes { all in
        unsafe write(UnsafeMutableRawBufferPointer(rebasing: all[start...]))
      }
      pending.removeLast(capacity - max(0, min(capacity, count)))
      return true
    }

    /// Takes what there is to send.
    func take() -> [UInt8] {
      usual = pending.count
      defer { pending = [] }
      return pending
    }
  }

  private let loop: NetworkLoop
  private let connector: any ICEStreamConnector
  private var entries: [Int: Entry] = [:]
  private var isFlushPlanned = false
  /// A peer that doesn't read its stream loses what comes on top, as a full socket's queue does.
  private static let maximumPending = 1 << 20
  /// Bytes that were dropped for that reason, or because the stream wasn't open.
  public private(set) var bytesDropped: UInt64 = 0

  public init(loop: NetworkLoop, connector: any ICEStreamConnector) {
    self.loop = loop
    self.connector = connector
  }

  public func open(_ stream: Int, to server: ICEServer) {
    let set = LoopBound(self, loop: loop)
    let loop = loop
    let connection = connector.open(server) { event in
      loop.execute { set.value.handle(event, of: stream, at: loop.now) }
    }
    entries[stream] = Entry(connection: connection)
  }

  private func handle(_ event: ICEStreamEvent, of stream: Int, at now: Instant) {
    guard entries[stream] != nil else { return }
    switch event {
    case .opened: entries[stream]?.isOpen = true
    case .received: break
    case .ended: entries[stream] = nil
    }
    onEvent?(stream, event, now)
  }

  public func send(
    _ stream: Int, capacity: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int
  ) {
    guard unsafe entries[stream]?.append(capacity, write) == true else {
      bytesDropped &+= UInt64(max(0, capacity))
      return
    }
    planFlush()
  }

  private func planFlush() {
    guard !isFlushPlanned else { return }
    isFlushPlanned = true
    let set = LoopBound(self, loop: loop)
    loop.execute { set.value.flush() }
  }

  private func flush() {
    isFlushPlanned = false
    for stream in Array(entries.keys) { flush(stream) }
  }

  private func flush(_ stream: Int) {
    guard let entry = entries[stream] else { return }
    let bytes = entry.take()
    if !bytes.isEmpty { entry.connection.send(bytes) }
  }

  public func close(_ stream: Int) {
    flush(stream)
    entries.removeValue(forKey: stream)?.connection.close()
  }

  /// Closes all.
  public func close() {
    for stream in Array(entries.keys) { close(stream) }
    onEvent = nil
  }
}
