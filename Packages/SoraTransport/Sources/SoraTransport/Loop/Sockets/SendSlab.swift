import CSoraNetwork

/// Memory for datagrams that wait to be sent: slots of one size, handed out and taken back without malloc once
/// there are as many as are ever needed at a time. Confined to its loop.
final class SendSlab {
  /// Bytes of a slot: an Ethernet frame with room to spare for SRTP's tag.
  static let slotSize = 2048
  /// The longest payload of a UDP datagram over IPv4.
  static let longestDatagram = 65_507
  private static let slotsPerChunk = 64

  private var free: UnsafeMutablePointer<sora_net_slot>?
  private var chunks: [UnsafeMutableRawPointer] = []
  private var headers: [UnsafeMutablePointer<sora_net_slot>] = []

  init() {}

  deinit {
    for chunk in chunks { chunk.deallocate() }
    for header in headers { header.deallocate() }
  }

  /// A slot with room for `capacity` bytes, which is at most `longestDatagram`.
  func take(capacity: Int) -> UnsafeMutablePointer<sora_net_slot> {
    if capacity > Self.slotSize { return Self.makeLongSlot(capacity) }
    if free == nil { grow() }
    let slot = free.unsafelyUnwrapped
    free = slot.pointee.next
    slot.pointee.next = nil
    return slot
  }

  func give(back slot: UnsafeMutablePointer<sora_net_slot>) {
    if slot.pointee.capacity > UInt32(Self.slotSize) {
      slot.pointee.data.deallocate()
      slot.deallocate()
      return
    }
    slot.pointee.next = free
    free = slot
  }

  private func grow() {
    let chunk = UnsafeMutableRawPointer.allocate(
      byteCount: Self.slotSize * Self.slotsPerChunk, alignment: 64)
    let slots = UnsafeMutablePointer<sora_net_slot>.allocate(capacity: Self.slotsPerChunk)
    chunks.append(chunk)
    headers.append(slots)
    for index in 0..<Self.slotsPerChunk {
      (slots + index).initialize(to: sora_net_slot())
      slots[index].data = (chunk + index * Self.slotSize).assumingMemoryBound(to: UInt8.self)
      slots[index].capacity = UInt32(Self.slotSize)
      slots[index].next = free
      free = slots + index
    }
  }

  /// Datagrams longer than a slot are rare (nothing of WebRTC is): they get memory of their own.
  private static func makeLongSlot(_ capacity: Int) -> UnsafeMutablePointer<sora_net_slot> {
    let slot = UnsafeMutablePointer<sora_net_slot>.allocate(capacity: 1)
    slot.initialize(to: sora_net_slot())
    slot.pointee.data = .allocate(capacity: capacity)
    slot.pointee.capacity = UInt32(capacity)
    return slot
  }
}
