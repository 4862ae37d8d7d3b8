import SoraMedia
import SoraRTP
import Testing

/// Which numbers belong to the stream.
@Suite struct ArrivalWindowTests {
  @Test func twoNumbersFarAwayAreARestart() {
    var window = ArrivalWindow()
    var place = window.place(10, isRetransmission: false)
    #expect(place == .inside(10))
    window.insertPadding(10)
    place = window.place(20_000, isRetransmission: false)
    #expect(place == .jump && window.isPadding(10))
    // A retransmission confirms nothing.
    place = window.place(20_001, isRetransmission: true)
    #expect(place == .jump)
    place = window.place(20_001, isRetransmission: false)
    #expect(place == .restart(20_001))
    #expect(!window.contains(10) && !window.isPadding(10))
    place = window.place(20_000, isRetransmission: false)
    #expect(place == .inside(20_000))
  }

  @Test func aNumberIsKnownUntilTheWindowHasPassed() {
    var window = ArrivalWindow()
    _ = window.place(65_535, isRetransmission: false)
    window.insert(65_535)
    #expect(window.contains(65_535) && !window.isPadding(65_535))
    var place = window.place(2047, isRetransmission: false)
    #expect(place == .inside(65_536 + 2047))
    place = window.place(65_535, isRetransmission: false)
    #expect(place == .late)
    window.remove(65_535)
    #expect(!window.contains(65_535))
  }
}

/// Memory that comes back.
@Suite struct FrameBufferPoolTests {
  @Test func aBufferIsUsedAgainOnceNobodyHoldsIt() {
    var pool = FrameBufferPool()
    var first: EncodedBuffer? = pool.take(isKeyFrame: false)
    let identity = first.map { ObjectIdentifier($0) }
    let second = pool.take(isKeyFrame: false)
    #expect(identity != ObjectIdentifier(second))
    first = nil
    let third = pool.take(isKeyFrame: false)
    #expect(identity == ObjectIdentifier(third))
  }

  @Test func buffersAreAsLargeAsRecentFrames() {
    var pool = FrameBufferPool()
    pool.note(size: 100_000, isKeyFrame: true)
    #expect(pool.take(isKeyFrame: true).capacity >= 100_000)
    var small = FrameBufferPool()
    small.note(size: 100_000, isKeyFrame: true)
    #expect(small.take(isKeyFrame: false).capacity < 100_000)
  }
}

/// When a key frame is asked for.
@Suite struct KeyFrameRequestTimerTests {
  private func at(_ milliseconds: Int64) -> Instant {
    Instant(nanoseconds: milliseconds * 1_000_000)
  }

  @Test func aRequestIsRepeatedOnceAnInterval() {
    var timer = KeyFrameRequestTimer()
    timer.arm(interval: 150_000_000)
    #expect(timer.deadline == nil)
    var fires = timer.fires(at: at(0), interval: 150_000_000)
    #expect(fires)
    timer.arm(interval: 150_000_000)
    #expect(timer.deadline == at(150))
    fires = timer.fires(at: at(149), interval: 150_000_000)
    #expect(!fires)
    fires = timer.fires(at: at(150), interval: 150_000_000)
    #expect(fires)
    timer.disarm()
    #expect(timer.deadline == nil)
    timer.forgetRequest()
    fires = timer.fires(at: at(151), interval: 150_000_000)
    #expect(fires)
  }
}

/// Whether the decoder can go on.
@Suite struct DecodeContinuityTests {
  private let now = Instant(nanoseconds: 0)

  /// A frame of one packet, whose number is its VP8 picture id as well.
  private func frame(
    _ sequence: Int64, isKeyFrame: Bool = false, layer: UInt8 = 0, base: UInt8? = nil,
    isComplete: Bool = true
  ) -> FrameAssembly {
    var info = RTPPayloadInfo(range: 0..<1)
    info.isKeyFrame = isKeyFrame
    info.temporalLayer = layer
    info.baseLayerIndex = base
    let header = RTPHeader(
      payloadType: 96, sequenceNumber: UInt16(sequence), timestamp: 0, ssrc: 1)
    var frame = FrameAssembly(
      header: header, timestamp: 0, sequence: sequence, info: info, at: now)
    frame.extent.start(at: sequence)
    frame.extent.advance()
    frame.isComplete = isComplete
    return frame
  }

