import SoraMedia
import SoraRecording
import Testing

@Suite struct TimelineTests {
  /// Numbers that look random and are the same each time.
  private struct Noise {
    var state: UInt64
    mutating func next(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % max(1, bound)
    }
  }

  private func frame(
    _ codec: MediaCodec, _ timestamp: Int, capture: Double?, received: Double
  ) -> EncodedTrackFrame {
    let at = Instant.zero + .nanoseconds(Int64(received * 1e9))
    return EncodedTrackFrame(
      codec: codec,
      frame: EncodedFrame(
        // Of Opus, 20 ms.
        payload: EncodedBuffer([0xFC]), isKeyFrame: true,
        rtpTimestamp: UInt32(truncatingIfNeeded: timestamp), timestamp: at),
      captureTime: capture.map { .nanoseconds(Int64($0 * 1e9)) }, receiveTime: at)
  }

  /// The clocks of sound and picture differ by 400 ppm, the sender's wall clock from ours by 100: without its reports they would
  /// be 1.4 s apart after an hour.
  @Test(arguments: [1, 2, 3]) func soundAndPictureStayTogetherForAnHour(_ seed: UInt64) {
    var noise = Noise(state: seed)
    var timeline = MediaTimeline(clockRates: [90_000, 48_000])
    var worst = 0.0
    var reports = (video: (0.0, 0.0), audio: (0.0, 0.0))
    var steps: [Double] = []
    var lastAudio: Instant?
    for second in 0..<3_600 {
      // A report a second for each, whose time is off by up to 2 ms.
      let due = Double(second)
      reports.video = (due + Double(noise.next(4_000) - 2_000) / 1e6, due * 90_000 * 1.0002)
      reports.audio = (due + Double(noise.next(4_000) - 2_000) / 1e6, due * 48_000 * 0.9998)
      var video: (Double, Instant)?
      var audio: (Double, Instant)?
      for tick in 0..<50 {
        let time = due + Double(tick) * 0.02
        let received = time * 1.0001 + 0.03
        let sound = time * 48_000 * 0.9998
        let at = timeline.time(
          of: frame(
            .opus, Int(sound), capture: reports.audio.0 + (sound - reports.audio.1) / 48_000,
            received: received + Double(noise.next(60_000)) / 1e6), track: 1)
        if let lastAudio, second > 10 { steps.append((at - lastAudio).inMilliseconds) }
        lastAudio = at
        audio = (time, at)
        guard tick % 5 == 0 else { continue }
        let picture = time * 90_000 * 1.0002
        video = (
          time,
          timeline.time(
            of: frame(
              .video(.vp8), Int(picture),
              capture: reports.video.0 + (picture - reports.video.1) / 90_000,
              received: received + 0.08 + Double(noise.next(90_000)) / 1e6), track: 0)
        )
        if second > 5, let video, let audio {
          worst = max(worst, abs((video.1 - audio.1).inMilliseconds - (video.0 - audio.0) * 1_000))
        }
      }
    }
    #expect(worst <= 20, "\(worst) ms")
    // And no packet of sound is far from 20 ms behind the one before.
    #expect(steps.allSatisfy { abs($0 - 20) < 2 }, "\(steps.min() ?? 0)...\(steps.max() ?? 0)")
  }

  /// Without reports the fastest packets tell how the tracks belong together.
  @Test func arrivalTellsWhereReportsDoNot() {
    var noise = Noise(state: 7)
    var timeline = MediaTimeline(clockRates: [90_000, 48_000])
    var worst = 0.0
    for tick in 0..<30_000 {
      let time = Double(tick) * 0.02
      let audio = timeline.time(
        of: frame(
          .opus, 5_000 + tick * 960, capture: nil,
          received: time + 0.02 + Double(noise.next(60_000)) / 1e6), track: 1)
      let video = timeline.time(
        of: frame(
          .video(.vp8), Int(UInt32.max) - 90_000 + tick * 1_800, capture: nil,
          received: time + Double(noise.next(60_000)) / 1e6), track: 0)
      if tick > 1_500 { worst = max(worst, abs((video - audio).inMilliseconds)) }
    }
    #expect(worst < 20, "\(worst) ms")
  }

