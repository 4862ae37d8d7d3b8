import CSoraNetwork
import SoraICE
import SoraMedia

/// The open sockets of a loop, and what they have to be seen to for in a turn. Confined to the loop.
final class LoopSockets: UDPSocketOwner {
  private let context: LoopContext
  private let turn = SocketTurn()
  private var open: [UInt64: UDPSocket] = [:]
  private var entries: [ObjectIdentifier: HandlerEntry] = [:]
  private var lastToken: UInt64 = 0
  private var ahead = ReadingAhead<UDPSocket>()
  /// What the sockets that are closed by now have done.
  private var closed = NetworkStatistics()

  init(context: LoopContext) { self.context = context }

  var count: Int { open.count }

  var statistics: NetworkStatistics {
    var sum = closed
    for socket in open.values { sum += socket.statistics }
    return sum
  }

  func openUDP(
    _ address: TransportAddress, handler: any DatagramHandler
  ) throws(NetworkError) -> UDPSocket {
    let configuration = context.configuration
    var name = sora_net_address(address)
    name.scope = HostAddress.scope(of: name)
    var options = sora_net_udp_options(
      receive_buffer: Int32(clamping: configuration.receiveBufferBytes),
      send_buffer: Int32(clamping: configuration.sendBufferBytes),
      receive_offload: configuration.receiveOffload ? 1 : 0, segmentation_offload: 0,
      refuses_fragments: configuration.fragmentsLongDatagrams ? 0 : 1)
    var bound = sora_net_address()
    let opened = unsafe sora_net_udp_open(&name, &options, &bound)
    if opened < 0 { throw .binding(address, code: -opened) }
    bound.scope = name.scope
    let descriptor = try PolledDescriptor(taking: opened, token: lastToken + 1, context: context)
    lastToken = descriptor.token
    let entry = entries[ObjectIdentifier(handler)] ?? HandlerEntry(handler)
    entries[ObjectIdentifier(handler)] = entry
    entry.sockets += 1
    let socket = UDPSocket(
      context: context, turn: turn, owner: self, descriptor: descriptor, bound: bound, entry: entry,
      mergesSends: configuration.segmentationOffload && options.segmentation_offload != 0)
    open[descriptor.token] = socket
    return socket
  }

  func closing(_ socket: UDPSocket) {
    socket.descriptor.leave()
    open[socket.descriptor.token] = nil
    ahead.forget(socket)
    socket.entry.sockets -= 1
    if socket.entry.sockets == 0 {
      entries[ObjectIdentifier(socket.entry.handler)] = nil
    }
    closed += socket.statistics
  }

  func closeAll() { for socket in Array(open.values) { socket.close() } }

  // MARK: A turn

  /// The socket to read without asking epoll.
  var candidate: UDPSocket? { ahead.candidate }

  /// Epoll has been asked.
  func waited() { ahead.waited() }

  /// Reads the candidate. Whether it had something.
  func read(ahead socket: UDPSocket, at now: Instant) -> Bool {
    let datagrams = socket.receive(at: now, limit: ahead.left)
    ahead.read(datagrams)
    return datagrams > 0
  }

  func handle(_ event: sora_net_event, isOnly: Bool, at now: Instant) {
    // Not there when an earlier callback of this turn has closed it.
    guard let socket = open[event.token] else { return }
    if event.ready & UInt32(SORA_NET_FAILED) != 0 { socket.readErrors() }
    if event.ready & UInt32(SORA_NET_WRITABLE) != 0 { socket.roomAppeared() }
    if event.ready & UInt32(SORA_NET_READABLE | SORA_NET_FAILED) != 0 {
      let limit = context.configuration.receiveLimit
      let datagrams = socket.receive(at: now, limit: limit)
      if isOnly, !socket.isClosed { ahead.found(only: socket, left: limit - datagrams) }
    }
  }

  func endBatches(at now: Instant) {
    turn.batched.drain { entry in
      entry.isListed = false
      if entry.sockets > 0 { entry.handler.batchEnded(at: now) }
    }
  }

  func flushAll() {
    turn.unflushed.drain { socket in
      socket.isListed = false
      socket.flush()
    }
  }
}
