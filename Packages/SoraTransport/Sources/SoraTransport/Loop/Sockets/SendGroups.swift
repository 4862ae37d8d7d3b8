import CSoraNetwork

/// Brings datagrams for one destination together, so that the kernel gets them as one message (UDP_SEGMENT) even where
/// a server has sent to many receivers in turn. Confined to its loop; one serves all of the loop's sockets, and
/// nothing is allocated once it is made.
@safe final class SendGroups {
  typealias Slot = UnsafeMutablePointer<sora_net_slot>

  /// Slots that are reordered at a time, which several calls of sendmmsg may take: a server that sends a frame's packets to
  /// hundreds of receivers has them apart by as many. Whoever comes later in the queue waits for no more.
  static let window = 2048
  /// Destinations of a window at most; one more ends it.
  static let capacity = 512

  @safe private struct Group {
    var first: Slot
    var last: Slot
  }

  private let groups: UnsafeMutablePointer<Group>
  /// A hash table of places in `groups`, one up; 0 is free. Never more than half full.
  private let places: UnsafeMutablePointer<UInt16>
  private static let placeBits = 10

  init() {
    unsafe groups = .allocate(capacity: Self.capacity)
    unsafe places = .allocate(capacity: 1 << Self.placeBits)
  }

  deinit {
    unsafe groups.deallocate()
    unsafe places.deallocate()
  }

  /// Reorders the front of a list that isn't empty: destinations in the order in which they first come, and each one's
  /// slots in the order they had.
  ///
  /// - Returns: how many slots were reordered; those behind are as they were.
  func gather(first: inout Slot?, last: inout Slot?) -> Int {
    unsafe places.update(repeating: 0, count: 1 << Self.placeBits)
    var used = 0
    var current = -1
    var taken = 0
    var next = unsafe first
    while let slot = unsafe next, taken < Self.window {
      if unsafe current < 0 || !groups[current].first.pointee.to.isEqual(slot.pointee.to) {
        let group = unsafe group(of: slot, used)
        if group == Self.capacity { break }
        current = group
      }
      unsafe next = unsafe slot.pointee.next
      if current == used {
        unsafe (groups + used).initialize(to: Group(first: slot, last: slot))
        used += 1
      } else {
        unsafe groups[current].last.pointee.next = unsafe slot
        unsafe groups[current].last = unsafe slot
      }
      taken += 1
    }
    for index in 1..<max(1, used) {
      unsafe groups[index - 1].last.pointee.next = unsafe groups[index].first
    }
    let end = unsafe groups[used - 1].last
    unsafe end.pointee.next = unsafe next
    unsafe first = unsafe groups[0].first
    if unsafe next == nil { unsafe last = unsafe end }
    return taken
  }

  /// The group of a slot's destination; `used`, noted in the table, where it has none yet, up to `capacity`.
  private func group(of slot: Slot, _ used: Int) -> Int {
    let to = unsafe slot.pointee.to
    // Fibonacci hashing: the upper bits are the well mixed ones.
    let mixed = to.low ^ to.high &* 0x9E37_79B9_7F4A_7C15 ^ UInt64(to.port) << 40
    var place = Int((mixed &* 0x9E37_79B9_7F4A_7C15) >> (64 - UInt64(Self.placeBits)))
    while unsafe places[place] != 0 {
      let group = unsafe Int(places[place]) - 1
      if unsafe groups[group].first.pointee.to.isEqual(to) { return group }
      place = (place + 1) & (1 << Self.placeBits - 1)
    }
    if used < Self.capacity { unsafe places[place] = UInt16(used + 1) }
    return used
  }
}