  /// A packet of audio is there when its last sample is: before the first report that mustn't count as 20 ms of delay, or the
  /// recording begins with sound that is late by as much.
  @Test(arguments: [0xFC, 0x78, 0x08] as [UInt8]) func audioIsAtItsFirstSample(_ head: UInt8) {
    var timeline = MediaTimeline(clockRates: [90_000, 48_000])
    let length = OpusTime.duration(of: [head].span.bytes)
    for index in 0..<100 {
      let captured = Instant.zero + length * index
      // The first report comes in the middle.
      let capture = index < 50 ? nil : Duration.seconds(1_700_000_000) + (captured - .zero)
      var audio = frame(
        .opus, Int((captured - .zero).inSeconds * 48_000), capture: nil,
        received: (captured + length).seconds)
      audio.frame.payload = EncodedBuffer([head])
      var video = frame(
        .video(.vp8), Int((captured - .zero).inSeconds * 90_000), capture: nil,
        received: captured.seconds)
      (audio.captureTime, video.captureTime) = (capture, capture)
      let times = (timeline.time(of: video, track: 0), timeline.time(of: audio, track: 1))
      #expect(abs((times.1 - times.0).inMilliseconds) < 0.1, "\(index)")
    }
  }

  @Test(
    arguments: [
      ([0x00], 10), ([0x08], 20), ([0x18], 60), ([0x79], 40), ([0x60], 10), ([0x80], 2.5),
      ([0xFC], 20), ([0xFF, 0x03], 60), ([0xFF, 0x06], 120), ([0xFF, 0x07], 0), ([0xFF], 0),
      ([], 0),
    ] as [([UInt8], Double)])
  func aPacketSaysHowLongItSounds(_ bytes: [UInt8], _ milliseconds: Double) {
    #expect(OpusTime.duration(of: bytes.span.bytes).inMilliseconds == milliseconds)
  }

  @Test func aSourceThatBeginsAnewGoesOnInTime() {
    var timeline = MediaTimeline(clockRates: [90_000])
    var last = Instant.zero
    for index in 0..<300 {
      // Other timestamps from the 100th on, and a minute of nothing before the 200th.
      let time = Double(index) / 30 + (index >= 200 ? 60 : 0)
      let timestamp = index * 3_000 + (index >= 100 ? 1_234_567_890 : 0)
      last = timeline.time(
        of: frame(.video(.vp8), timestamp, capture: nil, received: time), track: 0)
      #expect(abs(last.seconds - time) < 0.01, "\(index)")
    }
  }

  /// A sender's clock that is set back or forth in the middle of a call moves nothing.
  @Test func aSenderWhoseClockIsSetGoesOnInTime() {
    var timeline = MediaTimeline(clockRates: [90_000])
    for index in 0..<900 {
      let time = Double(index) / 30
      let capture = time + (index < 300 ? 1e9 : index < 600 ? 1e9 - 3_600 : 2e9)
      let at = timeline.time(
        of: frame(.video(.vp8), index * 3_000, capture: capture, received: time + 0.05), track: 0)
      #expect(abs(at.seconds - time - 0.05) < 0.06, "\(index): \(at.seconds - time)")
    }
  }

  @Test func anyNumbersAreTaken() {
    var timeline = MediaTimeline(clockRates: [90_000, 0])
    let extremes: [Double?] = [nil, 0, 9e9, -9e9, 1e-9]
    var noise = Noise(state: 3)
    for _ in 0..<5_000 {
      var made = frame(
        .opus, noise.next(Int(UInt32.max)), capture: extremes[noise.next(5)],
        received: [0, 1, 9e9, -9e9][noise.next(4)])
      if noise.next(3) == 0 { made.captureTime = .seconds(Int64.max) }
      if noise.next(3) == 0 { made.receiveTime = Instant(nanoseconds: .min) }
      if noise.next(5) == 0 { made.receiveTime = .distantFuture }
      _ = timeline.time(of: made, track: noise.next(2))
    }
  }
}
