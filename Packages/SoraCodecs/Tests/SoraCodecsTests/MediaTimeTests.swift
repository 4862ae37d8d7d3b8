import SoraCodecs
import SoraMedia
import Testing

@Suite struct MediaTimeTests {
  private func ticks(_ milliseconds: [Int64]) -> [Int64] {
    var time = EncoderMediaTime()
    return milliseconds.map {
      let duration = time.advance(
        to: Instant(nanoseconds: $0 * 1_000_000), framesPerSecond: 30)
      #expect(duration == 3_000)
      return time.ticks
    }
  }

  @Test func itFollowsCaptureTimes() {
    #expect(ticks([0, 40, 60, 100]) == [0, 3_600, 5_400, 9_000])
  }

  @Test func stallsBurstsAndJumpsAreBounded() {
    #expect(ticks([0, 1_000]) == [0, 15_000])
    #expect(ticks([0, 1, 2]) == [0, 1_500, 3_000])
    #expect(ticks([1_000, 0]) == [0, 3_000])
    #expect(ticks([0, 60_000]) == [0, 3_000])
  }

  @Test func ratesAreClampedAndTheSameOnesChangeNothing() {
    var settings = VideoEncoderSettings(width: 64, height: 64)
    func take(_ target: Int, _ rate: Double) -> Bool {
      settings.takeRates(targetBitsPerSecond: target, framesPerSecond: rate)
    }
    let changes = [(500_000, 15), (500_000, 15), (-1, 1_000), (0, .nan)].map(take)
    #expect(changes == [true, false, true, true])
    #expect(settings.targetBitsPerSecond == 0 && settings.framesPerSecond == 30)
  }
}
