import Foundation
import SoraAudio
import SoraMedia
import Testing

/// G.711: both laws by the recommendation's tables, packets of 20 ms, and what is heard where some are missing.
@Suite struct G711Tests {
  /// Values of ITU-T G.711's tables 1a, 1b, 2a and 2b: the ends and the middle of the scale, and the first value of each segment, of 13
  /// and 14 bits there.
  @Test func theTables() {
    let mu: [(octet: UInt8, value: Int16)] = [
      (0x80, 8_031 << 2), (0x00, -8_031 << 2), (0xFF, 0), (0x7F, 0), (0xFE, 2 << 2),
      (0x7E, -2 << 2),
      (0x8F, 4_191 << 2), (0x9F, 2_079 << 2), (0xAF, 1_023 << 2), (0xBF, 495 << 2),
      (0xCF, 231 << 2),
      (0xDF, 99 << 2), (0xEF, 33 << 2),
    ]
    for (octet, value) in mu { #expect(G711Law.mu.decode(octet) == value, "\(octet)") }
    let a: [(octet: UInt8, value: Int16)] = [
      (0xAA, 4_032 << 3), (0x2A, -4_032 << 3), (0xD5, 1 << 3), (0x55, -1 << 3),
      (0xA5, 2_112 << 3), (0xB5, 1_056 << 3), (0x85, 528 << 3), (0x95, 264 << 3), (0xE5, 132 << 3),
      (0xF5, 66 << 3), (0xC5, 33 << 3),
    ]
    for (octet, value) in a { #expect(G711Law.a.decode(octet) == value, "\(octet)") }
  }

  @Test(arguments: G711Law.allCases) func everyOctetIsItsOwnValue(_ law: G711Law) {
    for octet in UInt8.min...UInt8.max {
      // Of the two zeros of µ-law, one is written.
      let expected = law == .mu && octet == 0x7F ? 0xFF : octet
      #expect(law.encode(law.decode(octet)) == expected)
    }
  }

  @Test(arguments: G711Law.allCases) func samplesGoToAValueNearThem(_ law: G711Law) {
    var last = Int16.min
    for sample in stride(from: Int(Int16.min), through: Int(Int16.max), by: 7) {
      let value = law.decode(law.encode(Int16(sample)))
      #expect(value >= last)
      last = value
      // Half of the widest step, and what is beyond the scale.
      #expect(abs(Int(value) - sample) <= max(16, abs(sample) / 30) + 4, "\(sample)")
    }
  }

  private func tone(_ seconds: Double, rate: Int) -> [Int16] {
    (0..<Int(seconds * Double(rate))).map {
      Int16(8_000 * sin(2 * .pi * 200 * Double($0) / Double(rate)))
    }
  }

  private func packets(_ law: G711Law, _ samples: [Int16]) throws -> [[UInt8]] {
    let encoder = G711Encoder(law)
    var packets: [[UInt8]] = []
    var expected: UInt32 = 0
    // Blocks that don't divide a packet.
    for start in stride(from: 0, to: samples.count, by: 70) {
      let block = AudioFrame(
        samples: Array(samples[start..<min(start + 70, samples.count)]), sampleRate: 8_000,
        channels: 1, timestamp: .zero)
      try encoder.encode(block) { packet in
        #expect(packet.rtpTimestamp == expected && packet.payload.count == 160)
        expected += 160
        packets.append(unsafe Array(packet.payload.bytes))
      }
    }
    return packets
  }

  private func decode(_ decoder: G711Decoder, _ packet: [UInt8]) throws -> [Int16] {
    var output = [Int16](repeating: 0, count: 5_760)
    var room = output.mutableSpan
    let count = try decoder.decode(packet.span, into: &room)
    return Array(output[..<count])
  }

  private func conceal(_ decoder: G711Decoder, _ count: Int) throws -> [Int16] {
    var output = [Int16](repeating: 0, count: 5_760)
    var room = output.mutableSpan
    let made = try decoder.conceal(sampleCount: count, into: &room)
    return Array(output[..<made])
  }

  private func power(_ samples: some Collection<Int16>) -> Double {
    samples.reduce(0) { $0 + Double($1) * Double($1) } / Double(samples.count)
  }

  @Test(arguments: G711Law.allCases) func aToneComesOutAtSixTimesTheRate(_ law: G711Law) throws {
    let decoder = try G711Decoder(law)
    let wide = try packets(law, tone(0.4, rate: 8_000)).flatMap { try decode(decoder, $0) }
    #expect(wide.count == 19_200)
    // The resampler's 3 ms come first.
    let expected = tone(0.4, rate: 48_000)
    let noise = (480..<19_200).map { index in
      Int16(clamping: Int(wide[index]) - Int(expected[index - 144]))
    }
    #expect(10 * log10(power(expected) / power(noise)) > 30)
  }

  /// The voice goes on for a while, fades, and comes back without a click.
  @Test func whatIsMissingIsContinued() throws {
    let decoder = try G711Decoder(.mu)
    let sent = try packets(.mu, tone(0.6, rate: 8_000))
    for packet in sent[..<10] { _ = try decode(decoder, packet) }
    let whole = try conceal(decoder, 480)
    #expect(power(whole) > 0.8 * power(tone(0.4, rate: 48_000)))
    _ = try conceal(decoder, 2_880)
    let end = try conceal(decoder, 480)
    #expect(end.allSatisfy { $0 == 0 })
    let back = try decode(decoder, sent[13])
    let largest = zip(back, back.dropFirst()).map { abs(Int($0) - Int($1)) }.max()
    // The tone's own steepest step at 48 kHz is 209.
    #expect(try #require(largest) < 500)
  }

  @Test func otherPayloadsAreRefused() throws {
    let decoder = try G711Decoder(.a)
    #expect(decoder.sampleCount(of: [UInt8]().span) == nil)
    #expect(decoder.sampleCount(of: [UInt8](repeating: 0, count: 960).span) == 5_760)
    #expect(decoder.sampleCount(of: [UInt8](repeating: 0, count: 961).span) == nil)
    #expect(throws: AudioCodecError.malformedPacket) { try decode(decoder, []) }
    #expect(throws: AudioCodecError.self) { try conceal(decoder, 481) }
  }
}
