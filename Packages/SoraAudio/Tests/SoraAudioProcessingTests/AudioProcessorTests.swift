import Foundation
import SoraAudioProcessing
import SoraMedia
import Testing

private let isInstalled = (try? AudioProcessor()) != nil

/// With simulated rooms: what the loudspeaker plays comes back late, filtered and quieter.
@Suite(.enabled(if: isInstalled, "needs Debian's libwebrtc-audio-processing1"))
struct AudioProcessorTests {
  /// Noise in syllables, which is wide enough to learn a room from, and pauses as speech does.
  private struct Voice {
    var random: RandomSource
    var low = 0.0
    var index = 0

    mutating func next() -> Double {
      let noise = Double(Int64(bitPattern: random.next()) >> 40) / Double(1 << 23)
      low += 0.3 * (noise - low)
      let seconds = Double(index) / 48_000
      index += 1
      return low * max(0, sin(2 * .pi * 3 * seconds)) * 0.5
    }
  }

  /// Echoes of a small room, 70 ms after the loudspeaker.
  private struct Room {
    static let delay = 3_360
    static let taps = 1_200
    private let response: [Double]
    private var past = [Double](repeating: 0, count: delay + taps)

    init() {
      let random = RandomSource(seed: 5)
      response = (0..<Self.taps).map { tap in
        let noise = Double(Int64(bitPattern: random.next()) >> 40) / Double(1 << 23)
        return noise * exp(-Double(tap) / 250) * 0.25 * (tap % 7 == 0 ? 1 : 0)
      }
    }

    mutating func hear(_ block: [Double]) -> [Double] {
      past += block
      var heard = [Double](repeating: 0, count: block.count)
      let start = past.count - block.count - Self.delay
      past.withUnsafeBufferPointer { past in
        for index in heard.indices {
          var sum = 0.0
          for tap in stride(from: 0, to: Self.taps, by: 7) where start + index >= tap {
            sum += response[tap] * past[start + index - tap]
          }
          heard[index] = sum
        }
      }
      past.removeFirst(block.count)
      return heard
    }
  }

  private static func frame(_ block: [Double], channels: Int = 1) -> AudioFrame {
    AudioFrame(
      samples: block.flatMap {
        Array(repeating: Int16(max(-1, min(1, $0)) * 32_767), count: channels)
      }, sampleRate: 48_000, channels: channels, timestamp: .zero)
  }

  private static func energy(_ frame: AudioFrame) -> Double {
    frame.samples.reduce(0) { $0 + Double($1) * Double($1) }
  }

  /// dB by which the echo leaves quieter than it came, over the last 3 of 12 seconds.
  private func echoReturnLoss(_ settings: AudioProcessingSettings) throws -> Double {
    let processor = try AudioProcessor(settings)
    var voice = Voice(random: RandomSource(seed: 3))
    var room = Room()
    var (before, after) = (0.0, 0.0)
    for turn in 0..<1_200 {
      let block = (0..<480).map { _ in voice.next() }
      processor.willPlay(Self.frame(block, channels: 2))
      var heard = Self.frame(room.hear(block))
      let energy = Self.energy(heard)
      processor.process(&heard, delay: .milliseconds(60))
      if turn >= 900 {
        before += energy
        after += Self.energy(heard)
      }
    }
    return 10 * log10(before / max(after, 1))
  }

  @Test func echoIsTakenOut() throws {
    let without = try echoReturnLoss(.off)
    var settings = AudioProcessingSettings.off
    settings.echoCancellation = true
    let with = try echoReturnLoss(settings)
    print(
      "echo return loss of a simulated room: \(without) dB without, \(with) dB with cancellation")
    #expect(abs(without) < 0.5)
    #expect(with > 15)
  }

  @Test func noiseIsTakenOut() throws {
    var settings = AudioProcessingSettings.off
    settings.noiseSuppression = .high
    let processor = try AudioProcessor(settings)
    let random = RandomSource(seed: 9)
    var (before, after) = (0.0, 0.0)
    for turn in 0..<500 {
      var frame = Self.frame(
        (0..<480).map { _ in Double(Int64(bitPattern: random.next()) >> 40) / Double(1 << 23) * 0.02
        })
      let energy = Self.energy(frame)
      processor.process(&frame)
      if turn >= 300 {
        before += energy
        after += Self.energy(frame)
      }
    }
    let reduction = 10 * log10(before / max(after, 1))
    print("constant noise: \(reduction) dB less")
    #expect(reduction > 6)
  }

