import SoraMedia
import SoraServer
import Testing

/// Whether a simulcast layer's frames come, by the timestamps of its packets.
struct LayerFlowTests {
  private func instant(_ milliseconds: Int) -> Instant { .zero + .milliseconds(milliseconds) }

  @Test func aPacketOfAFrameThatCameBeginsNone() {
    var flow = LayerFlow()
    var begun: [UInt32] = []
    for (index, timestamp) in [10, 10, 3010, 10, 3010, 6010, 4_294_900_000].enumerated()
    where flow.take(UInt32(timestamp), at: instant(index * 10)) {
      begun.append(UInt32(timestamp))
    }
    #expect(begun == [10, 3010, 6010])
  }

  /// After a pause of seven hours timestamps look older than before, and so they do where a publisher's clock was set back.
  @Test(arguments: [UInt32(0x8000_0000) + 1_000_000, 0 &- 5_400_000])
  func aClockThatIsElsewhereGoesOn(_ step: UInt32) {
    var (low, high) = (LayerFlow(), LayerFlow())
    var now = instant(0)
    func send(_ timestamp: UInt32, both: Bool) -> Bool {
      now += .milliseconds(33)
      let begins = low.take(timestamp, at: now)
      if begins { _ = low.begin(at: now) }
      if both, high.take(timestamp, at: now) { _ = high.begin(at: now) }
      return begins
    }
    for frame in 0..<30 as Range<UInt32> { #expect(send(7000 + frame * 3000, both: true)) }
    let start = 7000 + 30 * 3000 &+ step
    for frame in 0..<30 as Range<UInt32> {
      #expect(send(start &+ frame * 3000, both: frame < 10), "\(frame)")
    }
    // That the other layer's frames don't come any more is seen.
    #expect(low.hasOutrun(high) && !high.hasOutrun(low))
  }
}
