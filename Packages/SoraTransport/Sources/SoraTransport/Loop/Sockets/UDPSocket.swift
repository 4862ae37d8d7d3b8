import CSoraNetwork
public import SoraMedia
public import SoraWire

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

  let context: LoopContext
  let turn: SocketTurn
  private unowned let owner: any UDPSocketOwner
  /// Its token is never used again after it is closed.
  let descriptor: PolledDescriptor
  let entry: HandlerEntry
  /// The interface of a link-local address.
  let scope: UInt32

  // What packets touch is stored in internal properties: the compiler sees every use of those, and need not check
  // each one for overlapping access as it does with public ones.
  private(set) var closed = false
  var counters = NetworkStatistics()
  var deliveredECN = ECNCodepoint.notECT

  /// What was sent in this turn, and what didn't fit into the kernel's buffer earlier.
  @safe @exclusivity(unchecked) var queue: SendQueue
  /// In the loop's list of sockets to flush at the end of the turn.
  var isListed = false
  /// The kernel's buffer is full: epoll says when it isn't.
  var isWaitingForRoom = false

  /// The kernel's count of overflows when it was last read.
  var overflow: UInt32 = 0

  init(
    context: LoopContext, turn: SocketTurn, owner: any UDPSocketOwner, descriptor: PolledDescriptor,
    bound: sora_net_address, entry: HandlerEntry, mergesSends: Bool
  ) {
    self.context = context
    self.turn = turn
    self.owner = owner
    self.descriptor = descriptor
    self.entry = entry
    queue = SendQueue(mergesRuns: mergesSends)
    localAddress = bound.transportAddress
    scope = bound.scope
  }

  /// Datagrams that wait for room in the kernel's buffer or for the end of the turn.
  public var queuedDatagrams: Int { queue.count }

  /// Lends memory for one datagram and queues what `write` put there. Never blocks.
  ///
  /// What is sent in one turn of the loop leaves at its end in few system calls, or sooner where it is much. Datagrams for one destination
  /// leave in the order in which they were sent; those for several are brought together by destination.
  ///
  /// - Parameters:
  ///   - destination: whom it is for.
  ///   - ecn: what its IP header says.
  ///   - capacity: bytes that `write` needs at most, up to 65,507. No more than 2,048 cost no allocation.
  ///   - write: fills the memory (16-byte aligned, at least `capacity` bytes) from its start and returns how many
  ///     bytes count; 0 sends nothing.
  /// - Returns: whether something was queued. Where the queue is full or the socket closed, `write` isn't called
  ///   and the loss is counted in `statistics.drops`.
  @discardableResult
  public func send(
    to destination: TransportAddress, ecn: ECNCodepoint = .notECT, capacity: Int = 1500,
    _ write: (UnsafeMutableRawBufferPointer) -> Int
  ) -> Bool {
    context.preconditionCurrent()
    if closed {
      counters.drops.closed &+= 1
      return false
    }
    if capacity > SendSlab.longestDatagram || capacity < 0 {
      counters.drops.tooLong &+= 1
      return false
    }
    if queue.count >= context.configuration.queueLimit {
      // A turn that sends more than the queue holds: the kernel may have room.
      if !isWaitingForRoom { flush() }
      if queue.count >= context.configuration.queueLimit {
        counters.drops.queueFull &+= 1
        return false
      }
    }
    let slot = unsafe context.slab.take(capacity: capacity)
    let room = max(capacity, SendSlab.slotSize)
    let count = unsafe write(UnsafeMutableRawBufferPointer(start: slot.pointee.data, count: room))
    precondition(count <= room, "more was written than the memory lent for the datagram")
    // `write` may have closed the socket.
    guard count > 0, !closed else {
      unsafe context.slab.give(back: slot)
      return false
    }
    unsafe slot.pointee.count = UInt32(truncatingIfNeeded: count)
    unsafe slot.pointee.to = sora_net_address(destination)
    unsafe slot.pointee.to.scope = scope
    unsafe slot.pointee.ecn = UInt32(ecn.rawValue)
    unsafe queue.append(slot)
    if !isListed {
      isListed = true
      turn.unflushed.append(self)
    }
    if queue.fillsCaches, !isWaitingForRoom { flush() }
    return true
  }

  /// Sends what is queued as far as the kernel takes it at once, then closes the socket and lets go of the handler,
  /// which isn't called again (also not for datagrams of the same batch). May be called in any callback, and twice.
  public func close() {
    context.preconditionCurrent()
    guard !closed else { return }
    flush()
    closed = true
    while queue.count > 0 {
      counters.drops.closed &+= 1
      unsafe context.slab.give(back: queue.removeFirst())
    }
    owner.closing(self)
    descriptor.close()
  }
}

/// Receives what arrives on a loop's sockets. Called only on the loop's thread.
///
/// A socket holds its handler until it is closed. One handler may serve several sockets.
public protocol DatagramHandler: AnyObject {
  /// A datagram has arrived. `bytes` is lent for the duration of the call and may be written to (to decrypt in
  /// place); it may be empty. `now` is the same for everything that arrives in one turn of the loop. What its IP
  /// header's ECN bits were, `socket.receivedECN` says.
  func received(
    _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress, on socket: UDPSocket,
    at now: Instant)

  /// Everything that could be read in this turn has been delivered: the time to do work once a batch, such as
  /// sending feedback. Called once a turn for each handler that received something.
  func batchEnded(at now: Instant)
}

extension DatagramHandler {
  public func batchEnded(at now: Instant) {}
}

/// A handler with a mark that tells whether it is already listed for `batchEnded` in this turn, so that finding
/// out costs no look-up a packet. One a handler, however many sockets it has.
final class HandlerEntry {
  let handler: any DatagramHandler
  var sockets = 0
  var isListed = false

  init(_ handler: any DatagramHandler) { self.handler = handler }
}

/// What sockets and handlers have still to be seen to for in a turn of their loop.
final class SocketTurn {
  /// With something to flush at its end.
  let unflushed = TurnList<UDPSocket>()
  /// That received something.
  let batched = TurnList<HandlerEntry>()
}

/// Who holds open sockets.
protocol UDPSocketOwner: AnyObject {
  func closing(_ socket: UDPSocket)
}
