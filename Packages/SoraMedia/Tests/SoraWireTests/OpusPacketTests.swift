import SoraMedia
import SoraWire
import Testing

/// libopus is the oracle of every fact elsewhere (`SoraAudioTests`); here is the table of RFC 6716 §3.1.
@Suite struct OpusPacketTests {
  @Test func durationsFollowTheTable() {
    func samples(_ bytes: [UInt8]) -> Int? { OpusPacket.sampleCount(bytes.span.bytes) }
    #expect(samples([0 << 3]) == 480)
    #expect(samples([3 << 3]) == 2880)
    #expect(samples([13 << 3]) == 960)
    #expect(samples([16 << 3]) == 120)
    #expect(samples([31 << 3]) == 960)
    #expect(samples([31 << 3 | 1]) == 1920)
    #expect(samples([31 << 3 | 3, 6]) == 5760)
    #expect(samples([31 << 3 | 3, 7]) == nil)
    #expect(samples([31 << 3 | 3, 0]) == nil)
    #expect(samples([31 << 3 | 3]) == nil)
    #expect(samples([]) == nil)
  }

  @Test func anyBytesAreRead() {
    let random = RandomSource(seed: 14)
    for _ in 0..<20_000 {
      let bytes = (0..<Int(random.next() % 12)).map { _ in
        UInt8(truncatingIfNeeded: random.next())
      }
      let total = OpusPacket.sampleCount(bytes.span.bytes) ?? 0
      #expect(OpusPacket.redundantSampleCount(bytes.span.bytes) <= total)
    }
  }
}
