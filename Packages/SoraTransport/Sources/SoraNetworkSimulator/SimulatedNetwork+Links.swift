import SoraMedia
public import SoraWire

extension SimulatedNetwork: LinkNetwork {
  /// Sends a datagram, see `DatagramSink`. The sender's address has to belong to a host; it needs no binding.
  public func send(
    from local: TransportAddress, to remote: TransportAddress, ecn: ECNCodepoint = .notECT,
    capacity: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int
  ) {
    guard capacity > 0, capacity <= DatagramPool.largeCapacity else {
      drops.tooLarge += 1
      return
    }
    let slot = pool.allocate(room: capacity, source: local, destination: remote)
    let memory = unsafe pool.buffer(slot)
    // A writer that counts bytes it didn't write sends zeros, not what the slot held: runs stay the same.
    unsafe UnsafeMutableRawBufferPointer(rebasing: memory[0..<capacity]).initializeMemory(
      as: UInt8.self, repeating: 0)
    let count = unsafe write(memory)
    guard count > 0, count <= capacity else {
      if count > 0 { drops.tooLarge += 1 }
      pool.free(slot)
      return
    }
    unsafe pool.header(slot).pointee.count = Int32(count)
    unsafe pool.header(slot).pointee.sentAt = now.nanoseconds
    unsafe pool.header(slot).pointee.ecn = ecn
    guard let node = topology.owner(of: local.ip) else {
      drops.unknownSender += 1
      drop(slot, .unknownSender)
      return
    }
    record(.sent, slot)
    if topology.owner(of: remote.ip) == node {
      heap.push(
        .loopback, at: now.nanoseconds + SimulatedNetwork.loopbackDelay, index: slot)
      return
    }
    route(slot, at: node)
  }

  /// Sends a copy of `bytes`.
  public func send(_ bytes: [UInt8], from local: TransportAddress, to remote: TransportAddress) {
    unsafe send(from: local, to: remote, capacity: max(bytes.count, 1)) { memory in
      unsafe memory.copyBytes(from: bytes)
      return bytes.count
    }
  }

  /// Changes a direction's conditions now. The datagram that is being sent finishes at the old rate,
  /// and those behind it follow at the new one.
  func apply(_ conditions: LinkConditions, to direction: LinkDirection) {
    direction.conditions = conditions
    if !conditions.isUp {
      // The head stays until its departure event, which finds the link down and drops it.
      var kept: [Int32] = []
      while let slot = direction.queue.head {
        unsafe direction.queue.removeHead(wireBytes: pool.header(slot).pointee.wireBytes)
        kept.append(slot)
      }
      for (position, slot) in kept.enumerated() {
        if position == 0 && direction.isSending {
          unsafe direction.queue.append(slot, wireBytes: pool.header(slot).pointee.wireBytes)
        } else {
          direction.statistics.droppedWhileDown += 1
          drop(slot, .linkDown)
        }
      }
    }
  }

  // MARK: The way of a datagram

  /// Finds the way on from a node that isn't the destination.
  func route(_ slot: Int32, at node: Int) {
    let header = unsafe pool.header(slot).pointee
    guard
      let next = topology.nextHop(
        from: node, source: header.source.ip, to: header.destination.ip)
    else {
      drops.noRoute += 1
      drop(slot, .noRoute)
      return
    }
    enter(slot, topology.direction(next))
  }

  private func enter(_ slot: Int32, _ direction: LinkDirection) {
    let header = unsafe pool.header(slot)
    direction.statistics.sentPackets += 1
    unsafe direction.statistics.sentBytes += Int(header.pointee.count)
    guard direction.conditions.isUp else {
      direction.statistics.droppedWhileDown += 1
      drop(slot, .linkDown)
      return
    }
    guard unsafe header.pointee.count <= direction.conditions.maximumPayload else {
      direction.statistics.droppedTooLarge += 1
      if direction.conditions.reportsTooLarge { reportTooLarge(slot, direction) }
      drop(slot, .tooLarge)
      return
    }
    if direction.conditions.clearsECN { unsafe header.pointee.ecn = .notECT }
    unsafe header.pointee.linkOrder = direction.nextOrder
    direction.nextOrder &+= 1
    guard direction.conditions.bitsPerSecond != nil || direction.isSending else {
      travel(slot, direction, from: now.nanoseconds)
      return
    }
    let wireBytes = unsafe header.pointee.wireBytes
    let fits =
      switch direction.conditions.queue {
      // An idle link takes any datagram.
      case .time(let limit):
        !direction.isSending
          || direction.waitingTime(at: now.nanoseconds) <= limit.wholeNanoseconds
      case .bytes(let limit):
        !direction.isSending || direction.queue.bytes + wireBytes <= limit
      }
    guard fits || direction.conditions.bitsPerSecond == nil else {
      direction.statistics.droppedByQueue += 1
      drop(slot, .queueFull)
      return
    }
    unsafe header.pointee.queuedAt = now.nanoseconds
    direction.queue.append(slot, wireBytes: wireBytes)
    direction.statistics.largestQueueBytes = max(
      direction.statistics.largestQueueBytes, direction.queue.bytes)
    if !direction.isSending { startSending(direction) }
  }

