import SoraMedia
import SoraRTP
import Testing

/// A video that is held for as long as the application asks.
@Suite struct TargetDelayTests {
  /// How many milliseconds after it was sent each frame comes out; every other one comes `lateness` later.
  private func delays(
    _ buffer: VideoJitterBuffer, frames: Int, interval: Int = 33, packets: Int = 3,
    lateness: Int = 0
  ) -> [Int] {
    var stream = VideoStream(ticksPerFrame: UInt32(interval * 90))
    let first = stream.nextTimestamp
    var sent: [[VideoStream.Packet]] = []
    for index in 0..<frames {
      sent.append(stream.frame(isKeyFrame: index == 0, packets: packets))
    }
    var delays: [Int] = []
    for time in 0..<(frames * interval + 5_000) {
      for early in [true, false] {
        let due = early ? time : time - lateness
        guard due >= 0, due % interval == 0, due / interval < frames,
          (due / interval).isMultiple(of: 2) == early
        else { continue }
        buffer.insert(sent[due / interval], at: time)
      }
      for frame in buffer.frames(from: time, until: time) {
        delays.append(time - Int(frame.rtpTimestamp &- first) / 90)
      }
    }
    return delays
  }

  @Test func withZeroAFrameIsShownWhenItIsThere() {
    let buffer = VideoJitterBuffer.vp8()
    buffer.setTargetDelay(.zero)
    let found = delays(buffer, frames: 200, lateness: 20).dropFirst(60)
    #expect(found.count == 140 && Set(found) == [0, 20], "\(Set(found))")
    // By itself it would wait for those that are late.
    let usual = delays(.vp8(), frames: 200, lateness: 20).dropFirst(60)
    #expect(usual.count == 140 && (usual.min() ?? 0) >= 9, "\(Set(usual))")
  }

  @Test func itMayBeMoreThanJitterEverAsksFor() {
    let buffer = VideoJitterBuffer.vp8()
    buffer.setTargetDelay(.seconds(2))
    let found = delays(buffer, frames: 300, lateness: 20).dropFirst(60)
    // Frames are handed out 10 ms before they are shown.
    #expect(
      found.count == 240 && found.allSatisfy { (1_985...1_992).contains($0) }, "\(Set(found))")
    #expect((1_999...2_001).contains(buffer.playoutDelay.inMilliseconds))
    #expect(buffer.statistics.framesDropped == 0)
    let mean =
      buffer.statistics.jitterBufferTargetDelay.inSeconds
      / Double(buffer.statistics.framesEmitted)
    #expect((1.9...2.01).contains(mean), "\(mean)")
  }

  /// 1,800 packets per second fill the window in little more than a second: frames are shown sooner then, and none is lost.
  @Test(arguments: [(frames: 600, interval: 16, packets: 30), (1_500, 4, 1)])
  func whatTheBufferCannotHoldIsShownSooner(_ frames: Int, _ interval: Int, _ packets: Int) {
    let buffer = VideoJitterBuffer.vp8()
    buffer.setTargetDelay(.seconds(4))
    let found = delays(buffer, frames: frames, interval: interval, packets: packets)
    #expect(found.count == frames && buffer.statistics.framesDropped == 0)
    #expect(buffer.statistics.packetsDiscarded.total == 0)
    // Still for as long as there is room.
    #expect(found.dropFirst(400).allSatisfy { $0 > 500 }, "\(found.dropFirst(400).min() ?? 0)")
  }
}
