import SoraAudio
import SoraMedia
import Testing

/// Packets that carry copies of those before them (RFC 2198), over a network that loses some.
@Suite struct RedundantAudioTests {
  private struct Outcome {
    var stats: AudioJitterBufferStats
    /// The counters when the first ten seconds were over.
    var early: AudioJitterBufferStats
    var output: [Int16]
  }

  /// 20 ms packets, each with `copies` of those before it, played in virtual time.
  private func run(
    _ buffer: AudioJitterBuffer, packets: [[UInt8]], copies: Int, firstNumber: UInt16 = 65_500,
    firstTimestamp: UInt32 = 4_294_900_000, isLost: (Int) -> Bool
  ) -> Outcome {
    var output: [Int16] = []
    var early = AudioJitterBufferStats()
    let samples = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 480 * buffer.channels)
    defer { samples.deallocate() }
    func number(_ index: Int) -> UInt16 { firstNumber &+ UInt16(truncatingIfNeeded: index) }
    func timestamp(_ index: Int) -> UInt32 { firstTimestamp &+ UInt32(index) * 960 }
    for pull in 0..<(packets.count * 2) {
      let now = Instant(nanoseconds: Int64(pull) * 10_000_000)
      let index = pull / 2
      if pull % 2 == 0, !isLost(index) {
        packets[index].withUnsafeBytes {
          buffer.insert(
            sequenceNumber: number(index), timestamp: timestamp(index), payload: $0, at: now)
        }
        for back in (1...max(1, copies)).reversed() where back <= copies && index >= back {
          packets[index - back].withUnsafeBytes {
            buffer.insertRedundant(
              sequenceNumber: number(index - back), timestamp: timestamp(index - back),
              payload: $0, at: now)
          }
        }
      }
      buffer.getAudio(at: now + .milliseconds(3), into: samples)
      output += samples
      if pull == 1_000 { early = buffer.stats }
    }
    return Outcome(stats: buffer.stats, early: early, output: output)
  }

  private func silent() -> AudioJitterBuffer { AudioJitterBuffer(decoder: SilentPayloadDecoder()) }
  private let packets = [[UInt8]](repeating: Array(repeating: 1, count: 40), count: 1_500)

  @Test func withoutLossCopiesChangeNothing() {
    let plain = run(silent(), packets: packets, copies: 0) { _ in false }
    let redundant = run(silent(), packets: packets, copies: 2) { _ in false }
    #expect(redundant.stats.fecPacketsReceived == 2 * 1_500 - 3)
    #expect(redundant.stats.fecPacketsDiscarded == redundant.stats.fecPacketsReceived)
    var same = redundant.stats
    same.fecPacketsReceived = 0
    same.fecPacketsDiscarded = 0
    #expect(same == plain.stats)
  }

  @Test func singleLossesAreMadeGoodWithoutConcealment() {
    let lost = run(silent(), packets: packets, copies: 0) { $0 % 10 == 9 }
    let mended = run(silent(), packets: packets, copies: 1) { $0 % 10 == 9 }
    #expect(lost.stats.concealedSamples > 100 * 960)
    // At first the buffer doesn't know how much later copies come.
    #expect(mended.stats.concealedSamples == mended.early.concealedSamples)
    #expect(mended.early.concealedSamples <= 2 * 960)
    #expect(mended.stats.packetsLate == 0)
    #expect(mended.stats.flushes == 0)
  }

  @Test func burstsNeedAsManyCopies() {
    let isLost = { (index: Int) in index % 20 > 17 }
    let one = run(silent(), packets: packets, copies: 1, isLost: isLost)
    let two = run(silent(), packets: packets, copies: 2, isLost: isLost)
    #expect(two.stats.concealedSamples == two.early.concealedSamples)
    #expect(one.stats.concealedSamples - one.early.concealedSamples > 40 * 960)
  }

  @Test func restoredAudioIsWhatWasSent() throws {
    let voice = Signals.voice(count: 48_000 * 20)
    let packets = try OpusBench.encode(
      OpusEncoderSettings(channels: 1, application: .voip, bitsPerSecond: 32_000), voice)
    func play(copies: Int, _ isLost: (Int) -> Bool) throws -> Outcome {
      run(
        AudioJitterBuffer(decoder: try OpusDecoder(channels: 1)), packets: packets,
        copies: copies, isLost: isLost)
    }
    let isLost = { (index: Int) in index % 13 == 12 }
    let mended = try play(copies: 1, isLost)
    #expect(mended.stats.concealedSamples == mended.early.concealedSamples)
    // Late in the run, with the delay settled, each 100 ms is found in what a decoder without loss gives.
    let whole = try OpusBench.decode(packets, channels: 1)
    let part = Array(mended.output[(48_000 * 18)..<(48_000 * 18 + 9_600)])
    var best = -99.0
    for offset in stride(from: 48_000 * 18 - 9_600, to: 48_000 * 18, by: 1) {
      // A coarse look first: most offsets don't fit at all.
      let near =
        abs(Int(whole[offset]) - Int(part[0])) < 40
        && abs(Int(whole[offset + 500]) - Int(part[500])) < 40
      if near { best = max(best, Signals.snr(part, Array(whole[offset..<(offset + 9_600)]))) }
    }
    #expect(best > 40, "\(best) dB")
  }

  @Test func copiesThatMakeNoSenseAreCountedAndNoMore() {
    let random = RandomSource(seed: 5)
    let buffer = silent()
    let output = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 480)
    defer { output.deallocate() }
    [1, 2, 3].withUnsafeBytes {
      buffer.insertRedundant(sequenceNumber: 1, timestamp: 1, payload: $0, at: .zero)
    }
    #expect(buffer.stats.fecPacketsDiscarded == 1)
    for round in 0..<20_000 {
      let now = Instant.zero + .milliseconds(round * 5)
      let payload = random.bytes(Int(random.next() % 40))
      payload.withUnsafeBytes { bytes in
        if random.next() % 3 == 0 {
          buffer.insert(
            sequenceNumber: UInt16(truncatingIfNeeded: round / 3),
            timestamp: UInt32(truncatingIfNeeded: round / 3 * 960), payload: bytes, at: now)
        } else {
          buffer.insertRedundant(
            sequenceNumber: UInt16(truncatingIfNeeded: random.next()),
            timestamp: UInt32(truncatingIfNeeded: random.next()), payload: bytes, at: now)
        }
      }
      if round % 2 == 0 { buffer.getAudio(at: now, into: output) }
    }
    #expect(buffer.packetCount <= 200)
    #expect(buffer.stats.fecPacketsReceived > 10_000)
  }
}