  /// Tells the sender, once as much time has passed as the datagram took to get here.
  private func reportTooLarge(_ slot: Int32, _ direction: LinkDirection) {
    let header = unsafe pool.header(slot).pointee
    let limit = direction.conditions.maximumPayload
    after(.nanoseconds(now.nanoseconds - header.sentAt)) { [unowned self] now in
      guard let index = endpoints.bound(to: header.origin) else { return }
      endpoints.endpoint(index)?.tooLarge(
        from: header.origin, to: header.originalDestination, maximumPayload: limit, at: now)
    }
  }

  /// Drops, or marks where it may, what CoDel wants dropped from the head of the queue.
  private func manageQueue(_ direction: LinkDirection) {
    guard let codel = direction.conditions.codel, direction.conditions.bitsPerSecond != nil else {
      return
    }
    while let slot = direction.queue.head {
      let header = unsafe pool.header(slot).pointee
      let drops = direction.codel.drops(
        now.nanoseconds - header.queuedAt, backlog: direction.queue.bytes - header.wireBytes,
        codel, at: now.nanoseconds)
      guard drops else { return }
      if codel.marks, header.ecn != .notECT { return mark(slot, direction) }
      direction.queue.removeHead(wireBytes: header.wireBytes)
      direction.statistics.droppedByCoDel += 1
      drop(slot, .droppedByCoDel)
    }
  }

  /// RFC 9332, appendix A.1: a packet of full size behind the head is no queue, however slow the link.
  private static let leastScalableQueue = 1500

  private func mark(_ slot: Int32, _ direction: LinkDirection) {
    unsafe pool.header(slot).pointee.ecn = .congestionExperienced
    direction.statistics.marked += 1
  }

  private func startSending(_ direction: LinkDirection) {
    manageQueue(direction)
    guard let slot = direction.queue.head else {
      direction.sending = nil
      direction.codel.emptied()
      return
    }
    let header = unsafe pool.header(slot)
    let wireBytes = unsafe header.pointee.wireBytes
    if let threshold = direction.conditions.scalableThreshold, unsafe header.pointee.ecn == .ect1,
      direction.queue.bytes - wireBytes > Self.leastScalableQueue,
      unsafe now.nanoseconds - header.pointee.queuedAt > threshold.wholeNanoseconds
    {
      mark(slot, direction)
    }
    let done = now.nanoseconds + direction.sendingTime(wireBytes)
    direction.sending = (done, wireBytes)
    let waited = unsafe Duration.nanoseconds(now.nanoseconds - header.pointee.queuedAt)
    direction.statistics.totalQueueTime += waited
    direction.statistics.longestQueueTime = max(direction.statistics.longestQueueTime, waited)
    if let observer = direction.onDeparture {
      let (source, destination) = unsafe (header.pointee.source, header.pointee.destination)
      observer(
        QueuedDatagram(
          source: source, destination: destination, wireBytes: wireBytes, waited: waited), now)
    }
    heap.push(.departure, at: done, index: direction.index)
  }

  func departed(_ direction: LinkDirection) {
    guard let slot = direction.queue.head else {
      direction.sending = nil
      return
    }
    unsafe direction.queue.removeHead(wireBytes: pool.header(slot).pointee.wireBytes)
    if direction.conditions.isUp {
      travel(slot, direction, from: now.nanoseconds)
    } else {
      direction.statistics.droppedWhileDown += 1
      drop(slot, .linkDown)
    }
    startSending(direction)
  }

