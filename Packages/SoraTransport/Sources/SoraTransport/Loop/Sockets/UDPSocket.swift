import CSoraNetwork
public import SoraICE

/// A UDP socket of a loop. Made by `NetworkLoop.openUDP`, confined to that loop.
///
/// The loop holds an open socket; `close()` lets go of it and of its handler.
@safe public final class UDPSocket {
  /// The address and port that it is bound to.
  public let localAddress: TransportAddress
  /// Whether `close()` was called.
  public var isClosed: Bool { closed }
  /// What it has done so far.
  public var statistics: NetworkStatistics { counters }
  /// What the IP header of the datagram said that is being delivered: for use inside `DatagramHandler.received`.
  public var receivedECN: ECNCodepoint { deliveredECN }
  /// The last word of a router, or of this host's kernel, about a path that takes no longer packets.
  public internal(set) var pathMTUReport: PathMTUReport?

  /// As many datagrams as a processor's caches still hold when the kernel copies them. More leave before the turn ends, where they
  /// came by destination, in runs of this length on average; else they wait to be brought together.
  private static let queuedAtOnce = 256
  private static let averageRun = 4

  let core: LoopCore
  let descriptor: Int32
  /// Names the socket in epoll; never used again after it is closed.
  let token: UInt64
  let entry: HandlerEntry
  /// The interface of a link-local address.
  let scope: UInt32

  // What packets touch is stored in internal properties: the compiler sees every use of those, and need not check
  // each one for overlapping access as it does with public ones.
  private(set) var closed = false
  var counters = NetworkStatistics()
  var deliveredECN = ECNCodepoint.notECT

  // The queue: what was sent in this turn, and what didn't fit into the kernel's buffer earlier.
  var first: UnsafeMutablePointer<sora_net_slot>?
  var last: UnsafeMutablePointer<sora_net_slot>?
  var queued = 0
  /// How often the destination has changed from one to the next since the queue was empty.
  private var runs = 0
  /// Datagrams at the head of the queue that have been brought into the order in which they leave.
  var grouped = 0
  /// In the loop's list of sockets to flush at the end of the turn.
  var isListed = false
  /// The kernel's buffer is full: epoll says when it isn't.
  var isWaitingForRoom = false

  /// Whether runs of datagrams are merged (UDP_SEGMENT).
  var mergesSends: Bool
  /// Datagrams at the head of the queue to send one by one, because they were refused as one message.
  var singles = 0
  var refusals = 0
  /// The kernel's count of overflows when it was last read.
  var overflow: UInt32 = 0

  init(
    core: LoopCore, descriptor: Int32, token: UInt64, bound: sora_net_address, entry: HandlerEntry,
    mergesSends: Bool
  ) {
    self.core = core
    self.descriptor = descriptor
    self.token = token
    self.entry = entry
    self.mergesSends = mergesSends
    localAddress = bound.transportAddress
    scope = bound.scope
  }

  /// Datagrams that wait for room in the kernel's buffer or for the end of the turn.
  public var queuedDatagrams: Int { queued }

  /// Lends memory for one datagram and queues what `write` put there. Never blocks.
  ///
  /// What is sent in one turn of the loop leaves at its end in few system calls, or sooner where it is much. Datagrams for one destination
  /// leave in the order in which they were sent; those for several are brought together by destination.
  ///
  /// - Parameters:
  ///   - destination: whom it is for.
  ///   - capacity: bytes that `write` needs at most, up to 65,507. No more than 2,048 cost no allocation.
  ///   - write: fills the memory (16-byte aligned, at least `capacity` bytes) from its start and returns how many
  ///     bytes count; 0 sends nothing.
  /// - Returns: whether something was queued. Where the queue is full or the socket closed, `write` isn't called
  ///   and the loss is counted in `statistics.drops`.
  @discardableResult
  public func send(
    to destination: TransportAddress, capacity: Int = 1500,
    _ write: (UnsafeMutableRawBufferPointer) -> Int
  ) -> Bool {
    core.preconditionCurrent()
    if closed {
      counters.drops.closed &+= 1
      return false
    }
    if capacity > SendSlab.longestDatagram || capacity < 0 {
      counters.drops.tooLong &+= 1
      return false
    }
    if queued >= core.configuration.queueLimit {
      // A turn that sends more than the queue holds: the kernel may have room.
      if !isWaitingForRoom { flush() }
      if queued >= core.configuration.queueLimit {
        counters.drops.queueFull &+= 1
        return false
      }
    }
    let slot = unsafe core.slab.take(capacity: capacity)
    let room = max(capacity, SendSlab.slotSize)
    let count = unsafe write(UnsafeMutableRawBufferPointer(start: slot.pointee.data, count: room))
    precondition(count <= room, "more was written than the memory lent for the datagram")
    // `write` may have closed the socket.
    guard count > 0, !closed else {
      unsafe core.slab.give(back: slot)
      return false
    }
    unsafe slot.pointee.count = UInt32(truncatingIfNeeded: count)
    unsafe slot.pointee.to = sora_net_address(destination)
    unsafe slot.pointee.to.scope = scope
    unsafe append(slot)
    if !isListed {
      isListed = true
      core.unflushed.append(self)
    }
    if queued >= Self.queuedAtOnce, runs * Self.averageRun <= queued, !isWaitingForRoom { flush() }
    return true
  }

  /// Sends what is queued as far as the kernel takes it at once, then closes the socket and lets go of the handler,
  /// which isn't called again (also not for datagrams of the same batch). May be called in any callback, and twice.
  public func close() {
    core.preconditionCurrent()
    guard !closed else { return }
    flush()
    closed = true
    while queued > 0 {
      counters.drops.closed &+= 1
      unsafe core.slab.give(back: removeFirst())
    }
    core.forget(self)
    sora_net_close(descriptor)
  }

  // MARK: The queue

  private func append(_ slot: UnsafeMutablePointer<sora_net_slot>) {
    if let last = unsafe last {
      if unsafe !last.pointee.to.isEqual(slot.pointee.to) { runs += 1 }
      unsafe last.pointee.next = unsafe slot
    } else {
      unsafe first = unsafe slot
      runs = 1
    }
    unsafe last = unsafe slot
    queued += 1
  }

  func removeFirst() -> UnsafeMutablePointer<sora_net_slot> {
    let slot = unsafe first.unsafelyUnwrapped
    unsafe first = unsafe slot.pointee.next
    if unsafe first == nil { unsafe last = nil }
    queued -= 1
    if grouped > 0 { grouped -= 1 }
    return unsafe slot
  }
}
