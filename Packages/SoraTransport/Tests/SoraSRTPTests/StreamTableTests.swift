import SoraMedia
import SoraSRTP
import Testing

@Suite struct StreamTableTests {
  private struct Entry {
    var heard: UInt64
    var highest: UInt64
  }

  /// Inserts, packets and evictions at random agree with a plain dictionary, and the windows of those that stay are left alone.
  @Test(arguments: [1, 2, 7, 50, 300])
  func agreesWithADictionary(limit: Int) throws {
    let table = SRTPStreamTable(.received(limit: limit), window: 64)
    let random = RandomSource(seed: UInt64(limit))
    let universe = (0..<(4 * limit)).map { _ in UInt32(truncatingIfNeeded: random.next()) }
    var model: [UInt32: Entry] = [:]
    var packets: UInt64 = 0
    var evictions = 0
    var refusals = 0
    for step in 0..<(600 * limit) {
      // Most packets are of a few SSRCs, which are others every now and then.
      let first = step / (37 * limit) * (limit / 2 + 1)
      let isStray = random.next() % UInt64(20 * limit) == 0
      let choice =
        isStray
        ? Int(random.next() % UInt64(universe.count))
        : first + Int(random.next() % UInt64(limit / 2 + 1))
      let ssrc = universe[choice % universe.count]
      packets += 1
      let number = table.countPacket()
      try #require(number == packets)
      if model[ssrc] == nil, model.count == limit {
        let oldest = try #require(model.min { $0.value.heard < $1.value.heard })
        let isOld = packets - oldest.value.heard >= 16 * UInt64(limit)
        guard isOld else {
          #expect(throws: SRTPError.tooManyStreams(limit: limit)) {
            _ = try table.findOrInsert(ssrc)
          }
          refusals += 1
          continue
        }
        let gone = try table.makeRoom()
        try #require(gone == oldest.key)
        model[oldest.key] = nil
        evictions += 1
      }
      let stream = try table.findOrInsert(ssrc)
      var entry = model[ssrc] ?? Entry(heard: 0, highest: 0)
      try #require(stream.pointee.rtp.highest == entry.highest)
      entry.heard = packets
      entry.highest += 1 + random.next() % 3
      stream.pointee.rtp.insert(entry.highest)
      stream.pointee.heard = packets
      model[ssrc] = entry
      if step % (1 + limit / 4) == 0 {
        for ssrc in universe {
          try #require(table.find(ssrc)?.pointee.rtp.highest == model[ssrc]?.highest)
        }
      }
      try #require(table.count == model.count)
    }
    #expect(evictions > 5)
    #expect(refusals > 0)
  }

  /// What is sent stays, up to a limit of its own, and is found as fast as ever.
  @Test func whatIsSentStays() throws {
    let table = SRTPStreamTable(.sent, window: 64)
    for ssrc in 0..<65_536 as Range<UInt32> {
      try table.findOrInsert(ssrc &* 0x0101_0101).pointee.rtp.insert(UInt64(ssrc) + 1)
    }
    #expect(throws: SRTPError.tooManyStreams(limit: 65_536)) { _ = try table.findOrInsert(77) }
    for ssrc in 0..<65_536 as Range<UInt32> {
      try #require(table.find(ssrc &* 0x0101_0101)?.pointee.rtp.highest == UInt64(ssrc) + 1)
    }
    #expect(table.find(77) == nil)
  }
}
