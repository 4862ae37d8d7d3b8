import COpus
import SoraAudio
import SoraMedia
import Testing

/// What we read from a packet is what libopus reads, whatever the bytes are.
@Suite struct OpusPacketFuzzTests {
  @Test func theFactsAgreeWithLibopusOnAnyBytes() {
    let random = RandomSource(seed: 77)
    for _ in 0..<50_000 {
      let packet = random.bytes(1 + Int(random.next() % 12))
      if !agrees(packet) {
        Issue.record("\(packet)")
        return
      }
    }
  }

  private func agrees(_ packet: [UInt8]) -> Bool {
    packet.withUnsafeBufferPointer { bytes in
      guard let base = bytes.baseAddress else { return false }
      let count = opus_packet_get_nb_samples(base, Int32(bytes.count), 48_000)
      let bandwidth: OpusBandwidth =
        switch opus_packet_get_bandwidth(base) {
        case OPUS_BANDWIDTH_NARROWBAND: .narrow
        case OPUS_BANDWIDTH_MEDIUMBAND: .medium
        case OPUS_BANDWIDTH_WIDEBAND: .wide
        case OPUS_BANDWIDTH_SUPERWIDEBAND: .superWide
        default: .full
        }
      // A packet of no frames has 0 samples there, and is none here.
      return OpusPacket.sampleCount(UnsafeRawBufferPointer(bytes)) == (count > 0 ? Int(count) : nil)
        && OpusPacket.samplesPerFrame(bytes[0])
          == Int(opus_packet_get_samples_per_frame(base, 48_000))
        && OpusPacket.channels(bytes[0]) == Int(opus_packet_get_nb_channels(base))
        && OpusPacket.bandwidth(bytes[0]) == bandwidth
    }
  }

  @Test func mutatedPacketsAreReadAsLibopusReadsThem() throws {
    let random = RandomSource(seed: 78)
    let packets = try OpusBench.encode(
      OpusEncoderSettings(
        channels: 2, application: .voip, bitsPerSecond: 40_000, frameDuration: .milliseconds60,
        packetLossPercent: 20), Signals.voice(count: 48_000 * 2).flatMap { [$0, $0] })
    let decoder = try OpusDecoder(channels: 1)
    var output = [Int16](repeating: 0, count: 5_760)
    for _ in 0..<5_000 {
      var packet = packets[Int(random.next() % UInt64(packets.count))]
      for _ in 0..<(1 + random.next() % 3) {
        packet[Int(random.next() % UInt64(min(packet.count, 8)))] = UInt8(
          truncatingIfNeeded: random.next())
      }
      packet = Array(packet.prefix(1 + Int(random.next() % UInt64(packet.count))))
      let facts = packet.withUnsafeBytes { OpusPacket.sampleCount($0) }
      let redundant = packet.withUnsafeBytes { OpusPacket.redundantSampleCount($0) }
      #expect(redundant <= facts ?? 0)
      let decoded = output.withUnsafeMutableBufferPointer { output in
        packet.withUnsafeBytes { try? decoder.decode($0, into: output) }
      }
      if let decoded { #expect(decoded == facts) }
    }
  }
}
