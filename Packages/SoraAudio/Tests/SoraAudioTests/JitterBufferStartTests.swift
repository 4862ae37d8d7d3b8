import SoraAudio
import SoraMedia
import Testing

/// The first seconds of a call, in which the delay finds its place.
@Suite struct JitterBufferStartTests {
  private func buffer() -> AudioJitterBuffer {
    AudioJitterBuffer(decoder: SilentPayloadDecoder())
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
