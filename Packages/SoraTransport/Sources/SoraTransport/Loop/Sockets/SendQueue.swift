import CSoraNetwork

/// Datagrams that a socket has still to send, in the order in which they leave, and how they are cut into messages for the kernel.
/// Confined to its loop.
@safe struct SendQueue {
  typealias Slot = UnsafeMutablePointer<sora_net_slot>

  /// As many as a processor's caches still hold when the kernel copies them. More leave before the turn ends, where they came by
  /// destination, in runs of this length on average; else they wait to be brought together.
  private static let fullCaches = 256
  private static let averageRun = 4
  /// UDP's length field bounds a merged message too, and IP's header comes on top.
  private static let longestMerge = 65_000
  /// A merged message can be refused because its datagrams are longer than the path's MTU, which says nothing about
  /// the next one. A device that refuses time after time is not asked again.
  private static let refusalsUntilOff = 8

  private var first: Slot?
  private var last: Slot?
  private(set) var count = 0
  /// How often the destination has changed from one to the next since the queue was empty.
  private var runs = 0
  /// Datagrams at the head that have been brought into the order in which they leave.
  private var grouped = 0
  /// Whether runs of datagrams are merged (UDP_SEGMENT).
  private var mergesRuns: Bool
  /// Datagrams at the head to send one by one, because they were refused as one message.
  private var singles = 0
  private var refusals = 0

  init(mergesRuns: Bool) { self.mergesRuns = mergesRuns }

  /// Whether it is better sent now than at the end of the turn.
  var fillsCaches: Bool { count >= Self.fullCaches && runs * Self.averageRun <= count }

  /// Where the first one goes.
  var firstDestination: sora_net_address? { unsafe first?.pointee.to }

  mutating func append(_ slot: Slot) {
    if let last = unsafe last {
      if unsafe !last.pointee.to.isEqual(slot.pointee.to) { runs += 1 }
      unsafe last.pointee.next = unsafe slot
    } else {
      unsafe first = unsafe slot
      runs = 1
    }
    unsafe last = unsafe slot
    count += 1
  }

  mutating func removeFirst() -> Slot {
    let slot = unsafe first.unsafelyUnwrapped
    unsafe first = unsafe slot.pointee.next
    if unsafe first == nil { unsafe last = nil }
    count -= 1
    if grouped > 0 { grouped -= 1 }
    return unsafe slot
  }

  /// Fills the loop's sender from the head, and the loop's plan with each message's number of datagrams. Returns the number of
  /// messages.
  mutating func fill(_ context: LoopContext) -> Int {
    // Only once what was brought together before has left: nobody's datagrams pass those of others again and again.
    if grouped == 0 {
      grouped =
        unsafe mergesRuns && count > 1 ? context.groups.gather(first: &first, last: &last) : count
    }
    unsafe sora_net_sender_reset(context.sender)
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
        run = unsafe mergesRuns ? Self.runLength(from: slot, most: left, next: &next) : 1
        if run == 1 { unsafe next = unsafe slot.pointee.next }
      }
      let segment = unsafe run > 1 ? UInt16(truncatingIfNeeded: slot.pointee.count) : 0
      if unsafe sora_net_sender_add(context.sender, slot, Int32(run), segment) == 0 { break }
      unsafe context.plan[messages] = run
      messages += 1
      left -= run
    }
    return messages
  }

  /// How many slots from `start` on, and at most, make one message: the same destination, mark and length, except
  /// that the last one may be shorter. Leaves the slot after them in `next`.
  private static func runLength(from start: Slot, most: Int, next: inout Slot?) -> Int {
    let size = unsafe start.pointee.count
    var total = Int(size)
    var run = 1
    var candidate = unsafe start.pointee.next
    let most = min(most, Int(SORA_NET_SEND_SEGMENTS))
    while run < most, let slot = unsafe candidate {
      let count = unsafe slot.pointee.count
      total += Int(count)
      guard count <= size, total <= longestMerge,
        unsafe slot.pointee.ecn == start.pointee.ecn,
        unsafe slot.pointee.to.isEqual(start.pointee.to)
      else { break }
      run += 1
      unsafe candidate = unsafe slot.pointee.next
      if count < size { break }
    }
    unsafe next = unsafe candidate
    return run
  }

  /// The kernel has taken the first message.
  mutating func messageLeft(_ datagrams: Int) {
    if datagrams > 1 { refusals = 0 } else { singleTried() }
  }

  /// The first datagram has been tried by itself.
  mutating func singleTried() { if singles > 0 { singles -= 1 } }

  /// The kernel has refused the first message, which has several datagrams: they go one by one. After some refusals, or one that is for
  /// good, nothing is merged any more.
  mutating func mergeRefused(_ datagrams: Int, forGood: Bool) {
    refusals += 1
    singles = datagrams
    if forGood || refusals >= Self.refusalsUntilOff { mergesRuns = false }
  }
}
