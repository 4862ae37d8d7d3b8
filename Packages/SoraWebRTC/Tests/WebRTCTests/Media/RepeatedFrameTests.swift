import Dispatch
import SoraMedia
import SoraSimulcast
import Testing
import WebRTC

/// A key frame that is asked for between two frames of the source is made of the one before, at once.
@Suite struct RepeatedFrameTests {
  /// Thirty frames a second, and then `elapsed` of the time to the next.
  private func harness(_ elapsed: Duration) -> VideoSendHarness {
    let harness = VideoSendHarness()
    harness.run(10)
    // The interval of the last frame has passed with it.
    harness.push(.grey(640, 360), after: .seconds(1.0 / 30))
    harness.settle()
    _ = harness.take()
    harness.script.clock.advance(elapsed)
    return harness
  }

  @Test func theNewestFrameIsEncodedOnceMore() throws {
    let harness = harness(.milliseconds(10))
    harness.pipeline.requestKeyFrame()
    harness.settle()
    let made = harness.take()
    #expect(made.map(\.frame.isKeyFrame) == [true])
    // The next frame is the one it would have been, and its time is later.
    harness.script.clock.advance(.milliseconds(23))
    harness.push(.grey(640, 360), after: .seconds(1.0 / 30))
    harness.settle()
    let next = harness.take()
    #expect(next.map(\.frame.isKeyFrame) == [false])
    let gap =
      try #require(next.first).frame.rtpTimestamp &- (try #require(made.first)).frame.rtpTimestamp
    // 23 ms and a third, of 90 kHz.
    #expect((2_090...2_110).contains(gap), "\(gap)")
  }

  @Test func ofASourceThatStandsStillThereIsAKeyFrameToo() {
    let harness = harness(.seconds(5))
    harness.pipeline.requestKeyFrame()
    harness.settle()
    #expect(harness.take().map(\.frame.isKeyFrame) == [true])
  }

  @Test func theNextFrameIsWaitedForWhereItIsDue() {
    let harness = harness(.milliseconds(30))
    harness.pipeline.requestKeyFrame()
    harness.settle()
    #expect(harness.take().isEmpty)
    #expect(harness.run(1).map(\.frame.isKeyFrame) == [true])
  }

  @Test func nothingIsRepeatedBeforeTheFirstFrameOrAfterTheEnd() {
    let empty = VideoSendHarness()
    empty.pipeline.requestKeyFrame()
    empty.settle()
    #expect(empty.take().isEmpty)
    let ended = harness(.milliseconds(10))
    ended.pipeline.stop()
    ended.pipeline.requestKeyFrame()
    ended.settle()
    #expect(ended.take().isEmpty)
  }

  /// The source delivers late what it captured before the repetition was made: time goes on all the same.
  @Test func timestampsNeverGoBack() throws {
    let harness = harness(.milliseconds(20))
    harness.pipeline.requestKeyFrame()
    harness.settle()
    let repeated = try #require(harness.take().first).frame.rtpTimestamp
    harness.push(.grey(640, 360), after: .milliseconds(15))
    harness.settle()
    let late = try #require(harness.take().first).frame.rtpTimestamp
    let gap = Int32(bitPattern: late &- repeated)
    #expect(gap > 0 && gap < 900, "\(gap)")
  }

  @Test func requestsThatComeTogetherMakeOneFrame() {
    let harness = VideoSendHarness(script: CodecScript(isGated: true))
    harness.push(.grey(64, 48))
    harness.script.begun.wait()
    harness.script.clock.advance(.milliseconds(10))
    for _ in 0..<20 { harness.pipeline.requestKeyFrame() }
    harness.script.gate?.signal()
    harness.script.gate?.signal()
    harness.script.begun.wait()
    harness.settle()
    #expect(harness.take().map(\.frame.isKeyFrame) == [true, true])
  }
}
