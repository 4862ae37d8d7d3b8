import SoraAudio
import SoraMedia
import Testing

@Suite struct OpusTests {
  @Test(arguments: OpusFrameDuration.allCases, [1, 2])
  func everyFrameDurationComesThrough(_ duration: OpusFrameDuration, _ channels: Int) throws {
    let mono = Signals.tone(997, count: 48_000 * 2)
    let samples = channels == 1 ? mono : mono.flatMap { [$0, $0] }
    let encoded = try OpusBench.encode(
      OpusEncoderSettings(channels: channels, bitsPerSecond: 128_000, frameDuration: duration),
      samples)
    let decoder = try OpusDecoder(channels: channels)
    var output: [Int16] = []
    for packet in encoded {
      #expect(
        packet.withUnsafeBytes { OpusPacket.sampleCount($0) } == duration.sampleCount)
      output += try OpusBench.decode(decoder, packet)
    }
    let left = stride(from: 0, to: output.count, by: channels).map { output[$0] }
    #expect(left.count >= 48_000 * 2 - duration.sampleCount)
    #expect(Signals.toneSNR(Array(left[48_000..<90_000]), frequency: 997) > 20)
  }

  @Test func blocksOfAnyLengthBecomePackets() throws {
    let encoder = try OpusEncoder(OpusEncoderSettings(channels: 2))
    var frames: [EncodedFrame] = []
    for index in 0..<100 {
      try encoder.encode(
        AudioFrame(
          samples: Signals.tone(440, count: 441, from: index * 441), sampleRate: 48_000,
          channels: 1, timestamp: Instant(nanoseconds: Int64(index) * 9_187_500))
      ) { frames.append($0) }
    }
    #expect(frames.count == 44_100 / 960)
    for (index, frame) in frames.enumerated() {
      #expect(frame.rtpTimestamp == UInt32(index) * 960)
      #expect(frame.payload.count > 2)
      #expect(abs(frame.timestamp.milliseconds - Int64(index) * 20) <= 10)
    }
    #expect(throws: AudioCodecError.self) {
      try encoder.encode(
        AudioFrame(samples: [0], sampleRate: 44_100, channels: 1, timestamp: .zero)
      ) { _ in }
    }
  }

  @Test func lostAudioLeavesItsPlaceOnTheTimeline() throws {
    let encoder = try OpusEncoder(OpusEncoderSettings(channels: 2))
    var frames: [EncodedFrame] = []
    func encode(_ milliseconds: Range<Int>) throws {
      try encoder.encode(
        AudioFrame(
          samples: Signals.tone(440, count: 48 * milliseconds.count), sampleRate: 48_000,
          channels: 1, timestamp: .zero + .milliseconds(milliseconds.lowerBound))
      ) { frames.append($0) }
    }
    try encode(0..<30)
    encoder.skip(sampleCount: 48 * 105)
    try encode(135..<175)
    // The ten milliseconds that didn't fill a packet are gone with what was lost.
    #expect(frames.map(\.rtpTimestamp) == [0, 48 * 135, 48 * 155])
    #expect(frames.map(\.timestamp.milliseconds) == [0, 135, 155])
  }

  @Test func mutatedPacketsNeverTrap() throws {
    let random = RandomSource(seed: 31)
    let encoded = try OpusBench.encode(
      OpusEncoderSettings(channels: 2, bitsPerSecond: 64_000, packetLossPercent: 10),
      Signals.voice(count: 48_000))
    let decoder = try OpusDecoder(channels: 2)
    var output = [Int16](repeating: 0, count: 5_760 * 2)
    for round in 0..<10_000 {
      var packet =
        round % 3 == 0
        ? random.bytes(Int(random.next() % 60))
        : encoded[Int(random.next() % UInt64(encoded.count))]
      for _ in 0..<(random.next() % 4) where !packet.isEmpty {
        packet[Int(random.next() % UInt64(min(packet.count, 12)))] = UInt8(
          truncatingIfNeeded: random.next())
      }
      packet.withUnsafeBytes { bytes in
        _ = OpusPacket.sampleCount(bytes)
        _ = OpusPacket.redundantSampleCount(bytes)
        output.withUnsafeMutableBufferPointer { output in
          _ = try? decoder.decode(bytes, into: output)
          _ = try? decoder.decodeRedundancy(of: bytes, sampleCount: 960, into: output)
        }
      }
    }
  }
}
