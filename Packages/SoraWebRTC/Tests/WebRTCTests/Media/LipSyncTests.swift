import SoraAudio
import SoraMedia
import SoraRTP
import Testing

/// Audio and video of one sender over a path that treats them differently, in virtual time.
@Suite struct LipSyncTests {
  /// Goal: within 40 ms at the 95th percentile over an hour.
  @Test func anHourOfJitterAndDriftStaysInStep() {
    var call = OutOfStepCall(isSynchronized: true)
    let offsets = call.run(seconds: 3600)
    print("lip sync: p50 \(offsets.percentile(0.5)) ms, p95 \(offsets.percentile(0.95)) ms")
    #expect(offsets.count > 100_000)
    #expect(offsets.percentile(0.5) <= 15)
    #expect(offsets.percentile(0.95) <= 40)
  }

  /// What the test above would see of a receiver without lip sync.
  @Test func withoutItTheSamePathIsOutOfStep() {
    var call = OutOfStepCall(isSynchronized: false)
    let offsets = call.run(seconds: 900)
    #expect(offsets.percentile(0.5) > 60)
  }

  @Test func nothingIsHeldBackWithoutNeed() {
    var call = OutOfStepCall(isSynchronized: true, isEven: true)
    _ = call.run(seconds: 60)
    #expect(call.synchronizer.audioHold <= .milliseconds(80))
    #expect(call.synchronizer.videoHold <= .milliseconds(80))
  }
}

extension [Double] {
  fileprivate func percentile(_ share: Double) -> Double {
    isEmpty ? .infinity : sorted()[Int(Double(count - 1) * share)]
  }
}

/// A sender whose audio clock runs 200 ppm fast, a receiver whose clock runs 100 ppm slow, and between them a path that every ten minutes
/// delays the other medium by more. A step is a millisecond of the sender's.
private struct OutOfStepCall {
  private struct Arrival {
    var at: Int
    var number: UInt16
    var timestamp: UInt32
  }

  private static let audioRate = 48_000 * (1 + 200e-6)
  private static let videoRate = 90_000.0
  private static let start: Int64 = 1_700_000_000_000_000_000

  let isSynchronized: Bool
  /// Whether both media take the same way.
  let isEven: Bool
  var synchronizer = PlayoutSynchronizer()
  private let random = RandomSource(seed: 7)
  private let audio = AudioJitterBuffer(decoder: SilentPayloadDecoder())
  private let video = VideoJitterBuffer()
  private var audioReports = SenderReportTracker(clockRate: 48_000)
  private var videoReports = SenderReportTracker(clockRate: 90_000)
  private var audioArrivals: [Arrival] = []
  private var videoArrivals: [Arrival] = []
  private var audioPlayed: (timestamp: UInt32, at: Instant)?
  private var audioNumber: UInt16 = 0
  private var videoNumber: UInt16 = 0
  /// Of the first key frame of VP8 (RFC 7741 §4.2, §4.3), and of a later frame.
  private let keyFrame: [UInt8] = [0x10, 0x10, 0, 0, 0x9D, 0x01, 0x2A, 64, 0, 64, 0]
  private let laterFrame: [UInt8] = [0x10, 0x11, 0, 0]

  init(isSynchronized: Bool, isEven: Bool = false) {
    self.isSynchronized = isSynchronized
    self.isEven = isEven
    video.setFormat(RTPPayloadFormats.named("VP8"), payloadType: 96)
  }