  private func judge(_ continuity: DecodeContinuity, _ frame: FrameAssembly)
    -> DecodeContinuity.Verdict
  {
    continuity.judge(frame, lacksParameterSets: false)
  }

  /// After a key frame with the number 10.
  private func begun() -> DecodeContinuity {
    var continuity = DecodeContinuity()
    continuity.release(frame(10, isKeyFrame: true, base: 5), afterLoss: false, at: now)
    return continuity
  }

  @Test func onlyAKeyFrameBegins() {
    var continuity = DecodeContinuity()
    #expect(continuity.needsKeyFrame && continuity.lastDone == nil)
    #expect(judge(continuity, frame(10)) == .drop)
    let key = frame(10, isKeyFrame: true)
    #expect(judge(continuity, frame(10, isKeyFrame: true, isComplete: false)) == .wait)
    #expect(judge(continuity, key) == .release(afterLoss: false))
    #expect(continuity.judge(key, lacksParameterSets: true) == .wait)
    continuity.pass(9)
    #expect(continuity.judge(key, lacksParameterSets: true) == .drop)
    continuity.release(key, afterLoss: false, at: now)
    #expect(!continuity.needsKeyFrame && continuity.lastDone == 10)
  }

  @Test func theNextFrameIsReleasedAndOneBehindALossWaits() {
    var continuity = begun()
    #expect(judge(continuity, frame(11)) == .release(afterLoss: false))
    #expect(judge(continuity, frame(12)) == .wait)
    // Padding was all that lay between.
    continuity.pass(11)
    #expect(judge(continuity, frame(12)) == .release(afterLoss: false))
  }

  @Test func aLossIsSkippedWhereTheLayersAllowIt() {
    var continuity = begun()
    var isSkipped = continuity.skipLoss(before: frame(13, base: 7))
    #expect(!isSkipped && judge(continuity, frame(13, base: 6)) == .wait)
    isSkipped = continuity.skipLoss(before: frame(13, base: 6))
    #expect(isSkipped)
    #expect(judge(continuity, frame(13, base: 6)) == .release(afterLoss: true))
    #expect(judge(continuity, frame(13, base: 7)) == .drop)
  }

  @Test func givingUpAFrameOfTheBaseLayerNeedsAKeyFrame() {
    var continuity = begun()
    continuity.askEarly()
    var goes = continuity.giveUp(frame(12, layer: 1, base: 5, isComplete: false), at: now)
    #expect(goes && !continuity.needsKeyFrame && continuity.asksEarly)
    goes = continuity.giveUp(frame(13, base: 6), at: now)
    #expect(!goes && !continuity.needsKeyFrame)
    goes = continuity.giveUp(frame(13, base: 6, isComplete: false), at: now)
    #expect(goes && continuity.needsKeyFrame && !continuity.asksEarly)
    // The gap is remembered: parameter sets may still be late.
    continuity.pass(13)
    let key = frame(14, isKeyFrame: true)
    #expect(continuity.judge(key, lacksParameterSets: true) == .wait)
    let isSkipped = continuity.skipLoss(before: key)
    #expect(!isSkipped)
  }

  @Test func aLayerThatStaysBrokenAsksForAKeyFrame() {
    var continuity = begun()
    continuity.drop(frame(12, layer: 1, base: 5), at: now)
    #expect(!continuity.asksEarly && !continuity.needsKeyFrame)
    continuity.drop(frame(14, layer: 1, base: 5), at: Instant(nanoseconds: 2_000_000_001))
    #expect(continuity.asksEarly && !continuity.needsKeyFrame)
    continuity.release(frame(15, base: 6), afterLoss: false, at: now)
    #expect(continuity.asksEarly)
    continuity.release(frame(16, isKeyFrame: true, base: 7), afterLoss: false, at: now)
    #expect(!continuity.asksEarly)
    continuity.drop(frame(18, base: 9), at: now)
    #expect(continuity.needsKeyFrame)
  }
}

