import CSoraNetwork

/// A descriptor that epoll watches for a loop, by a token that names it in epoll's events. Confined to the loop.
struct PolledDescriptor {
  let number: Int32
  let token: UInt64
  private let poller: Int32

  /// Takes over a descriptor, and has epoll watch it for what arrives; closes it where that fails.
  init(taking number: Int32, token: UInt64, context: LoopContext) throws(NetworkError) {
    let result = sora_net_poller_add(context.poller, number, token)
    if result < 0 {
      sora_net_close(number)
      throw .system(call: "epoll_ctl", code: -result)
    }
    self.number = number
    self.token = token
    poller = context.poller
  }

  /// Whether epoll also tells when there is room to write.
  func watchWritable(_ watches: Bool) {
    sora_net_poller_watch_writable(poller, number, token, watches ? 1 : 0)
  }

  /// Has epoll watch it no longer.
  func leave() { sora_net_poller_remove(poller, number) }

  func close() { sora_net_close(number) }
}
