import CSoraMallocCount
import Glibc
import SoraMedia
import SoraSCTP
import Testing

@Suite struct AllocationTests {
  /// Once memory is there, bulk transfer takes none, for messages of one packet or of many.
  @Test(
    .enabled(if: sora_malloc_count_is_telling() != 0, "only optimized code is free of allocations"),
    arguments: [(1000, true), (60_000, true), (60_000, false), (32, true)])
  func bulkTransferCostsNoAllocation(size: Int, interleaving: Bool) throws {
    let transfer = Transfer(size: size, interleaving: interleaving)
    for _ in 0..<3000 { transfer.turn() }
    // A table may still grow once, when its hash values fall badly: they differ from process to process.
    var windows: [Int] = []
    while windows.count < 3, windows.last != 0 {
      let before = sora_malloc_count()
      let bytes = transfer.received
      for _ in 0..<3000 { transfer.turn() }
      windows.append(Int(sora_malloc_count() - before))
      #expect(transfer.received - bytes > 3_000_000 || size == 32)
      #expect(transfer.received > bytes)
    }
    #expect(windows.last == 0 && windows.allSatisfy { $0 <= 1 }, "\(windows)")
  }

  /// What a packet costs both ends together, printed; far above what it takes is a mistake.
  @Test(.enabled(if: sora_malloc_count_is_telling() != 0), arguments: [false, true])
  func aPacketCostsLittle(zeroChecksum: Bool) {
    let transfer = Transfer(size: 60_000, interleaving: true, zeroChecksum: zeroChecksum)
    for _ in 0..<2000 { transfer.turn() }
    let bytes = transfer.received
    let before = processorTime()
    for _ in 0..<20_000 { transfer.turn() }
    let took = processorTime() - before
    let packets = Double(transfer.received - bytes) / 1148
    print(
      "zero checksum \(zeroChecksum):", took * 1e9 / packets, "ns a packet, both ends;",
      Double(transfer.received - bytes) * 8 / took / 1e6, "Mbit/s")
    #expect(took * 1e9 / packets < 20_000)
  }
}

/// Seconds that this thread has run.
private func processorTime() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Two ends back to back. A type rather than closures, whose contexts might be on the heap.
private final class Transfer {
  private let a: SCTPAssociation
  private let b: SCTPAssociation
  private let message: [UInt8]
  private var now = Instant(nanoseconds: 1_000_000_000)
  private(set) var received = 0

  init(size: Int, interleaving: Bool, zeroChecksum: Bool = false) {
    var configuration = SCTPConfiguration()
    configuration.interleaving = interleaving
    configuration.zeroChecksum = zeroChecksum
    a = SCTPAssociation(configuration: configuration, random: RandomSource(seed: 1))
    b = SCTPAssociation(configuration: configuration, random: RandomSource(seed: 2))
    message = pattern(size, 1)
    a.connect(at: now)
    for _ in 0..<4 { turn() }
  }

  func turn() {
    now += .microseconds(200)
    let message = message
    if a.totalBufferedAmount < 1_000_000 {
      for _ in 0..<max(1, min(30, 60_000 / message.count)) {
        try? a.send(message.span.bytes, on: 1, ppid: 53, at: now)
      }
    }
    a.poll(at: now)
    b.poll(at: now)
    a.drainPackets(at: now) { packet in
      b.receive(packet, at: now)
      return true
    }
    b.drainPackets(at: now) { packet in
      a.receive(packet, at: now)
      return true
    }
    while let event = b.nextEvent() {
      if case .message(let message) = event {
        received += message.payload.count
        b.recycle(message.payload)
      }
    }
    while a.nextEvent() != nil {}
  }
}
