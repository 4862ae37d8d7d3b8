import SoraAudio
import SoraMedia
import Testing

/// The first seconds of a call, in which the delay finds its place.
@Suite struct JitterBufferStartTests {
  private func buffer() -> AudioJitterBuffer {
    AudioJitterBuffer(decoder: SilentPayloadDecoder())
  }

  /// A packet is kept back until ten have come, and not for longer where none was late.
  @Test func theFirstGuessLastsForAFewPackets() {
    let buffer = buffer()
    var targets: [Duration] = []
    AudioScenario(seconds: 1).run(buffer) { _, _ in targets.append(buffer.targetDelay) }
    // The first packet comes at 50 ms, the tenth at 230 ms.
    #expect(targets[20] == .milliseconds(30))
    #expect(targets[25] < .milliseconds(15))
    #expect(buffer.stats.concealedSamples == 0)
  }

  /// Who repeats packets in band knows of losses, so what is restored is waited for before the first one; for two seconds without any.
  @Test func redundancyInBandIsWaitedForFromTheStart() {
    let buffer = AudioJitterBuffer(decoder: RestoringDecoder())
    var targets: [Duration] = []
    AudioScenario(seconds: 4).run(buffer) { _, _ in targets.append(buffer.targetDelay) }
    #expect(targets[150] == .milliseconds(30))
    #expect(targets[300] < .milliseconds(15))
  }

  /// A few packets don't show how late others will be: some more is kept back, so that little is missed.
  @Test func whatTheFirstPacketsHaveNotShownIsAllowedFor() {
    let (late, concealed) = AudioScenario.lossesAtStarts(of: buffer)
    // Of 5,000 packets and 10,000 pulls; 64 and 169 where nothing more was kept back.
    #expect(late < 40 && concealed < 100, "late \(late), concealed \(concealed)")
  }

  /// The path stalls for 100 ms at the start. Compared with the faster packets that follow, all that was played is late enough.
  @Test func aStallAtTheStartHasNothingPutIn() {
    let buffer = buffer()
    AudioScenario(
      seconds: 2,
      delay: { index in
        let stalled = 250 - Double(20 * index)
        return index < 11 ? min(150, stalled) : index % 4 == 3 ? 90 : 50
      }
    ).run(buffer)
    #expect(buffer.stats.insertedSamplesForDeceleration == 0)
    #expect(buffer.stats.concealedSamples == 0)
  }

  /// To know that it is too short takes one pull, where ten are needed to know that it is too long.
  @Test func theDelayGrowsAsSoonAsItIsTooShort() {
    let buffer = buffer()
    var delays: [Double] = []
    AudioScenario(seconds: 1, delay: { $0 == 1 ? 130 : 50 }, firstTimestamp: 0).run(buffer) {
      _, playout in
      let played = Double(playout.rtpTimestamp ?? 0) / 48
      delays.append(Double(delays.count) * 10 + 3 - played)
    }
    // The second packet comes at 150 ms, and has been given up.
    #expect(delays[14] < 85 && delays[20] > 100, "\(delays[...20])")
  }
}

/// Each packet could restore the one before it.
private final class RestoringDecoder: AudioPayloadDecoder {
  private let silence = SilentPayloadDecoder()

  var channels: Int { silence.channels }
  func sampleCount(of payload: Span<UInt8>) -> Int? { silence.sampleCount(of: payload) }
  func redundantSampleCount(of payload: Span<UInt8>) -> Int { silence.samplesPerPacket }
  func isSilence(_ payload: Span<UInt8>) -> Bool { silence.isSilence(payload) }

  func decode(
    _ payload: Span<UInt8>, into samples: inout MutableSpan<Int16>
  ) throws(AudioCodecError) -> Int { try silence.decode(payload, into: &samples) }

  func decodeRedundancy(
    of payload: Span<UInt8>, sampleCount: Int, into samples: inout MutableSpan<Int16>
  ) throws(AudioCodecError) -> Int {
    try silence.decodeRedundancy(of: payload, sampleCount: sampleCount, into: &samples)
  }

  func conceal(
    sampleCount: Int, into samples: inout MutableSpan<Int16>
  ) throws(AudioCodecError) -> Int { try silence.conceal(sampleCount: sampleCount, into: &samples) }

  func reset() {}
}