  /// Milliseconds by which each frame came late or early beside the audio that was played then; the first ten seconds left out.
  mutating func run(seconds: Int) -> [Double] {
    var offsets: [Double] = []
    var nextAudio = 0.0
    var samples = [Int16](repeating: 0, count: AudioJitterBuffer.samplesPerPull)
    for step in 0..<seconds * 1000 {
      let now = instant(step)
      let captured = Double(step) / 1000
      if captured >= nextAudio {
        sendAudio(step, captured)
        nextAudio += 960 / Self.audioRate
      }
      if step % 100 == 0 || step % 100 == 33 || step % 100 == 67 { sendVideo(step, captured) }
      if step % 2500 == 500 { report(captured, at: now) }
      deliver(step, at: now)
      if step % 10 == 0 {
        var span = samples.mutableSpan
        if let timestamp = audio.getAudio(at: now, into: &span).rtpTimestamp {
          audioPlayed = (timestamp, now)
        }
      }
      while let frame = video.nextFrame(at: now) {
        guard let audioPlayed else { continue }
        let offset =
          (now - audioPlayed.at).inMilliseconds - Double(frame.rtpTimestamp) / Self.videoRate * 1000
          + Double(audioPlayed.timestamp) / Self.audioRate * 1000
        if step > 10_000 { offsets.append(abs(offset)) }
        if isSynchronized { synchronize(frame.rtpTimestamp, at: now) }
      }
    }
    return offsets
  }

  /// The receiver's clock.
  private func instant(_ step: Int) -> Instant {
    Instant(nanoseconds: Int64(step) * 999_900)
  }

  private mutating func sendAudio(_ step: Int, _ captured: Double) {
    let delay = 20 + random.number(below: isEven || isAudioSlow(step) ? 120 : 15)
    audioArrivals.append(
      Arrival(
        at: step + delay, number: audioNumber,
        timestamp: UInt32(truncatingIfNeeded: Int64(audioNumber64) * 960)))
    audioNumber64 += 1
    audioNumber &+= 1
  }
  private var audioNumber64 = 0

  private mutating func sendVideo(_ step: Int, _ captured: Double) {
    let delay =
      isEven
      ? 20 + random.number(below: 120) : isAudioSlow(step) ? 10 : 120 + random.number(below: 60)
    videoArrivals.append(
      Arrival(
        at: step + delay, number: videoNumber,
        timestamp: UInt32(truncatingIfNeeded: Int64(captured * Self.videoRate))))
    videoNumber &+= 1
  }

  private func isAudioSlow(_ step: Int) -> Bool { step / 600_000 % 2 == 1 }

  private mutating func report(_ captured: Double, at now: Instant) {
    let ntp = NTPTime(unixNanoseconds: Self.start + Int64(captured * 1e9))
    func info(_ rate: Double) -> RTCPSenderInfo {
      RTCPSenderInfo(
        ssrc: 1, ntp: ntp, rtpTimestamp: UInt32(truncatingIfNeeded: Int64(captured * rate)),
        packetCount: 1, octetCount: 1)
    }
    audioReports.received(info(Self.audioRate), at: now)
    videoReports.received(info(Self.videoRate), at: now)
  }

  private mutating func deliver(_ step: Int, at now: Instant) {
    let payload: [UInt8] = [1, 2, 3]
    for arrival in audioArrivals where arrival.at == step {
      audio.insert(
        sequenceNumber: arrival.number, timestamp: arrival.timestamp, payload: payload.span, at: now
      )
    }
    audioArrivals.removeAll { $0.at <= step }
    for arrival in videoArrivals where arrival.at == step {
      var header = RTPHeader(
        payloadType: 96, sequenceNumber: arrival.number, timestamp: arrival.timestamp, ssrc: 1)
      header.marker = true
      let frame = arrival.timestamp == 0 ? keyFrame : laterFrame
      video.insert(header, payload: frame.span.bytes, at: now)
    }
    videoArrivals.removeAll { $0.at <= step }
  }

  private mutating func synchronize(_ timestamp: UInt32, at now: Instant) {
    guard let audioPlayed, let videoCaptured = videoReports.captureTime(of: timestamp),
      let audioCaptured = audioReports.captureTime(of: audioPlayed.timestamp),
      let delay = audio.currentDelay
    else { return }
    synchronizer.update(
      audio: .init(captured: audioCaptured, played: audioPlayed.at, delay: delay),
      video: .init(captured: videoCaptured, played: now, delay: video.playoutDelay), at: now)
    audio.configuration.minimumDelay = synchronizer.audioHold
    video.setMinimumDelay(synchronizer.videoHold)
  }
}

extension RandomSource {
  fileprivate func number(below limit: Int) -> Int { Int(next() % UInt64(limit)) }
}
