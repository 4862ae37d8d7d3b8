import SoraAudio
import SoraAudioDevices
import SoraClock
import SoraMedia
import SoundServer
import Synchronization
import Testing

/// Sound that an app pulls, and sound that is pulled from it.
@Suite(.timeLimit(.minutes(2))) struct PullTests {
  /// Five simulated minutes of a reader whose clock is off, in blocks of its own: nothing is missing, dropped or off pitch.
  @Test(arguments: [(48_000, 200.0), (48_000, -200), (16_000, 200), (44_100, -200)])
  func aReadersClockIsFollowed(_ sampleRate: Int, _ ppm: Double) throws {
    let mixer = AudioMixer(channels: 1)
    let input = mixer.makeInput()
    let reader = try #require(AudioReader(mixer, sampleRate: sampleRate))
    var frame = AudioFrame(
      samples: [Int16](repeating: 0, count: 480), sampleRate: 48_000, channels: 1, timestamp: .zero)
    var read: [Int16] = []
    var block = [Int16](repeating: 0, count: 256)
    var pushed = 0
    // A reader that is too slow takes longer.
    let step = 256 / Double(sampleRate) * (1 + ppm / 1e6)
    for turn in 0..<Int(300 / step) {
      let seconds = Double(turn) * step
      while Double(pushed) / 48_000 <= seconds {
        Sine.fill(&frame, hertz: 440, from: pushed)
        input.push(frame)
        pushed += 480
      }
      var samples = block.mutableSpan
      reader.read(into: &samples, at: Instant(nanoseconds: Int64(seconds * 1e9)))
      if seconds > 290 { read += block }
    }
    #expect(abs(reader.driftPPM - ppm) < 20, "\(reader.driftPPM)")
    // The clocks part by 60 ms, more than the mixer has waiting.
    #expect(input.statistics.samplesDropped == 0)
    #expect(input.statistics.underruns <= 1, "\(input.statistics)")
    let crossings = zip(read, read.dropFirst()).count { $0 < 0 && $1 >= 0 }
    let hertz = Double(crossings) / (Double(read.count) / Double(sampleRate))
    #expect(abs(hertz - 440) < 0.5, "\(hertz)")
  }

  @Test func silenceWhereNothingIs() throws {
    let reader = try #require(AudioReader(AudioMixer(channels: 2), sampleRate: 8_000))
    var block = [Int16](repeating: 7, count: 321)
    var samples = block.mutableSpan
    reader.read(into: &samples)
    #expect(block.allSatisfy { $0 == 0 })
    #expect(AudioReader(AudioMixer(), sampleRate: 0) == nil)
  }

  @Test func anAppIsAskedInTime() async throws {
    let frames = Log<AudioFrame>()
    let positions = Log<Int64>()
    let start = SystemClock.now
    let source = AudioPullSource(
      sampleRate: 16_000, channels: 2, at: start,
      fill: { frame, position in
        positions.append(position)
        guard position < 160 * 20 else { return false }
        frame.samples[0] = Int16(position / 160)
        return true
      }, deliver: { frames.append($0) })
    let running = try #require(source)
    await wait { running.hasEnded }
    #expect(positions.elements == (0...20).map { $0 * 160 })
    for (index, frame) in frames.elements.enumerated() {
      #expect(frame.samples.count == 320 && frame.samples[0] == index && frame.samples[1] == 0)
      #expect(frame.sampleRate == 16_000 && frame.channels == 2)
      #expect(frame.timestamp == start + .milliseconds(index * 10))
    }
    #expect(frames.elements.count == 20)
    // No earlier than its last sample would have been captured.
    #expect(SystemClock.now - start >= .milliseconds(200))
    running.stop()
  }

  /// A source that began long ago leaves out what was due since, and is stopped from its own thread.
  @Test func whatIsMuchTooLateIsLeftOut() async throws {
    let positions = Log<Int64>()
    let held = Mutex<AudioPullSource?>(nil)
    let source = AudioPullSource(
      at: SystemClock.now - .seconds(60),
      fill: { _, position in
        positions.append(position)
        return true
      },
      deliver: { _ in
        if positions.elements.count >= 3 { held.withLock { $0 }?.stop() }
      })
    held.withLock { $0 = source }
    await wait { source?.hasEnded ?? true }
    #expect(positions.elements.first == 0)
    #expect(try #require(positions.elements.dropFirst().first) >= 480 * 5_999)
    source?.stop()
  }

  /// As a microphone and a loudspeaker end.
  @Test func itEndsWithItsLastReference() async {
    let positions = Log<Int64>()
    var source = AudioPullSource(
      fill: { _, position in
        positions.append(position)
        return true
      }, deliver: { _ in })
    await wait { !positions.elements.isEmpty }
    #expect(source?.hasEnded == false)
    source = nil
    let count = positions.elements.count
    // As long as another one takes for five blocks.
    let other = AudioPullSource(fill: { _, position in position < 480 * 5 }, deliver: { _ in })
    await wait { other?.hasEnded ?? true }
    #expect(positions.elements.count == count)
  }

  @Test func whatCannotBeIsRefused() {
    for (rate, channels) in [(7_900, 1), (48_100, 1), (44_101, 1), (48_000, 0), (48_000, 3)] {
      let source = AudioPullSource(
        sampleRate: rate, channels: channels, fill: { _, _ in false }, deliver: { _ in })
      #expect(source == nil, "\(rate) \(channels)")
    }
  }
}

/// How much is read at once is the reader's to choose.
@Suite struct ReadSizeTests {
  /// A recognizer may want a second at once, and a telephone line 20 ms.
  @Test(arguments: [(20, 48_000), (200, 48_000), (500, 16_000), (1_000, 48_000)])
  func asMuchAsIsWantedIsThere(_ milliseconds: Int, _ sampleRate: Int) throws {
    let mixer = AudioMixer(channels: 1)
    let input = mixer.makeInput()
    let reader = try #require(AudioReader(mixer, sampleRate: sampleRate))
    let frame = AudioFrame(
      samples: [Int16](repeating: 1_000, count: 480), sampleRate: 48_000, channels: 1,
      timestamp: .zero)
    var block = [Int16](repeating: 0, count: sampleRate * milliseconds / 1_000)
    var silent = 0
    var dropped = 0
    for time in stride(from: 0, to: 8_000, by: 10) {
      if time % milliseconds == 0 {
        var samples = block.mutableSpan
        reader.read(into: &samples, at: .zero + .milliseconds(time))
        if time == 3_000 { dropped = input.statistics.samplesDropped }
        if time > 3_000 { silent += block.count { $0 < 900 } }
      }
      input.push(frame)
    }
    #expect(silent == 0 && input.statistics.samplesDropped == dropped)
    var little = [Int16](repeating: 0, count: sampleRate / 100)
    // Who goes over to little at a time hears it as soon as others.
    for time in stride(from: 8_000, to: 14_000, by: 10) {
      input.push(frame)
      var samples = little.mutableSpan
      reader.read(into: &samples, at: .zero + .milliseconds(time))
    }
    #expect(input.statistics.delay <= .milliseconds(80))
  }
}