/// How long to wait for a retransmission.
@Suite struct RetransmissionWaitTests {
  @Test(arguments: [
    (0, 100, 300, 150), (100, 250, 500, 150), (200, 400, 600, 300), (5000, 400, 600, 3000),
  ])
  func waitsGrowWithTheRoundTripWithinLimits(
    roundTrip: Int, request: Int64, longest: Int64, interval: Int64
  ) {
    let wait = RetransmissionWait(roundTrip: .milliseconds(roundTrip))
    #expect(wait.untilKeyFrameRequest == request * 1_000_000)
    #expect(wait.longest == longest * 1_000_000)
    #expect(wait.keyFrameRequestInterval == interval * 1_000_000)
  }

  @Test func whatTookLongToComeIsWaitedForTheNextTime() {
    var wait = RetransmissionWait(roundTrip: .milliseconds(1))
    // Packets that overtake each other say nothing.
    wait.recovered(after: 20_000_000)
    #expect(wait.untilKeyFrameRequest == 100_000_000)
    wait.recovered(after: 110_000_000)
    #expect(wait.untilKeyFrameRequest == 240_000_000 && wait.longest == 440_000_000)
    for _ in 0..<200 { wait.recovered(after: 40_000_000) }
    #expect(wait.untilKeyFrameRequest == 100_000_000)
    wait.recovered(after: 5_000_000_000)
    #expect(wait.untilKeyFrameRequest == 500_000_000 && wait.longest == 700_000_000)
  }
}

/// What payload types mean.
@Suite struct PayloadTypeMapTests {
  @Test func theFormatInUseOutlivesItsPayloadType() {
    var map = PayloadTypeMap()
    #expect(map.depayloader(payloadType: 96) == nil)
    map.set(RTPPayloadFormats.vp8, payloadType: 96)
    map.set(RTPPayloadFormats.vp9, payloadType: 97)
    #expect(map.depayloader(payloadType: 96) === map.depayloader(payloadType: 96))
    #expect(map.depayloader(payloadType: 96) !== map.depayloader(payloadType: 97))
    #expect(map.current == nil)
    map.use(payloadType: 97)
    map.set(nil, payloadType: 97)
    #expect(map.current?.name == "VP9" && map.depayloader(payloadType: 97) == nil)
    map.use(payloadType: 97)
    #expect(map.current == nil)
  }
}

/// When frames are shown.
@Suite struct PlayoutTimingTests {
  private func at(_ milliseconds: Int64) -> Instant {
    Instant(nanoseconds: milliseconds * 1_000_000)
  }

  @Test func noFrameIsShownBeforeTheOneBeforeIt() {
    var timing = PlayoutTiming(
      clockRate: 90_000, minimum: .milliseconds(20), maximum: .milliseconds(500))
    #expect(timing.renderTime(timestamp: 0, latest: at(200), at: at(100)) == at(100))
    timing.frameCompleted(timestamp: 0, isTypical: true, at: at(100))
    let due = timing.renderTime(timestamp: 0, latest: at(600), at: at(100))
    #expect(due == at(100) + .nanoseconds(timing.delay))
    #expect(timing.renderTime(timestamp: 0, latest: at(110), at: at(100)) == at(110))
    #expect(timing.renderTime(timestamp: 0, latest: at(600), at: at(500)) == at(500))
    timing.shown(at: at(700))
    #expect(timing.renderTime(timestamp: 0, latest: at(600), at: at(100)) == at(700))
    timing.restart()
    #expect(timing.renderTime(timestamp: 0, latest: at(600), at: at(100)) == at(100))
  }

  /// One frame after the other at 30 a second, each so many milliseconds late.
  private func play(_ lateness: [Int64], into timing: inout PlayoutTiming, from first: Int = 0) {
    for (index, late) in lateness.enumerated() {
      let frame = Int64(first + index)
      timing.frameCompleted(
        timestamp: frame * 3_000, isTypical: true,
        at: at(1_000 + late) + .nanoseconds(frame * 33_333_333))
    }
  }

