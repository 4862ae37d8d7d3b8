import CSoraNetwork

/// What all parts of a loop know of it: which thread it is, how it is set, and the memory that its sockets take turns with.
///
/// `@unchecked Sendable`: `configuration` and `poller` are constants; everything else is touched only by the loop's thread, which the
/// entry points check.
@safe final class LoopContext: @unchecked Sendable {
  let configuration: NetworkLoopConfiguration
  /// The descriptor of epoll.
  let poller: Int32
  let receiver: UnsafeMutablePointer<sora_net_receiver>
  let sender: OpaquePointer
  /// Datagrams of each message that the sender holds.
  let plan: UnsafeMutablePointer<Int>
  let slab = SendSlab()
  let groups = SendGroups()

  init(configuration: NetworkLoopConfiguration) throws(NetworkError) {
    self.configuration = configuration
    poller = sora_net_poller_open()
    let slotSize = configuration.receiveOffload ? 65_535 : 2048
    unsafe receiver = unsafe sora_net_receiver_create(
      Int32(configuration.receiveBatch), Int32(slotSize))
    unsafe sender = unsafe sora_net_sender_create()
    unsafe plan = .allocate(capacity: SORA_NET_SEND_MESSAGES)
    unsafe plan.initialize(repeating: 0, count: SORA_NET_SEND_MESSAGES)
    if poller < 0 { throw .system(call: "epoll_create1", code: -poller) }
  }

  deinit {
    if poller >= 0 { sora_net_close(poller) }
    unsafe sora_net_receiver_destroy(receiver)
    unsafe sora_net_sender_destroy(sender)
    unsafe plan.deallocate()
  }

  /// The calling thread becomes the loop's.
  func adoptThread() { unsafe sora_net_set_current_loop(identity) }

  @inline(__always)
  var isCurrent: Bool { unsafe sora_net_current_loop() == identity }

  private var identity: UnsafeRawPointer { unsafe .init(Unmanaged.passUnretained(self).toOpaque()) }

  @inline(__always)
  func preconditionCurrent() {
    precondition(isCurrent, "this may only be used on its network loop")
  }
}
