import CSoraNetwork

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension UDPSocket {
  /// UDP's length field bounds a merged message too, and IP's header comes on top.
  private static let longestMerge = 65_000
  /// A merged message can be refused because its datagrams are longer than the path's MTU, which says nothing about
  /// the next one. A device that refuses time after time is not asked again.
  private static let refusalsUntilOff = 8
  /// How often one flush may be told of earlier datagrams instead of sending.
  private static let retryLimit = 8

  /// Hands the queue to the kernel until it is empty or the kernel's buffer full.
  func flush() {
    guard !closed, !isWaitingForRoom else { return }
    var retries = Self.retryLimit
    while queued > 0 {
      let messages = fillSender()
      let result = unsafe sora_net_sender_send(core.sender, descriptor)
      counters.sendCalls &+= 1
      if result > 0 {
        for index in 0..<min(Int(result), messages) { unsafe messageSent(core.plan[index]) }
      } else if result == -EAGAIN || result == -EWOULDBLOCK {
        counters.sendWaits &+= 1
        waitForRoom(true)
        return
      } else if result != -EINTR {
        // With IP_RECVERR an ICMP message fails the next send, wherever that goes: it hasn't been tried yet.
        if retries > 0, unsafe readErrors(refused: first?.pointee.to) {
          retries -= 1
        } else {
          firstMessageFailed(with: result < 0 ? -result : EIO)
        }
      }
    }
  }

  /// The kernel's buffer has room again.
  func roomAppeared() {
    guard isWaitingForRoom else { return }
    waitForRoom(false)
    flush()
  }

  private func waitForRoom(_ waits: Bool) {
    isWaitingForRoom = waits
    sora_net_poller_watch_writable(core.poller, descriptor, token, waits ? 1 : 0)
  }

  /// Fills the loop's sender from the head of the queue, and the loop's plan with each message's number of
  /// datagrams. Returns the number of messages.
  private func fillSender() -> Int {
    // Only once what was brought together before has left: nobody's datagrams pass those of others again and again.
    if grouped == 0 {
      grouped =
        unsafe mergesSends && queued > 1 ? core.groups.gather(first: &first, last: &last) : queued
    }
    unsafe sora_net_sender_reset(core.sender)
    var messages = 0
    var skipped = singles
    var left = grouped
    var next = unsafe first
    while left > 0, let slot = unsafe next {
      var run = 1
      if skipped > 0 {
        skipped -= 1
        unsafe next = unsafe slot.pointee.next
      } else {
        run = unsafe mergesSends ? runLength(from: slot, most: left, next: &next) : 1
        if run == 1 { unsafe next = unsafe slot.pointee.next }
      }
      let segment = unsafe run > 1 ? UInt16(truncatingIfNeeded: slot.pointee.count) : 0
      if unsafe sora_net_sender_add(core.sender, slot, Int32(run), segment) == 0 { break }
      unsafe core.plan[messages] = run
      messages += 1
      left -= run
    }
    return messages
  }

  /// How many slots from `start` on, and at most, make one message: the same destination and the same length, except
  /// that the last one may be shorter. Leaves the slot after them in `next`.
  private func runLength(
    from start: UnsafeMutablePointer<sora_net_slot>, most: Int,
    next: inout UnsafeMutablePointer<sora_net_slot>?
  ) -> Int {
    let size = unsafe start.pointee.count
    var total = Int(size)
    var run = 1
    var candidate = unsafe start.pointee.next
    let most = min(most, Int(SORA_NET_SEND_SEGMENTS))
    while run < most, let slot = unsafe candidate {
      let count = unsafe slot.pointee.count
      total += Int(count)
      guard count <= size, total <= Self.longestMerge,
        unsafe slot.pointee.to.isEqual(start.pointee.to)
      else { break }
      run += 1
      unsafe candidate = unsafe slot.pointee.next
      if count < size { break }
    }
    unsafe next = unsafe candidate
    return run
  }

  private func messageSent(_ datagrams: Int) {
    counters.datagramsSent &+= UInt64(datagrams)
    counters.messagesSent &+= 1
    if datagrams > 1 {
      counters.mergedSends &+= 1
      refusals = 0
    } else if singles > 0 {
      singles -= 1
    }
    for _ in 0..<datagrams {
      let slot = unsafe removeFirst()
      unsafe counters.bytesSent &+= UInt64(slot.pointee.count)
      unsafe core.slab.give(back: slot)
    }
  }

  private func firstMessageFailed(with code: Int32) {
    let datagrams = unsafe core.plan[0]
    if datagrams > 1 {
      // Not the datagrams' fault until they have been refused one by one: EIO comes from devices that can't
      // checksum, EINVAL from segments beyond the MTU, the others from kernels and filters that don't know the option.
      switch code {
      case EIO, EINVAL, EMSGSIZE, EOPNOTSUPP, ENOPROTOOPT:
        counters.mergeRefusals &+= 1
        refusals += 1
        singles = datagrams
        if code == EIO || refusals >= Self.refusalsUntilOff { mergesSends = false }
        return
      default: break
      }
    } else if singles > 0 {
      singles -= 1
    }
    let lost = UInt64(datagrams)
    switch code {
    case EMSGSIZE: counters.drops.tooLong &+= lost
    case ENETUNREACH, EHOSTUNREACH, ENETDOWN, EADDRNOTAVAIL, ENODEV, ENXIO:
      counters.drops.unreachable &+= lost
    case EPERM, EACCES: counters.drops.notPermitted &+= lost
    case ENOBUFS, ENOMEM: counters.drops.noMemory &+= lost
    default: counters.drops.failed &+= lost
    }
    for _ in 0..<datagrams { unsafe core.slab.give(back: removeFirst()) }
  }
}
