import CSoraNetwork

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension UDPSocket {
  /// How often one flush may be told of earlier datagrams instead of sending.
  private static let retryLimit = 8

  /// Hands the queue to the kernel until it is empty or the kernel's buffer full.
  func flush() {
    guard !closed, !isWaitingForRoom else { return }
    var retries = Self.retryLimit
    while queue.count > 0 {
      let messages = queue.fill(context)
      let result = unsafe sora_net_sender_send(context.sender, descriptor.number)
      counters.sendCalls &+= 1
      if result > 0 {
        for index in 0..<min(Int(result), messages) { unsafe messageSent(context.plan[index]) }
      } else if result == -EAGAIN || result == -EWOULDBLOCK {
        counters.sendWaits &+= 1
        waitForRoom(true)
        return
      } else if result != -EINTR {
        // With IP_RECVERR an ICMP message fails the next send, wherever that goes: it hasn't been tried yet.
        if retries > 0, readErrors(refused: queue.firstDestination) {
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
    descriptor.watchWritable(waits)
  }

  private func messageSent(_ datagrams: Int) {
    counters.datagramsSent &+= UInt64(datagrams)
    counters.messagesSent &+= 1
    if datagrams > 1 { counters.mergedSends &+= 1 }
    queue.messageLeft(datagrams)
    for _ in 0..<datagrams {
      let slot = unsafe queue.removeFirst()
      unsafe counters.bytesSent &+= UInt64(slot.pointee.count)
      unsafe context.slab.give(back: slot)
    }
  }

  private func firstMessageFailed(with code: Int32) {
    let datagrams = unsafe context.plan[0]
    if datagrams > 1 {
      // Not the datagrams' fault until they have been refused one by one: EIO comes from devices that can't
      // checksum, EINVAL from segments beyond the MTU, the others from kernels and filters that don't know the option.
      switch code {
      case EIO, EINVAL, EMSGSIZE, EOPNOTSUPP, ENOPROTOOPT:
        counters.mergeRefusals &+= 1
        queue.mergeRefused(datagrams, forGood: code == EIO)
        return
      default: break
      }
    } else {
      queue.singleTried()
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
    for _ in 0..<datagrams { unsafe context.slab.give(back: queue.removeFirst()) }
  }
}
