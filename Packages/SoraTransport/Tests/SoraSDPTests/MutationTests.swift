import SoraMedia
import SoraSDP
import Testing

/// Random damage to real-looking descriptions: no trap, and what parses is stable when written and read again.
@Suite struct MutationTests {
  @Test func twentyThousandMutations() throws {
    let random = RandomSource(seed: 20_260_101)
    let samples = Samples.all.map { Array($0.utf8) }
    var parsed = 0
    for round in 0..<20_000 {
      var bytes = samples[round % samples.count]
      // Whole lines are rare in a long text, so work on a window of it, which also keeps the test quick.
      var start = Int(random.next() % UInt64(bytes.count))
      while start > 0, bytes[start - 1] != 10 { start -= 1 }
      bytes = Array("v=0\r\n".utf8) + bytes[start..<min(bytes.count, start + 600)]
      for _ in 0..<Int(random.next() % 6) { mutate(&bytes, random) }
      guard let first = bytes.withUnsafeBytes({ try? SessionDescription(parsing: $0) }) else {
        continue
      }
      parsed += 1
      exercise(first)
      let text = first.text
      let second = try SessionDescription(parsing: text)
      #expect(second == first)
      #expect(second.text == text)
    }
    #expect(parsed > 1000)
  }

  private func mutate(_ bytes: inout [UInt8], _ random: RandomSource) {
    guard !bytes.isEmpty else { return }
    let place = Int(random.next() % UInt64(bytes.count))
    switch random.next() % 6 {
    case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
    case 1: bytes.remove(at: place)
    case 2: bytes.insert(Array(":;= /~\r\n,-9".utf8)[Int(random.next() % 11)], at: place)
    case 3: bytes.removeSubrange(place..<min(bytes.count, place + 20))
    case 4: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 40)], at: place)
    default: bytes.insert(contentsOf: Array("99999999999999999999".utf8), at: place)
    }
  }

  private func exercise(_ sdp: SessionDescription) {
    try? sdp.validate()
    _ = (sdp.origin, sdp.bundle, sdp.fingerprints, sdp.maximumBitrate, sdp.index(ofMid: "0"))
    for section in sdp.media {
      _ = (section.codecs, section.extensions, section.simulcast, section.rids, section.msids)
      _ = (section.sources, section.sourceGroups, section.direction, section.maximumBitrate)
      _ = (section.candidates, section.sctpPort, section.setup, section.iceOptions)
    }
  }
}
