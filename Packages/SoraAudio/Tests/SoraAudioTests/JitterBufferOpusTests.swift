import SoraAudio
import SoraMedia
import Testing

@Suite struct JitterBufferOpusTests {
  private func encode(_ samples: [Int16], fec: Bool, loss: Int = 0) throws -> [[UInt8]] {
    let encoder = try OpusEncoder(
      OpusEncoderSettings(
        channels: 1, application: .voip, bitsPerSecond: 32_000, usesInBandFEC: fec,
        packetLossPercent: loss))
    var packets: [[UInt8]] = []
    for start in stride(from: 0, through: samples.count - 960, by: 960) {
      var packet = [UInt8](repeating: 0, count: OpusEncoder.maximumPacketSize)
      let count = try samples[start..<(start + 960)].withUnsafeBufferPointer { input in
        try packet.withUnsafeMutableBytes { try encoder.encode(input, into: $0) }
      }
      packets.append(Array(packet.prefix(count)))
    }
    return packets
  }

  @Test func aToneComesThroughUnharmed() throws {
    let packets = try encode(Signals.tone(440, count: 48_000 * 10), fec: false)
    let buffer = AudioJitterBuffer(decoder: try OpusDecoder(channels: 1))
    var output: [Int16] = []
    AudioScenario(seconds: 10, payload: { packets[$0] }).run(buffer) { samples, _ in
      output += samples
    }
    #expect(buffer.stats.concealedSamples == 0)
    #expect(Signals.toneSNR(Array(output[(48_000 * 6)..<(48_000 * 9)]), frequency: 440) > 20)
    #expect(buffer.stats.totalAudioEnergy > 0.1)
  }

  @Test func stretchingKeepsPitchAndPower() throws {
    let packets = try encode(Signals.tone(440, count: 48_000 * 60), fec: false)
    let buffer = AudioJitterBuffer(decoder: try OpusDecoder(channels: 1))
    let random = RandomSource(seed: 21)
    var output: [Int16] = []
    AudioScenario(
      seconds: 60, driftPPM: -300,
      delay: { index in
        50 + (index < 500 ? Double.random(in: 0...80, using: &random.wrapped) : 0)
      }, payload: { packets[$0] }
    ).run(buffer) { samples, _ in output += samples }
    #expect(buffer.stats.removedSamplesForAcceleration > 1_000)
    // Each 100 ms after the start is still a tone of the same pitch and power.
    var worst = 99.0
    for start in stride(from: 48_000 * 5, to: 48_000 * 59, by: 4_800) {
      let part = Array(output[start..<(start + 4_800)])
      #expect(Signals.rms(part) > 5_500)
      worst = min(worst, Signals.toneSNR(part, frequency: 440))
    }
    #expect(worst > 12, "\(worst) dB")
  }

  @Test func redundancyRestoresSingleLosses() throws {
    let packets = try encode(Signals.voice(count: 48_000 * 20), fec: true, loss: 20)
    // The encoder repeats what is worth it: not what it takes for silence.
    let isRestorable = packets.indices.map { index in
      index + 1 < packets.count
        && packets[index + 1].withUnsafeBytes { OpusPacket.redundantSampleCount($0) == 960 }
    }
    let lost = packets.indices.filter { $0 % 7 == 3 && $0 > 50 && isRestorable[$0] }
    #expect(lost.count > 50)
    let buffer = AudioJitterBuffer(decoder: try OpusDecoder(channels: 1))
    AudioScenario(
      seconds: 20, delay: { lost.contains($0) ? nil : 50 }, payload: { packets[$0] }
    ).run(buffer)
    #expect(buffer.stats.fecPacketsUsed == UInt64(lost.count))
    // Until the first loss nobody waits for what is restored: the first half of that one may have been made up.
    #expect(buffer.stats.concealedSamples <= 480)
  }

  @Test func concealmentContinuesTheAudio() throws {
    let packets = try encode(Signals.tone(300, count: 48_000 * 10), fec: false)
    let buffer = AudioJitterBuffer(decoder: try OpusDecoder(channels: 1))
    var quietest = Double.infinity
    var pull = 0
    AudioScenario(
      seconds: 10, delay: { $0 % 25 == 24 ? nil : 50 }, payload: { packets[$0] }
    ).run(buffer) { samples, _ in
      pull += 1
      if pull > 100 { quietest = min(quietest, Signals.rms(samples)) }
    }
    #expect(buffer.stats.concealmentEvents > 15)
    #expect(buffer.stats.silentConcealedSamples == 0)
    #expect(quietest > 2_000, "\(quietest)")
  }

  @Test func afterTheSenderVanishesThereIsSilence() throws {
    let packets = try encode(Signals.tone(300, count: 48_000 * 5), fec: false)
    let buffer = AudioJitterBuffer(decoder: try OpusDecoder(channels: 1))
    var last: [Int16] = []
    AudioScenario(
      seconds: 10, delay: { $0 < 250 ? 50 : nil },
      payload: { packets[min($0, packets.count - 1)] }
    ).run(buffer) { samples, _ in last = Array(samples) }
    #expect(last.allSatisfy { $0 == 0 })
    #expect(buffer.stats.concealmentEvents == 1)
    #expect(buffer.stats.silentConcealedSamples > 48_000 * 3)
  }
}
