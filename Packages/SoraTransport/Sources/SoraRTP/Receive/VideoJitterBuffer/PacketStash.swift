/// Payloads that came before their turn, in pooled memory, found by sequence number.
@safe struct PacketStash: ~Copyable {
  struct Entry {
    var sequence: Int64
    var info: RTPPayloadInfo
    var count: Int
    var slot: Int
  }

  private static let slotsPerSlab = 32
  private let slotSize: Int
  private let maximumSlots: Int
  /// Entry index by sequence modulo the window; -1 for none.
  private var index: [Int32]
  private var entries: [Entry] = []
  private var freeEntries: [Int32] = []
  private var slabs: [UnsafeMutableRawPointer] = unsafe []
  private(set) var count = 0

  init(window: Int, slotSize: Int, maximumSlots: Int) {
    self.slotSize = slotSize
    self.maximumSlots = maximumSlots
    index = Array(repeating: -1, count: window)
  }

  deinit {
    unsafe slabs.forEach { unsafe $0.deallocate() }
  }

  /// Copies `payload` in. False when there is no room or it is larger than a slot.
  mutating func insert(
    _ payload: RawSpan, info: RTPPayloadInfo, sequence: Int64
  ) -> Bool {
    let position = Int(sequence & Int64(index.count - 1))
    guard payload.byteCount <= slotSize, index[position] < 0 else { return false }
    if freeEntries.isEmpty {
      guard entries.count + PacketStash.slotsPerSlab <= maximumSlots else { return false }
      unsafe slabs.append(.allocate(byteCount: slotSize * PacketStash.slotsPerSlab, alignment: 16))
      for _ in 0..<PacketStash.slotsPerSlab {
        freeEntries.append(Int32(entries.count))
        entries.append(
          Entry(sequence: -1, info: RTPPayloadInfo(range: 0..<0), count: 0, slot: entries.count))
      }
    }
    let entry = Int(freeEntries.removeLast())
    entries[entry].sequence = sequence
    entries[entry].info = info
    entries[entry].count = payload.byteCount
    unsafe payload.withUnsafeBytes { source in
      if let base = source.baseAddress {
        unsafe memory(entries[entry].slot).copyMemory(from: base, byteCount: source.count)
      }
    }
    index[position] = Int32(entry)
    count += 1
    return true
  }

  /// The stashed payload of `sequence`, lent until the next change.
  func find(_ sequence: Int64) -> (payload: UnsafeRawBufferPointer, info: RTPPayloadInfo)? {
    let entry = Int(index[Int(sequence & Int64(index.count - 1))])
    guard entry >= 0, entries[entry].sequence == sequence else { return nil }
    return unsafe (
      UnsafeRawBufferPointer(start: memory(entries[entry].slot), count: entries[entry].count),
      entries[entry].info
    )
  }

  /// Gives the slot of `sequence` back, if it is there.
  mutating func remove(_ sequence: Int64) {
    let position = Int(sequence & Int64(index.count - 1))
    let entry = Int(index[position])
    guard entry >= 0, entries[entry].sequence == sequence else { return }
    entries[entry].sequence = -1
    index[position] = -1
    freeEntries.append(Int32(entry))
    count -= 1
  }

  mutating func removeAll() {
    for position in index.indices where index[position] >= 0 {
      entries[Int(index[position])].sequence = -1
      freeEntries.append(index[position])
      index[position] = -1
    }
    count = 0
  }

  private func memory(_ slot: Int) -> UnsafeMutableRawPointer {
    unsafe slabs[slot / PacketStash.slotsPerSlab] + (slot % PacketStash.slotsPerSlab) * slotSize
  }
}
