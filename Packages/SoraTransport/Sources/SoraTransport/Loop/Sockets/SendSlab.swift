import CSoraNetwork

/// Memory for datagrams that wait to be sent: slots of one size, handed out and taken back without malloc once
/// there are as many as are ever needed at a time. Confined to its loop.
@safe final class SendSlab {
  /// Bytes of a slot: an Ethernet frame with room to spare for SRTP's tag.
  static let slotSize = 2048
  /// The longest payload of a UDP datagram over IPv4.
  static let longestDatagram = 65_507
  private static let slotsPerChunk = 64

  private var free: UnsafeMutablePointer<sora_net_slot>?
  private var chunks: [UnsafeMutableRawPointer] = unsafe []
  private var headers: [UnsafeMutablePointer<sora_net_slot>] = unsafe []

  init() {}

  deinit {
    unsafe chunks.forEach { unsafe $0.deallocate() }
    unsafe headers.forEach { unsafe $0.deallocate() }
  }

  /// A slot with room for `capacity` bytes, which is at most `longestDatagram`.
  func take(capacity: Int) -> UnsafeMutablePointer<sora_net_slot> {
    if capacity > Self.slotSize { return unsafe Self.makeLongSlot(capacity) }
    if unsafe free == nil { grow() }
    let slot = unsafe free.unsafelyUnwrapped
    unsafe free = unsafe slot.pointee.next
    unsafe slot.pointee.next = nil
    return unsafe slot
  }

  func give(back slot: UnsafeMutablePointer<sora_net_slot>) {
    if unsafe slot.pointee.capacity > UInt32(Self.slotSize) {
      unsafe slot.pointee.data.deallocate()
      unsafe slot.deallocate()
      return
    }
    unsafe slot.pointee.next = unsafe free
    unsafe free = unsafe slot
  }

  private func grow() {
    let chunk = UnsafeMutableRawPointer.allocate(
      byteCount: Self.slotSize * Self.slotsPerChunk, alignment: 64)
    let slots = UnsafeMutablePointer<sora_net_slot>.allocate(capacity: Self.slotsPerChunk)
    unsafe chunks.append(chunk)
    unsafe headers.append(slots)
    for index in 0..<Self.slotsPerChunk {
      unsafe (slots + index).initialize(to: sora_net_slot())
      unsafe slots[index].data = unsafe (chunk + index * Self.slotSize).assumingMemoryBound(
        to: UInt8.self)
      unsafe slots[index].capacity = UInt32(Self.slotSize)
      unsafe slots[index].next = unsafe free
      unsafe free = unsafe slots + index
    }
  }

  /// Datagrams longer than a slot are rare (nothing of WebRTC is): they get memory of their own.
  private static func makeLongSlot(_ capacity: Int) -> UnsafeMutablePointer<sora_net_slot> {
    let slot = UnsafeMutablePointer<sora_net_slot>.allocate(capacity: 1)
    unsafe slot.initialize(to: sora_net_slot())
    unsafe slot.pointee.data = .allocate(capacity: capacity)
    unsafe slot.pointee.capacity = UInt32(capacity)
    return unsafe slot
  }
}
