import Foundation
import SoraAudio
import SoraAudioDevices
import SoraMedia
import SoundServer
import Testing

@Suite struct DriftTests {
  /// A simulated hour of a device that comes in bursts of 20 ms, now and then late.
  @Test(arguments: [200.0, -200, 0, 50]) func followsAClock(_ ppm: Double) {
    var drift = ClockDrift()
    let random = RandomSource(seed: 7)
    var samples = 0.0
    var worst = 0.0
    var error = 0.0
    for turn in 0..<180_000 {
      // On the machine's clock; a device that is too slow takes longer.
      let seconds = Double(turn) * 0.02 * (1 + ppm / 1e6)
      let late = Double(random.next() % 1_000) / 1_000 * 0.008
      samples += 960 * (1 + drift.correction)
      let isSteady = drift.update(
        samples: samples, at: Instant(nanoseconds: Int64((seconds + late) * 1e9)))
      #expect(isSteady)
      error = seconds - samples / 48_000
      if turn > 0 { worst = max(worst, abs(error)) }
    }
    #expect(worst < 0.03, "\(worst)")
    #expect(abs(drift.drift * 1e6 - ppm) < 20, "\(drift.drift * 1e6)")
  }

  @Test func standstillIsTold() {
    var drift = ClockDrift()
    var samples = 0.0
    for turn in 0..<500 {
      samples += 480
      let isSteady = drift.update(
        samples: samples, at: Instant(nanoseconds: Int64(turn) * 10_000_000))
      #expect(isSteady)
    }
    let isSteady = drift.update(
      samples: samples + 480, at: Instant(nanoseconds: 5_200_000_000))
    #expect(!isSteady)
    drift.restart()
    let isNew = drift.update(samples: 0, at: Instant(nanoseconds: 5_210_000_000))
    #expect(isNew)
  }

  /// A crystal that is too fast, for an hour, isn't taken for a device without a clock.
  @Test(arguments: [100.0, -100, 500, 1_500]) func aClockThatIsTooFastIsNotHeldBack(_ ppm: Double) {
    let start = Instant(nanoseconds: 5_000_000_000)
    var pace = Pace(from: start)
    pace.add(Int(48_000 * 3_600 * (1 + ppm / 1e6)))
    #expect(!pace.isAhead(480, at: start + .seconds(3_600)))
  }

  /// What takes all that it is given is let ahead by no more than a moment.
  @Test func aDeviceWithoutAClockIsHeldBack() {
    let start = Instant(nanoseconds: 5_000_000_000)
    var pace = Pace(from: start)
    var given = 0
    for turn in 0..<6_000 {
      let now = start + .milliseconds(turn * 10)
      while !pace.isAhead(480, at: now) {
        pace.add(480)
        given += 480
      }
      #expect(given <= 480 * turn + turn + 12_000)
    }
    #expect(given >= 480 * 6_000)
  }

  @Test(arguments: [1.0, 1.0002, 0.9998]) func resamplingKeepsATone(_ step: Double) {
    var resampler = VariableRateResampler(channels: 2)
    var output: [Int16] = []
    var input = AudioFrame(
      samples: [Int16](repeating: 0, count: 960), sampleRate: 48_000, channels: 2, timestamp: .zero)
    for block in 0..<200 {
      Sine.fill(&input, hertz: 997, from: block * 480)
      resampler.process(input.samples.span, step: step, into: &output)
    }
    #expect(abs(Double(output.count / 2) * step - 96_000) < 40)
    let left = stride(from: 4_800, to: output.count - 2_000, by: 2).map { output[$0] }
    let right = stride(from: 4_801, to: output.count - 2_000, by: 2).map { output[$0] }
    #expect(left == right)
    // What is left when the tone of the shifted frequency is taken out.
    let hertz = 997 * step
    var (a, b, power) = (0.0, 0.0, 0.0)
    for (index, sample) in left.enumerated() {
      let phase = 2 * Double.pi * hertz * Double(index) / 48_000
      a += Double(sample) * cos(phase) * 2 / Double(left.count)
      b += Double(sample) * sin(phase) * 2 / Double(left.count)
    }
    for (index, sample) in left.enumerated() {
      let phase = 2 * Double.pi * hertz * Double(index) / 48_000
      let rest = Double(sample) - a * cos(phase) - b * sin(phase)
      power += rest * rest / Double(left.count)
    }
    let ratio = 10 * log10((a * a + b * b) / 2 / power)
    #expect(ratio > 70, "\(ratio) dB")
  }

  @Test func aRatioOfOnePassesSamples() {
    var resampler = VariableRateResampler(channels: 1)
    var output: [Int16] = []
    let input = (0..<4_800).map { Int16(truncatingIfNeeded: $0 * 7_919) }
    resampler.process(input.span, step: 1, into: &output)
    #expect(output.count >= 4_800 - 2 * VariableRateResampler.delay)
    #expect(Array(input.prefix(output.count)) == output)
  }
}