  @Test func quietVoicesGetLouder() throws {
    var settings = AudioProcessingSettings.off
    settings.gainControl = true
    let processor = try AudioProcessor(settings)
    var voice = Voice(random: RandomSource(seed: 4))
    var (before, after) = (0.0, 0.0)
    for turn in 0..<600 {
      var frame = Self.frame((0..<480).map { _ in voice.next() * 0.1 })
      let energy = Self.energy(frame)
      processor.process(&frame)
      if turn >= 300 {
        before += energy
        after += Self.energy(frame)
      }
    }
    let gain = 10 * log10(after / max(before, 1))
    print("a quiet voice: \(gain) dB louder")
    #expect(gain > 3)
  }

  /// A voice of vowels: pulses of 120 Hz through the resonances of a throat, 4 syllables per second.
  private struct Vowels {
    private var index = 0
    private var phase = 0.0
    private var past = Array(repeating: (0.0, 0.0), count: 3)

    mutating func next() -> Double {
      let seconds = Double(index) / 48_000
      index += 1
      phase += (120 + 15 * sin(2 * .pi * 2 * seconds)) / 48_000
      var sample = 0.0
      if phase >= 1 {
        phase -= 1
        sample = 1
      }
      // Hertz and bandwidth of an open vowel's formants.
      for (stage, (hertz, width)) in [(700.0, 80.0), (1_200, 90), (2_500, 120)].enumerated() {
        let radius = exp(-.pi * width / 48_000)
        let (a, b) = past[stage]
        sample += 2 * radius * cos(2 * .pi * hertz / 48_000) * a - radius * radius * b
        past[stage] = (sample, a)
        sample *= 1 - radius
      }
      return sample * max(0, sin(2 * .pi * 4 * seconds)) * 20
    }
  }

  /// Parts of frames in which somebody speaks, second by second.
  private func voiced(
    _ settings: AudioProcessingSettings, seconds: Int, _ sample: (Int) -> Double
  ) throws -> [Double] {
    let processor = try AudioProcessor(settings)
    return (0..<seconds).map { second in
      var count = 0
      for turn in 0..<100 {
        let start = second * 48_000 + turn * 480
        var frame = Self.frame((start..<(start + 480)).map(sample))
        if processor.process(&frame) { count += 1 }
      }
      return Double(count) / 100
    }
  }

  @Test func voicesAreTold() throws {
    var settings = AudioProcessingSettings.off
    settings.voiceDetection = true
    var vowels = Vowels()
    let spoken = try voiced(settings, seconds: 6) { index in
      let sample = vowels.next()
      // Two seconds of nothing in the middle.
      return 96_000..<192_000 ~= index ? 0 : sample
    }
    let silent = try voiced(settings, seconds: 3) { _ in 0 }
    let random = RandomSource(seed: 11)
    let noisy = try voiced(settings, seconds: 6) { _ in
      Double(Int64(bitPattern: random.next()) >> 40) / Double(1 << 23) * 0.01
    }
    settings.highPass = true
    let hum = try voiced(settings, seconds: 6) { 0.2 * sin(2 * .pi * 50 * Double($0) / 48_000) }
    print("voice: spoken \(spoken), silent \(silent), noisy \(noisy), hum \(hum)")
    // A second has four pauses between syllables.
    for second in [0, 1, 4, 5] { #expect(spoken[second] > 0.6) }
    #expect(spoken[2...3].allSatisfy { $0 < 0.1 } && silent == [0, 0, 0])
    #expect(noisy.suffix(3).allSatisfy { $0 < 0.1 }, "once it is known as noise")
    #expect(hum.allSatisfy { $0 < 0.2 }, "without the high-pass filter it is a voice")
    settings.voiceDetection = false
    var others = Vowels()
    let off = try voiced(settings, seconds: 2) { _ in others.next() }
    #expect(off == [0, 0])
  }

  @Test func offChangesLittleAndSwitchesWork() throws {
    let processor = try AudioProcessor(.off, channels: 2)
    var frame = Self.frame((0..<480).map { sin(Double($0) * 0.1) * 0.3 }, channels: 2)
    let energy = Self.energy(frame)
    for _ in 0..<3 {
      frame = Self.frame((0..<480).map { sin(Double($0) * 0.1) * 0.3 }, channels: 2)
      #expect(!processor.process(&frame))
    }
    #expect(abs(10 * log10(Self.energy(frame) / energy)) < 0.5)
    try processor.apply(AudioProcessingSettings(voiceDetection: true))
    var short = AudioFrame(
      samples: [1, 2, 3], sampleRate: 48_000, channels: 1, timestamp: .zero)
    processor.process(&short)
    #expect(short.samples == [1, 2, 3], "another form is left alone")
  }
}
