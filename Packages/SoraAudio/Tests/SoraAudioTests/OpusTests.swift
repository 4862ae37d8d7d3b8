import SoraAudio
import SoraMedia
import Testing

@Suite struct OpusTests {
  private func packets(_ settings: OpusEncoderSettings, _ samples: [Int16]) throws -> [[UInt8]] {
    let encoder = try OpusEncoder(settings)
    let size = settings.frameDuration.sampleCount * settings.channels
    return try stride(from: 0, through: samples.count - size, by: size).map { start in
      var packet = [UInt8](repeating: 0, count: OpusEncoder.maximumPacketSize)
      let count = try samples[start..<(start + size)].withUnsafeBufferPointer { input in
        try packet.withUnsafeMutableBytes { try encoder.encode(input, into: $0) }
      }
      return Array(packet.prefix(count))
    }
  }

  private func decode(_ decoder: OpusDecoder, _ packet: [UInt8]) throws -> [Int16] {
    var output = [Int16](repeating: 0, count: 5_760 * decoder.channels)
    let count = try output.withUnsafeMutableBufferPointer { output in
      try packet.withUnsafeBytes { try decoder.decode($0, into: output) }
    }
    return Array(output.prefix(count * decoder.channels))
  }

  @Test(arguments: OpusFrameDuration.allCases, [1, 2])
  func everyFrameDurationComesThrough(_ duration: OpusFrameDuration, _ channels: Int) throws {
    let mono = Signals.tone(997, count: 48_000 * 2)
    let samples = channels == 1 ? mono : mono.flatMap { [$0, $0] }
    let encoded = try packets(
      OpusEncoderSettings(channels: channels, bitsPerSecond: 128_000, frameDuration: duration),
      samples)
    let decoder = try OpusDecoder(channels: channels)
    var output: [Int16] = []
    for packet in encoded {
      #expect(
        packet.withUnsafeBytes { OpusPacket.sampleCount($0) } == duration.sampleCount)
      output += try decode(decoder, packet)
    }
    let left = stride(from: 0, to: output.count, by: channels).map { output[$0] }
    #expect(left.count >= 48_000 * 2 - duration.sampleCount)
    #expect(Signals.toneSNR(Array(left[48_000..<90_000]), frequency: 997) > 20)
  }

  @Test func bitrateIsKept() throws {
    let samples = Signals.voice(count: 48_000 * 5)
    for bits in [16_000, 64_000, 256_000] {
      let encoded = try packets(
        OpusEncoderSettings(channels: 1, bitsPerSecond: bits, usesVariableBitrate: false), samples)
      let rate = encoded.reduce(0) { $0 + $1.count } * 8 / 5
      #expect(abs(rate - bits) < bits / 20, "\(rate)")
    }
  }

  @Test func settingsChangeBetweenPackets() throws {
    var settings = OpusEncoderSettings(channels: 1, bitsPerSecond: 128_000)
    let encoder = try OpusEncoder(settings)
    settings.bitsPerSecond = 16_000
    settings.usesInBandFEC = false
    settings.maximumBandwidth = .wide
    settings.complexity = 3
    settings.frameDuration = .milliseconds60
    try encoder.update(settings)
    #expect(encoder.effectiveBitsPerSecond == 16_000)
    #expect(encoder.settings == settings)
    settings.channels = 2
    #expect(throws: AudioCodecError.self) { try encoder.update(settings) }
    settings.channels = 1
    settings.packetLossPercent = 101
    #expect(
      throws: AudioCodecError.invalidSetting(
        name: "packetLossPercent", value: "101", allowed: "0 to 100")
    ) { try encoder.update(settings) }
  }

  @Test func lostPacketsAreRestoredFromTheNextOrConcealed() throws {
    let voice = Signals.voice(count: 48_000 * 4)
    let encoded = try packets(
      OpusEncoderSettings(
        channels: 1, application: .voip, bitsPerSecond: 32_000, packetLossPercent: 20), voice)
    let whole = try OpusDecoder(channels: 1)
    let reference = try encoded.map { try decode(whole, $0) }
    func error(_ a: [Int16], _ b: [Int16]) -> Double {
      Signals.rms(zip(a, b).map { Int16(clamping: Int($0) - Int($1)) })
    }
    let withFEC = try OpusDecoder(channels: 1)
    let withPLC = try OpusDecoder(channels: 1)
    var fecError = 0.0
    var plcError = 0.0
    var buffer = [Int16](repeating: 0, count: 960)
    for (index, packet) in encoded.enumerated() {
      if index % 8 == 5, index + 1 < encoded.count {
        let count = try buffer.withUnsafeMutableBufferPointer { output in
          try encoded[index + 1].withUnsafeBytes {
            try withFEC.decodeRedundancy(of: $0, sampleCount: 960, into: output)
          }
        }
        #expect(count == 960)
        fecError += error(buffer, reference[index])
        _ = try buffer.withUnsafeMutableBufferPointer {
          try withPLC.conceal(sampleCount: 960, into: $0)
        }
        plcError += error(buffer, reference[index])
        #expect(Signals.rms(buffer) > 50)
      } else {
        _ = try decode(withFEC, packet)
        _ = try decode(withPLC, packet)
      }
    }
    #expect(fecError < plcError * 0.7, "FEC \(fecError), PLC \(plcError)")
  }

  @Test func discontinuousTransmissionSendsLittle() throws {
    let silence = [Int16](repeating: 0, count: 48_000 * 4)
    let encoded = try packets(
      OpusEncoderSettings(
        channels: 1, application: .voip, bitsPerSecond: 32_000, usesDTX: true),
      Signals.voice(count: 48_000) + silence)
    let sent = encoded.filter { !$0.isEmpty }.count
    #expect(sent < 100, "\(sent) of \(encoded.count)")
    #expect(encoded.contains { $0.count == 1 || $0.count == 2 })
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

  @Test func mutatedPacketsNeverTrap() throws {
    let random = RandomSource(seed: 31)
    let encoded = try packets(
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