  /// Loses, copies and delays a datagram that has left the queue.
  private func travel(_ slot: Int32, _ direction: LinkDirection, from start: Int64) {
    if direction.random.chance(direction.conditions.loss) {
      direction.statistics.lostAtRandom += 1
      drop(slot, .lostAtRandom)
      return
    }
    if let burst = direction.conditions.burstLoss {
      let leaves = direction.isBad ? burst.badToGood : burst.goodToBad
      if direction.random.chance(leaves) { direction.isBad.toggle() }
      if direction.random.chance(direction.isBad ? burst.lossInBad : burst.lossInGood) {
        direction.statistics.lostInBursts += 1
        drop(slot, .lostInBurst)
        return
      }
    }
    schedule(slot, direction, from: start)
    if direction.random.chance(direction.conditions.duplication) {
      let twin = pool.copy(slot)
      direction.statistics.duplicated += 1
      record(.duplicated, twin)
      schedule(twin, direction, from: start)
    }
  }

  private func schedule(_ slot: Int32, _ direction: LinkDirection, from start: Int64) {
    let conditions = direction.conditions
    var travel = conditions.delay.wholeNanoseconds
    let jitter = conditions.jitter.wholeNanoseconds
    if jitter > 0 {
      let draw =
        conditions.jitterShape == .uniform
        ? 2 * direction.random.unit() - 1 : direction.random.normal()
      travel += Int64(draw * Double(jitter))
    }
    var arrival = start &+ max(0, travel)
    if !conditions.jitterReorders { arrival = max(arrival, direction.latestArrival) }
    if direction.random.chance(conditions.reordering) {
      direction.statistics.heldBack += 1
      arrival &+= max(0, conditions.reorderingDelay.wholeNanoseconds)
    } else {
      direction.latestArrival = max(direction.latestArrival, arrival)
    }
    heap.push(.arrival, at: arrival, index: direction.index, extra: slot)
  }

  func arrived(_ slot: Int32, _ direction: LinkDirection) {
    let header = unsafe pool.header(slot)
    direction.statistics.deliveredPackets += 1
    unsafe direction.statistics.deliveredBytes += Int(header.pointee.count)
    if direction.hasArrived, unsafe header.pointee.linkOrder < direction.highestArrived {
      direction.statistics.arrivedOutOfOrder += 1
    } else {
      direction.highestArrived = unsafe header.pointee.linkOrder
      direction.hasArrived = true
    }
    let node = topology.host(direction.to)
    if node.isRouter {
      if unsafe header.pointee.hopsLeft == 0 {
        drops.hopLimit += 1
        drop(slot, .hopLimit)
        return
      }
      unsafe header.pointee.hopsLeft -= 1
      if let middlebox = node.middlebox {
        var source = unsafe header.pointee.source
        var destination = unsafe header.pointee.destination
        let bytes = unsafe pool.payload(slot)
        let goesOn = unsafe middlebox.forward(
          source: &source, destination: &destination, payload: bytes,
          over: topology.link(of: direction.index), at: now)
        unsafe pool.header(slot).pointee.source = source
        unsafe pool.header(slot).pointee.destination = destination
        guard goesOn else {
          drops.filtered += 1
          drop(slot, .filtered)
          return
        }
      }
    }
    if unsafe topology.owner(of: pool.header(slot).pointee.destination.ip) == direction.to {
      deliver(slot)
    } else if node.isRouter {
      route(slot, at: direction.to)
    } else {
      drops.noRoute += 1
      drop(slot, .noRoute)
    }
  }

  func deliver(_ slot: Int32) {
    let header = unsafe pool.header(slot).pointee
    guard let index = endpoints.bound(to: header.destination) else {
      drops.noEndpoint += 1
      drop(slot, .noEndpoint)
      return
    }
    record(.delivered, slot)
    let bytes = unsafe pool.payload(slot)
    unsafe endpoints.endpoint(index)?.received(
      bytes, from: header.source, on: header.destination, ecn: header.ecn, at: now)
    pool.free(slot)
    refreshHost(endpoints.host(of: index))
  }

  private func drop(_ slot: Int32, _ reason: SimulationLog.Kind) {
    record(reason, slot)
    pool.free(slot)
  }

  private func record(_ kind: SimulationLog.Kind, _ slot: Int32) {
    unsafe log.record(kind, at: now.nanoseconds, pool.header(slot), pool.buffer(slot))
  }
}