  /// Nine frames of ten come in time: the delay is that of the tenth's neighbour.
  @Test func mostFramesAreWaitedFor() {
    var timing = PlayoutTiming(clockRate: 90_000, minimum: .zero, maximum: .milliseconds(500))
    play((0..<200).map { $0 % 16 == 0 ? 200 : $0 % 4 == 0 ? 50 : 0 }, into: &timing)
    #expect(abs(timing.target - 50_000_000) < 1_000)
    #expect((49_000_000...70_000_000).contains(timing.delay), "\(timing.delay)")
  }

  /// Nothing is waited for with zero, and as long as was asked with more, whatever the jitter; then it goes by the jitter again.
  @Test func aDelayThatIsAskedForComesBeforeWhatJitterAsksFor() {
    var timing = PlayoutTiming(clockRate: 90_000, minimum: .zero, maximum: .milliseconds(500))
    let uneven = (0..<200).map { Int64($0 % 2 == 0 ? 0 : 80) }
    play(uneven, into: &timing)
    #expect(timing.delay > 70_000_000 && timing.longest == 500_000_000)
    timing.setTarget(.zero)
    #expect(timing.target == 0)
    play(uneven, into: &timing, from: 200)
    #expect(timing.delay < 1_000, "\(timing.delay)")
    timing.setTarget(.seconds(2))
    play(uneven, into: &timing, from: 400)
    #expect(timing.target == 2_000_000_000 && timing.longest == 2_000_000_000)
    #expect(abs(timing.delay - 2_000_000_000) < 1_000, "\(timing.delay)")
    timing.setTarget(.seconds(-1))
    #expect(timing.target == 0)
    timing.setTarget(nil)
    play(uneven, into: &timing, from: 600)
    #expect(abs(timing.target - 80_000_000) < 1_000 && timing.delay > 70_000_000)
  }

  /// The link became narrow, its queue grew and drained: that is over once the frames of it are.
  @Test func aQueueThatDrainedIsForgottenInSomeSeconds() {
    var timing = PlayoutTiming(clockRate: 90_000, minimum: .zero, maximum: .milliseconds(500))
    play(.init(repeating: 0, count: 30), into: &timing)
    play((0..<30).map { 10 * $0 }, into: &timing, from: 30)
    #expect(timing.delay > 200_000_000)
    play(.init(repeating: 20, count: 120), into: &timing, from: 60)
    #expect(timing.target < 1_000 && timing.delay < 20_000_000, "\(timing.delay)")
  }

  /// A sender's clock that runs away by 100 ppm moves the times along with it, and adds nothing to the delay.
  @Test func aDriftingClockIsFollowed() {
    var timing = PlayoutTiming(clockRate: 90_000, minimum: .zero, maximum: .milliseconds(500))
    play((0..<9_000).map { $0 / 300 }, into: &timing)
    #expect(timing.delay <= 2_000_000, "\(timing.delay)")
    let due = timing.renderTime(timestamp: 9_000 * 3_000, latest: at(400_000), at: at(0))
    #expect(
      (0.9...3.1).contains(
        (due - (at(1_029) + .nanoseconds(9_000 * 33_333_333))).inSeconds * 1_000 + 1))
  }

  @Test func theDelayOutlivesTheClock() {
    var timing = PlayoutTiming(clockRate: 90_000, minimum: .zero, maximum: .milliseconds(500))
    play((0..<100).map { $0 % 2 == 0 ? 0 : 80 }, into: &timing)
    let before = timing.delay
    #expect(before > 70_000_000)
    timing.restart()
    #expect(timing.delay == before && timing.target == before)
    timing.frameCompleted(timestamp: 0, isTypical: true, at: at(500_000))
    let due = timing.renderTime(timestamp: 0, latest: at(600_000), at: at(500_000))
    #expect(due == at(500_000) + .nanoseconds(before))
    // The clock jumps without a word.
    timing.frameCompleted(timestamp: 90_000 * 100, isTypical: true, at: at(500_033))
    #expect(timing.delay >= before)
    timing.setMinimum(.milliseconds(300))
    #expect(timing.delay == 300_000_000)
  }
}
