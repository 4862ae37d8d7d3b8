import CSoraMallocCount
import SoraMedia
import SoraSRTP
import Testing

@Suite struct AllocationTests {
  /// Once its streams are known, the `evp` transform touches the heap for no packet.
  @Test(
    .enabled(if: sora_malloc_count_is_telling() != 0, "only optimized code is free of allocations"),
    arguments: SRTPProfile.allCases)
  func packetsCostNoAllocation(profile: SRTPProfile) throws {
    let (sender, receiver) = try makeSessions(profile, .evp, .evp)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1500, alignment: 16)
    let plain = UnsafeMutableRawBufferPointer.allocate(byteCount: 1200, alignment: 16)
    defer {
      buffer.deallocate()
      plain.deallocate()
    }
    plain.initializeMemory(as: UInt8.self, repeating: 7)
    plain[0] = 0x80

    let path = Path(sender: sender, receiver: receiver, plain: plain, buffer: buffer)
    for sequence in 0..<64 as Range<UInt16> { try path.carry(sequence) }
    let before = sora_malloc_count()
    for sequence in 64..<2064 as Range<UInt16> { try path.carry(sequence) }
    #expect(sora_malloc_count() == before)
  }
}

/// A sender, a receiver and their buffers. A type rather than a closure, whose context might be on the heap.
private struct Path {
  let sender: SRTPSession
  let receiver: SRTPSession
  let plain: UnsafeMutableRawBufferPointer
  let buffer: UnsafeMutableRawBufferPointer

  func carry(_ sequence: UInt16) throws {
    plain.storeBytes(of: sequence.bigEndian, toByteOffset: 2, as: UInt16.self)
    plain.storeBytes(of: UInt32(sequence & 3), toByteOffset: 8, as: UInt32.self)
    var count = try sender.protectRTP(from: UnsafeRawBufferPointer(plain), into: buffer)
    count = try receiver.unprotectRTP(buffer, count: count)
    if sequence & 15 == 0 {
      buffer[1] = 200
      count = try sender.protectRTCP(buffer, count: 100)
      _ = try receiver.unprotectRTCP(buffer, count: count)
    }
  }
}
