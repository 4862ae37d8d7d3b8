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
