public import SoraMedia

/// Keeps the last plain RTP packets of one stream, so that they can be sent again.
///
/// A ring of slots by sequence number. Memory is reserved in slabs of 32 slots when first needed, and kept:
/// storing a packet allocates nothing in steady state. Confined to its owner.
@safe public final class PacketHistory {
  /// What was kept and what wasn't.
  public struct Statistics: Sendable, Equatable {
    public var stored: UInt64 = 0
    /// Packets that weren't stored because they exceed the slot size.
    public var tooLarge: UInt64 = 0
  }

  private struct Slot {
    var sequenceNumber: UInt16 = 0
    /// Bytes stored; 0 for an empty slot.
    var count: Int32 = 0
    var storedAt = Instant.zero
  }

  private static let slotsPerSlab = 32

  /// Bytes that a slot holds.
  public let slotSize: Int
  /// Packets that the ring holds.
  public let capacity: Int
  public private(set) var statistics = Statistics()

  /// Empty until the first packet: many streams that are negotiated never send.
  @safe @exclusivity(unchecked) private var slots: [Slot] = []
  @unsafe @exclusivity(unchecked) private var slabs: [UnsafeMutableRawPointer?] = unsafe []

  /// `capacity` is rounded up to a power of two from 32 to 32,768.
  public init(capacity: Int = 1024, slotSize: Int = 1500) {
    var rounded = PacketHistory.slotsPerSlab
    while rounded < capacity, rounded < 32_768 { rounded *= 2 }
    self.capacity = rounded
    self.slotSize = max(RTPHeader.fixedCount, slotSize)
  }

  deinit {
    unsafe slabs.forEach { unsafe $0?.deallocate() }
  }

  /// Copies a plain packet into the ring. A packet larger than a slot is counted and left out.
  public func store(_ packet: UnsafeRawBufferPointer, sequenceNumber: UInt16, at now: Instant) {
    guard packet.count <= slotSize else {
      statistics.tooLarge += 1
      return
    }
    unsafe reserve(sequenceNumber: sequenceNumber).put(packet, at: 0)
    commit(sequenceNumber: sequenceNumber, count: packet.count, at: now)
  }

  /// The memory of the slot for `sequenceNumber`, for writing a packet where it will be kept. Nothing is stored
  /// until `commit`; what the slot held before is forgotten.
  public func reserve(sequenceNumber: UInt16) -> UnsafeMutableRawBufferPointer {
    if slots.isEmpty {
      slots = Array(repeating: Slot(), count: capacity)
      unsafe slabs = unsafe Array(repeating: nil, count: capacity / PacketHistory.slotsPerSlab)
    }
    let index = Int(sequenceNumber) & (capacity - 1)
    slots[index].count = 0
    return unsafe memory(index)
  }

  /// Takes `count` bytes that were written into the reserved slot as the packet `sequenceNumber`.
  public func commit(sequenceNumber: UInt16, count: Int, at now: Instant) {
    guard !slots.isEmpty else { return }
    let index = Int(sequenceNumber) & (capacity - 1)
    slots[index] = Slot(
      sequenceNumber: sequenceNumber, count: Int32(max(0, min(count, slotSize))), storedAt: now)
    statistics.stored += 1
  }

  /// The packet as it is stored, for sending it with fields patched in place; `nil` if it isn't there
  /// any more. Valid until the next call that stores.
  public func stored(sequenceNumber: UInt16) -> UnsafeMutableRawBufferPointer? {
    guard holds(sequenceNumber) else { return nil }
    let index = Int(sequenceNumber) & (capacity - 1)
    return unsafe UnsafeMutableRawBufferPointer(
      rebasing: memory(index)[0..<Int(slots[index].count)])
  }

  /// When the packet was stored; `nil` if it isn't there any more.
  public func storedAt(sequenceNumber: UInt16) -> Instant? {
    guard holds(sequenceNumber) else { return nil }
    return slots[Int(sequenceNumber) & (capacity - 1)].storedAt
  }

  private func holds(_ sequenceNumber: UInt16) -> Bool {
    guard !slots.isEmpty else { return false }
    let slot = slots[Int(sequenceNumber) & (capacity - 1)]
    return slot.count > 0 && slot.sequenceNumber == sequenceNumber
  }

  /// Forgets a packet, if it is there.
  public func remove(sequenceNumber: UInt16) {
    if holds(sequenceNumber) { slots[Int(sequenceNumber) & (capacity - 1)].count = 0 }
  }

  /// Forgets all packets and keeps the memory.
  public func removeAll() {
    for index in slots.indices { slots[index] = Slot() }
  }

  private func memory(_ index: Int) -> UnsafeMutableRawBufferPointer {
    let slab = index / PacketHistory.slotsPerSlab
    let base: UnsafeMutableRawPointer
    if let existing = unsafe slabs[slab] {
      unsafe base = unsafe existing
    } else {
      unsafe base = .allocate(byteCount: slotSize * PacketHistory.slotsPerSlab, alignment: 16)
      unsafe slabs[slab] = unsafe base
    }
    let offset = (index % PacketHistory.slotsPerSlab) * slotSize
    return unsafe UnsafeMutableRawBufferPointer(start: base + offset, count: slotSize)
  }
}
