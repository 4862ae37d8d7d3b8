import SoraAudio
import SoraCapture
import SoraCommandSupport
import SoraMedia
import Testing

@Suite struct SyncMeterTests {
  /// Plays the pattern's frames and tone, the frames later by so many milliseconds.
  private func play(
    _ meter: SyncMeter, late: Int, seconds: Int = 6, amplitude: Double = 1
  ) {
    var tone = ToneSource(sampleRate: 48_000, channels: 2, framesPerSecond: 30)
    for step in 0..<seconds * 1000 {
      let now = Instant.zero + .milliseconds(step)
      if step % 10 == 0 {
        var samples = [Int16](repeating: 0, count: 960)
        var span = samples.mutableSpan
        tone.read(into: &span)
        for index in samples.indices {
          samples[index] = Int16(Double(samples[index]) * amplitude)
        }
        meter.add(
          AudioFrame(samples: samples, sampleRate: 48_000, channels: 2, timestamp: now), at: now)
      }
      let shown = step - late
      guard shown >= 0, (shown * 30) / 1000 != ((shown - 1) * 30) / 1000 || shown == 0 else {
        continue
      }
      let stamp = FrameStamp(
        index: UInt32(shown * 30 / 1000), milliseconds: UInt32(truncatingIfNeeded: shown))
      meter.add(stamp, at: now)
    }
  }

  @Test(arguments: [-80, -7, 0, 40, 200]) func framesThatAreLateOrEarlyAreTold(_ late: Int) throws {
    let meter = SyncMeter()
    play(meter, late: late)
    let result = try #require(meter.result)
    #expect(abs(result.offset - late) <= 2)
    #expect(abs(result.p95 - abs(late)) <= 3)
    #expect(result.beeps >= 3)
  }

  @Test func theBedAloneIsNoBeep() {
    let meter = SyncMeter()
    play(meter, late: 0, amplitude: 0.2)
    #expect(meter.result == nil)
  }
}
