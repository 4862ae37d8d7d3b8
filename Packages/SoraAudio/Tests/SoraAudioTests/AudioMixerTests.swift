import Foundation
import SoraAudio
import SoraMedia
import Testing

@Suite struct AudioMixerTests {
  private func frame(
    _ value: Int16, channels: Int = 2, rate: Int = 48_000, count: Int = 480
  ) -> AudioFrame {
    AudioFrame(
      samples: [Int16](repeating: value, count: count * channels), sampleRate: rate,
      channels: channels, timestamp: .zero)
  }

  private func read(_ mixer: AudioMixer) -> AudioFrame {
    var output = frame(0, channels: mixer.channels)
    mixer.read(into: &output)
    return output
  }

  /// Pushes and pulls in turn until what comes out is steady; the last frame.
  private func steady(
    _ mixer: AudioMixer, turns: Int = 10, _ inputs: [(AudioMixer.Input, AudioFrame)]
  ) -> AudioFrame {
    var last = frame(0, channels: mixer.channels)
    for _ in 0..<turns {
      for (input, frame) in inputs { input.push(frame) }
      last = read(mixer)
    }
    return last
  }

  @Test func streamsAddUp() {
    let mixer = AudioMixer()
    let (a, b) = (mixer.makeInput(), mixer.makeInput())
    let last = steady(mixer, [(a, frame(1_000)), (b, frame(2_000, channels: 1))])
    #expect(last.samples.allSatisfy { $0 == 3_000 })
    mixer.remove(b)
    #expect(steady(mixer, [(a, frame(1_000))]).samples.allSatisfy { $0 == 1_000 })
    #expect(a.statistics.underruns == 0 && a.statistics.samplesDropped == 0)
  }

  @Test func volumesCount() {
    let mixer = AudioMixer(channels: 1)
    let input = mixer.makeInput()
    input.volume = 10
    #expect(steady(mixer, [(input, frame(1_000))]).samples.last == 10_000)
    input.volume = 0
    #expect(steady(mixer, [(input, frame(1_000))]).samples.last == 0)
    #expect(input.levelDB.map { abs($0 + 30.3) < 3 } == true, "before the volume")
    input.volume = 99
    #expect(input.volume == 10)
    input.volume = .nan
    #expect(input.volume == 10)
  }

  /// Nothing wraps, and what is loud stays what it is: a sine, though quieter.
  @Test func peaksAreLimited() {
    let mixer = AudioMixer(channels: 1)
    let inputs = (0..<4).map { _ in mixer.makeInput() }
    var samples: [Int16] = []
    for turn in 0..<50 {
      var tone = frame(0, channels: 1)
      for index in 0..<480 {
        tone.samples[index] = Int16(sin(Double(turn * 480 + index) * 0.05) * 30_000)
      }
      for input in inputs { input.push(tone) }
      samples += read(mixer).samples
    }
    let tail = samples.suffix(9_600)
    #expect(tail.max().map { $0 > 30_000 && $0 <= 32_500 } == true)
    let steps = zip(tail, tail.dropFirst()).map { abs(Int($1) - Int($0)) }
    #expect((steps.max() ?? 0) < 2_000, "no step as of a sample that wrapped")
    #expect(mixer.levelDB.map { $0 > -6 && $0 < 0 } == true)
  }

  @Test func gapsAreSilentAndCounted() {
    let mixer = AudioMixer(channels: 1)
    let input = mixer.makeInput()
    _ = steady(mixer, [(input, frame(8_000, channels: 1))])
    var samples: [Int16] = []
    for _ in 0..<6 { samples += read(mixer).samples }
    #expect(input.statistics.underruns == 1)
    #expect(samples.suffix(480).allSatisfy { $0 == 0 })
    let back = steady(mixer, [(input, frame(8_000, channels: 1))])
    #expect(back.samples.last == 8_000)
  }

  /// After gaps more is waited for; where none comes any more, the wait is again what it was, and nothing is heard of that.
  @Test func aWaitThatGrewShrinks() {
    let mixer = AudioMixer(channels: 1)
    let input = mixer.makeInput()
    for _ in 0..<3 {
      _ = steady(mixer, [(input, frame(8_000, channels: 1))])
      for _ in 0..<6 { _ = read(mixer) }
    }
    #expect(input.statistics.underruns == 3)
    #expect(input.statistics.delay == .milliseconds(50))
    _ = steady(mixer, [(input, frame(8_000, channels: 1))])
    var quietest = Int16.max
    for _ in 0..<2_000 {
      input.push(frame(8_000, channels: 1))
      quietest = min(quietest, read(mixer).samples.min() ?? 0)
    }
    #expect(input.statistics.delay == .milliseconds(20))
    #expect(input.statistics.underruns == 3 && input.statistics.samplesDropped == 0)
    #expect(quietest == 8_000)
  }

  @Test func tooMuchIsDropped() {
    let mixer = AudioMixer(channels: 1)
    let input = mixer.makeInput()
    for _ in 0..<20 { input.push(frame(1_000, channels: 1)) }
    #expect(input.statistics.samplesDropped > 4_000)
    #expect(steady(mixer, [(input, frame(1_000))]).samples.last == 1_000)
  }

  /// Blocks of 200 ms, as some sources have them: all of each is heard, whatever its rate and channels.
  @Test(arguments: [(48_000, 2), (48_000, 1), (16_000, 1)]) func longFramesAreHeardWhole(
    _ rate: Int, _ channels: Int
  ) {
    let mixer = AudioMixer()
    let input = mixer.makeInput()
    var samples: [Int16] = []
    for _ in 0..<10 {
      input.push(frame(1_000, channels: channels, rate: rate, count: rate / 5))
      for _ in 0..<20 { samples += read(mixer).samples }
    }
    #expect(input.statistics.samplesDropped == 0)
    // A resampler holds back some samples of the first block: nothing else is missing.
    #expect(input.statistics.underruns == (rate == 48_000 ? 0 : 1))
    #expect(samples.dropFirst(19_200).allSatisfy { $0 != 0 })
    // More than one block at once is still too much, and the newest is heard.
    let before = input.statistics.samplesDropped
    for _ in 0..<5 { input.push(frame(1_000, channels: channels, rate: rate, count: rate / 5)) }
    #expect(input.statistics.samplesDropped > before + 20_000)
    #expect(read(mixer).samples.contains { $0 != 0 })
  }

  @Test func otherRatesAreResampled() {
    let mixer = AudioMixer(channels: 1)
    let input = mixer.makeInput()
    let last = steady(
      mixer, turns: 30, [(input, frame(1_000, channels: 1, rate: 16_000, count: 160))])
    #expect(last.samples.allSatisfy { abs(Int($0) - 1_000) < 20 })
  }
}
