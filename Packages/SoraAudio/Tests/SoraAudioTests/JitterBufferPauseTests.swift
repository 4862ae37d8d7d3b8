import SoraAudio
import SoraMedia
import Testing

/// Where speech is shortened: in its pauses, where nobody hears it.
@Suite struct JitterBufferPauseTests {
  private struct Outcome {
    /// Milliseconds of the output at which something was taken out, and the level there.
    var cuts: [(at: Int, level: Double)] = []
    var removed = 0
  }

  /// A tone of 200 Hz that is silent where `isSilent` says so, of milliseconds, but for `noise`. Packets are late by up to 40 ms for half a
  /// second.
  private func run(seconds: Int, noise: Int16 = 0, isSilent: (Int) -> Bool) -> Outcome {
    let random = RandomSource(seed: 1)
    var signal = Signals.tone(200, count: 48_000 * seconds)
    for index in signal.indices where isSilent(index / 48) {
      signal[index] = .random(in: -noise...noise, using: &random.wrapped)
    }
    let buffer = AudioJitterBuffer(decoder: WaveformDecoder(signal))
    var outcome = Outcome()
    var pull = 0
    AudioScenario(
      seconds: seconds, delay: { $0 < 25 ? 50 + Double($0 % 3 * 20) : 50 },
      payload: { WaveformDecoder.payload($0) }
    ).run(buffer) { samples, _ in
      let removed = Int(buffer.stats.removedSamplesForAcceleration)
      if removed > outcome.removed { outcome.cuts.append((pull * 10, Signals.rms(samples))) }
      outcome.removed = removed
      pull += 1
    }
    return outcome
  }

  @Test func whatIsTakenOutIsTakenOutOfPauses() {
    let outcome = run(seconds: 20) { $0 % 1_000 >= 700 }
    #expect(outcome.removed > 960)
    #expect(outcome.cuts.allSatisfy { $0.level < 30 }, "\(outcome.cuts)")
  }

  /// It doesn't resemble itself, and at -52 dBov it is a pause before anybody has spoken, too. What is too little to be taken out of it
  /// doesn't count as time that a pause was waited for.
  @Test func noiseIsAPauseToo() {
    let outcome = run(seconds: 20, noise: 150) { $0 < 400 || $0 % 1_000 >= 700 }
    #expect(outcome.removed > 960)
    #expect(outcome.cuts.first.map { $0.at < 400 } == true, "\(outcome.cuts)")
    #expect(outcome.cuts.allSatisfy { $0.level < 100 }, "\(outcome.cuts)")
  }

  /// Silence of 40 ms, as before a plosive, belongs to the word: it is as if there were none.
  @Test func silenceInsideAWordIsNoPause() {
    let outcome = run(seconds: 20) { $0 % 1_000 >= 960 }
    #expect(outcome.cuts.first.map { $0.at >= Self.jitterForgotten + 3_000 } == true)
  }

  /// Music has no pauses: three seconds later the delay becomes shorter all the same.
  @Test func withoutPausesItIsTakenOutLater() {
    let outcome = run(seconds: 20) { _ in false }
    #expect(outcome.removed > 960)
    #expect(
      outcome.cuts.first.map { abs($0.at - Self.jitterForgotten - 3_000) < 100 } == true,
      "\(outcome.cuts)")
  }

  /// Milliseconds until the jitter of the first half second is forgotten.
  private static let jitterForgotten = 5_050
}

/// Decodes packets that say which part of a waveform they stand for.
private final class WaveformDecoder: AudioPayloadDecoder {
  private static let samplesPerPacket = 960
  private let signal: [Int16]

  init(_ signal: [Int16]) { self.signal = signal }

  static func payload(_ index: Int) -> [UInt8] {
    [UInt8(index >> 8), UInt8(index & 0xFF), 0]
  }

  var channels: Int { 1 }
  func sampleCount(of payload: Span<UInt8>) -> Int? { Self.samplesPerPacket }
  func redundantSampleCount(of payload: Span<UInt8>) -> Int { 0 }
  func isSilence(_ payload: Span<UInt8>) -> Bool { false }

  func decode(
    _ payload: Span<UInt8>, into samples: inout MutableSpan<Int16>
  ) throws(AudioCodecError) -> Int {
    let start = (Int(payload[0]) << 8 | Int(payload[1])) * Self.samplesPerPacket
    for offset in 0..<Self.samplesPerPacket { samples[offset] = signal[start + offset] }
    return Self.samplesPerPacket
  }

  func decodeRedundancy(
    of payload: Span<UInt8>, sampleCount: Int, into samples: inout MutableSpan<Int16>
  ) throws(AudioCodecError) -> Int { 0 }

  func conceal(
    sampleCount: Int, into samples: inout MutableSpan<Int16>
  ) throws(AudioCodecError) -> Int {
    for offset in 0..<sampleCount { samples[offset] = 0 }
    return sampleCount
  }

  func reset() {}
}
