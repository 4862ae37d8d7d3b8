import CSoraNetwork
import SoraMedia
import SoraWire

extension UDPSocket {
  /// Reads and delivers what has arrived, up to `limit` datagrams and at most one batch more. What is left is reported
  /// by epoll again in the next turn, after the other sockets have had theirs. Returns how many were delivered.
  func receive(at now: Instant, limit: Int) -> Int {
    var budget = limit
    let receiver = unsafe context.receiver
    while budget > 0 {
      let count = unsafe sora_net_receive(receiver, descriptor.number)
      counters.receiveCalls &+= 1
      // EAGAIN, or an error that a peer's ICMP left on the socket: reading has cleared it, and epoll reports what is
      // there once more.
      guard count > 0, let messages = unsafe receiver.pointee.messages else { break }
      if !entry.isListed {
        entry.isListed = true
        turn.batched.append(entry)
      }
      for index in 0..<Int(count) {
        unsafe budget -= deliver(messages + index, at: now)
        if closed { return limit - budget }
      }
      if unsafe count < receiver.pointee.slots { break }
    }
    return limit - budget
  }

  /// Delivers one message's datagrams and returns how many they were.
  private func deliver(_ message: UnsafeMutablePointer<sora_net_message>, at now: Instant) -> Int {
    if unsafe message.pointee.overflow != 0 {
      unsafe counters.drops.receiveBufferFull &+= UInt64(message.pointee.overflow &- overflow)
      overflow = unsafe message.pointee.overflow
    }
    if unsafe message.pointee.truncated != 0 {
      counters.drops.truncated &+= 1
      return 1
    }
    let source = unsafe message.pointee.from.transportAddress
    // Of all datagrams of the message: the kernel merges none that differ.
    let ecn =
      unsafe ECNCodepoint(rawValue: UInt8(truncatingIfNeeded: message.pointee.ecn)) ?? .notECT
    deliveredECN = ecn
    let total = unsafe Int(message.pointee.count)
    let segment = unsafe message.pointee.segment == 0 ? max(1, total) : Int(message.pointee.segment)
    if segment < total { counters.mergedReceives &+= 1 }
    var offset = 0
    var datagrams = 0
    repeat {
      let length = min(segment, total - offset)
      counters.datagramsReceived &+= 1
      counters.bytesReceived &+= UInt64(length)
      datagrams += 1
      unsafe entry.handler.received(
        UnsafeMutableRawBufferPointer(start: message.pointee.data + offset, count: length),
        from: source, on: self, at: now)
      offset += segment
    } while offset < total && !closed
    if ecn != .notECT { counters.count(ecn, UInt64(datagrams)) }
    return datagrams
  }
}

extension NetworkStatistics {
  fileprivate mutating func count(_ ecn: ECNCodepoint, _ datagrams: UInt64) {
    switch ecn {
    case .notECT: break
    case .ect0: datagramsReceivedWithECT0 &+= datagrams
    case .ect1: datagramsReceivedWithECT1 &+= datagrams
    case .congestionExperienced: datagramsReceivedWithCE &+= datagrams
    }
  }
}
