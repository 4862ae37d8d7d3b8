import SoraAudio
import SoraMedia
import Testing

#if canImport(Glibc)
  import Glibc
#endif

@Suite struct ProcessingTests {
  @Test(arguments: [30.0, 25, 60, 29.97, 15])
  func beepsStartAtTheirFrames(_ fps: Double) {
    var source = ToneSource(framesPerSecond: fps)
    var samples = [Int16](repeating: 0, count: 48_000 * 5)
    samples.withUnsafeMutableBufferPointer { buffer in
      for start in stride(from: 0, to: buffer.count, by: 480) {
        source.read(into: UnsafeMutableBufferPointer(rebasing: buffer[start..<(start + 480)]))
      }
    }
    // What the bed leaves is the beep alone: its first loud sample is the second one (the sine starts at zero).
    var starts: [Int] = []
    var quiet = 10_000
    for (index, sample) in samples.enumerated() {
      if sample.magnitude > 1_500 {
        if quiet > 1_000 { starts.append(index) }
        quiet = 0
      } else {
        quiet += 1
      }
    }
    let expected = (0..<5).map { number in
      Int((Double(number) * fps.rounded() / fps * 48_000).rounded())
    }.filter { $0 < samples.count }
    #expect(starts.count == expected.count)
    for (start, expected) in zip(starts, expected) { #expect((0...2).contains(start - expected)) }
    let end = samples[1_920..<2_400].allSatisfy { $0.magnitude <= 656 }
    #expect(end && samples[1_900..<1_920].contains { $0.magnitude > 1_500 })
    #expect(Signals.toneSNR(Array(samples[0..<1_920]), frequency: 1_000) > 25)
    #expect(Signals.toneSNR(Array(samples[9_600..<38_400]), frequency: 220) > 40)
  }

  @Test func aToneIsAPureFunctionOfItsPosition() {
    var a = ToneSource(channels: 2)
    var first = [Int16](repeating: 0, count: 9_600)
    first.withUnsafeMutableBufferPointer { a.read(into: $0) }
    var b = ToneSource(channels: 2)
    b.position = 2_000
    var second = [Int16](repeating: 0, count: 200)
    second.withUnsafeMutableBufferPointer { b.read(into: $0) }
    #expect(Array(first[4_000..<4_200]) == second)
  }

  @Test(arguments: [
    (44_100, 48_000), (48_000, 44_100), (16_000, 48_000), (8_000, 48_000), (48_000, 16_000),
    (96_000, 48_000), (11_025, 48_000), (47_999, 48_000), (192_000, 48_000),
  ])
  func resamplingKeepsATone(_ from: Int, _ to: Int) throws {
    let resampler = try #require(
      AudioResampler(inputRate: from, outputRate: to, channels: 1))
    let input = (0..<from).map {
      Int16((20_000 * sin(2 * .pi * 997 * Double($0) / Double(from))).rounded())
    }
    var output: [Int16] = []
    for start in stride(from: 0, to: from, by: 777) {
      input[start..<min(start + 777, from)].withUnsafeBufferPointer {
        let before = output.count
        resampler.process($0, into: &output)
        #expect(output.count - before <= resampler.maximumOutputFrames(for: $0.count))
      }
    }
    resampler.finish(into: &output)
    #expect(abs(output.count - to) <= 1 + to / from)
    let middle = Array(output[(to / 10)..<(to * 9 / 10)])
    let snr = Signals.toneSNR(middle, frequency: 997, rate: Double(to))
    #expect(snr > 75, "\(from) to \(to): \(snr) dB")
    // In step with the input, not merely like it.
    let expected = 20_000 * sin(2 * .pi * 997 * 0.25)
    #expect(abs(Double(output[to / 4]) - expected) < 2_600 * 48_000 / Double(to))
  }

  @Test func resamplingRemovesWhatCannotBeKept() throws {
    let resampler = try #require(
      AudioResampler(inputRate: 48_000, outputRate: 16_000, channels: 1))
    var output: [Int16] = []
    Signals.tone(9_000, count: 48_000, amplitude: 20_000).withUnsafeBufferPointer {
      resampler.process($0, into: &output)
    }
    #expect(Signals.rms(output[1_000..<15_000]) < 3)
  }

  @Test func resamplingKeepsChannelsApart() throws {
    let resampler = try #require(
      AudioResampler(inputRate: 44_100, outputRate: 48_000, channels: 2))
    var output: [Int16] = []
    Signals.tone(500, count: 44_100).flatMap { [$0, Int16(0)] }.withUnsafeBufferPointer {
      resampler.process($0, into: &output)
    }
    #expect(stride(from: 1, to: output.count, by: 2).allSatisfy { output[$0] == 0 })
    #expect(AudioResampler(inputRate: 1, outputRate: 48_000, channels: 1) == nil)
    #expect(AudioResampler(inputRate: 48_000, outputRate: 48_000, channels: 9) == nil)
  }

  @Test func levelsFollowRFC6464() {
    func level(_ samples: [Int16]) -> UInt8 {
      samples.withUnsafeBufferPointer { AudioLevel.decibelsBelowOverload($0) }
    }
    #expect(level([Int16](repeating: 0, count: 480)) == 127)
    #expect(level([]) == 127)
    #expect(level([Int16](repeating: -32_768, count: 480)) == 0)
    #expect(level([Int16](repeating: 3_277, count: 480)) == 20)
    #expect(level(Signals.tone(1_000, count: 480, amplitude: 32_767)) == 3)
    #expect(level([1, -1, 1, -1]) == 90)
  }
}
