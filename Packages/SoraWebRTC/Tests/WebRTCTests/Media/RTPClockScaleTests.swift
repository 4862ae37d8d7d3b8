import Testing
import WebRTC

/// Between the clock of a codec and that of the jitter buffer, over every wrap of either.
struct RTPClockScaleTests {
  /// G.711's timestamps wrap six times as seldom as the buffer's.
  @Test(arguments: [8_000, 16_000, 48_000]) func thereAndBack(_ clockRate: Int) {
    let ratio = UInt32(48_000 / clockRate)
    var scale = RTPClockScale(clockRate: clockRate)
    let step = UInt32(clockRate / 50)
    var timestamp: UInt32 = .max - 3 * step
    var last: UInt32?
    for _ in 0..<2_000 {
      let buffered = scale.bufferTime(timestamp)
      if let last { #expect(buffered &- last == step &* ratio) }
      last = buffered
      // What the buffer plays lies somewhat behind, or ahead where it stretches.
      for offset: Int32 in [-96_000, -4_800, 0, 960] {
        let place = buffered &+ UInt32(bitPattern: offset)
        let expected = timestamp &+ UInt32(bitPattern: offset / Int32(ratio))
        #expect(scale.packetTime(place) == expected)
      }
      timestamp &+= step
    }
  }

  @Test func everyWrapOfTheBuffer() {
    var scale = RTPClockScale(clockRate: 8_000)
    for wrap in 0..<6 as Range<UInt32> {
      // Just before the buffer's clock wraps, and just behind it.
      let before = (wrap &+ 1) &* 715_827_882
      for timestamp in [before &- 160, before, before &+ 160, before &+ 320] {
        let buffered = scale.bufferTime(timestamp)
        #expect(buffered == timestamp &* 6)
        #expect(scale.packetTime(buffered) == timestamp)
        #expect(scale.packetTime(buffered &- 1_920) == timestamp &- 320)
      }
    }
  }

  @Test(arguments: [0, -5, 96_000]) func ratesThatAreNone(_ clockRate: Int) {
    // Such a rate isn't negotiated; nothing traps.
    var scale = RTPClockScale(clockRate: clockRate)
    let buffered = scale.bufferTime(.max)
    _ = scale.packetTime(buffered)
  }
}
