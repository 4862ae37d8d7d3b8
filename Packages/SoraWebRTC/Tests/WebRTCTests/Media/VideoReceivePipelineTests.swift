import Dispatch
import SoraCodecs
import SoraMedia
import Synchronization
import Testing
import WebRTC

/// The way from frames to pictures when something is wrong, with scripted decoders in virtual time.
@Suite(.timeLimit(.minutes(5))) struct VideoReceivePipelineTests {
  private final class Seen: Sendable {
    let pictures = Mutex<[UInt32]>([])
    let requests = Mutex(0)
    let failures = Mutex<[CodecError]>([])
    var requestCount: Int { requests.withLock { $0 } }
  }

  private struct Harness {
    let script: CodecScript
    let seen = Seen()
    let queue = DispatchQueue(label: "test.decode")
    let pipeline: VideoReceivePipeline

    init(_ script: CodecScript = CodecScript()) {
      self.script = script
      let seen = seen
      pipeline = VideoReceivePipeline(
        queue: queue, now: { script.clock.now },
        makeDecoder: { () throws(CodecError) in ScriptedDecoder(script) },
        needsKeyFrame: { seen.requests.withLock { $0 += 1 } },
        output: { picture in seen.pictures.withLock { $0.append(picture.rtpTimestamp) } },
        failed: { error in seen.failures.withLock { $0.append(error) } })
    }

    /// Hands over frames of these numbers, 20 ms apart, and waits for each; multiples of 100 are key frames.
    func feed(_ numbers: some Sequence<UInt32>) {
      for number in numbers {
        push(number)
        queue.sync {}
        script.clock.advance(.milliseconds(20))
      }
    }

    func push(_ number: UInt32) {
      pipeline.decode(
        EncodedFrame(
          payload: EncodedBuffer([1]), isKeyFrame: number % 100 == 0, rtpTimestamp: number,
          timestamp: script.clock.now))
    }

    func takePictures() -> [UInt32] {
      seen.pictures.withLock { pictures in
        defer { pictures = [] }
        return pictures
      }
    }
  }

  /// W3C's counters of how evenly frames are shown: a freeze, a pause of more than five seconds, and the last second's frames.
  @Test func pausesAreCounted() {
    let harness = Harness()
    harness.feed(100..<160)
    let clock = harness.script.clock
    #expect(harness.pipeline.framesPerSecond(at: clock.now) == 49)
    #expect(harness.pipeline.statistics.pauseCount == 0)
    #expect(abs(harness.pipeline.statistics.totalInterFrameDelay.inSeconds - 59 * 0.02) < 0.001)
    clock.advance(.seconds(1))
    #expect(harness.pipeline.framesPerSecond(at: clock.now) == 0)
    harness.feed(160..<165)
    #expect(harness.pipeline.statistics.freezeCount == 1)
    #expect(harness.pipeline.statistics.pauseCount == 0)
    clock.advance(.seconds(6))
    harness.feed(165..<170)
    let statistics = harness.pipeline.statistics
    #expect(statistics.freezeCount == 2 && statistics.pauseCount == 1)
    #expect(abs(statistics.totalPausesDuration.inSeconds - 6.02) < 0.001)
    #expect(statistics.totalSquaredInterFrameDelay > 36)
    #expect(harness.pipeline.framesPerSecond(at: clock.now) == 5)
    #expect(statistics.keyFramesDecoded == 1 && statistics.framesDecoded == 70)
  }

  /// A key frame doesn't help here: whoever watches has to be told.
  @Test func picturesThatAreTooLargeAreToldOnce() {
    let harness = Harness()
    let error = CodecError.pictureTooLarge(width: 8_192, height: 8_192)
    harness.script.state.withLock {
      $0.failingTimestamps = [100: error, 101: .corruptFrame(detail: "bits"), 200: error]
    }
    harness.feed([100, 101, 200, 201])
    #expect(harness.seen.failures.withLock { $0 } == [error])
  }

  @Test func nothingIsDecodedBeforeAKeyFrameAndOneIsAskedFor() {
    let harness = Harness()
    harness.feed(1...5)
    #expect(harness.seen.requestCount == 1)
    harness.feed([100, 101])
    #expect(harness.takePictures() == [100, 101])
    #expect(harness.pipeline.statistics.framesDropped == 5)
  }

  @Test func aBrokenFrameIsFollowedByOneRequestAndNotAgainBeforeAnAnswerCanCome() {
    let harness = Harness()
    harness.script.state.withLock { $0.failingTimestamps[105] = .corruptFrame(detail: "told to") }
    harness.feed(100...105)
    #expect(harness.seen.requestCount == 1)
    // Nine frames, 180 ms: refused without another request.
    harness.feed(106...114)
    #expect(harness.seen.requestCount == 1)
    // No answer has come: asked again, once.
    harness.feed(115...120)
    #expect(harness.seen.requestCount == 2)
    harness.feed(200...203)
    #expect(harness.takePictures() == [100, 101, 102, 103, 104, 200, 201, 202, 203])
    #expect(harness.seen.requestCount == 2)
    let statistics = harness.pipeline.statistics
    #expect(statistics.decodeErrors == 1 && statistics.framesDropped == 15)
    // What the frame was to blame for, the decoder isn't.
    #expect(harness.script.state.withLock { $0.decodersMade } == 1)
  }

  @Test func anAnswerThatIsBrokenItselfIsAskedForAgain() {
    let harness = Harness()
    harness.script.state.withLock {
      $0.failingTimestamps[101] = .keyFrameRequired
      $0.failingTimestamps[200] = .corruptFrame(detail: "told to")
    }
    harness.feed([100, 101, 200])
    #expect(harness.seen.requestCount == 1)
    harness.feed(201...212)
    #expect(harness.seen.requestCount == 2)
    harness.feed([300])
    #expect(harness.takePictures() == [100, 300])
  }

  @Test func aDecoderThatFailsIsRemade() {
    let harness = Harness()
    harness.script.state.withLock {
      $0.failingTimestamps[102] = .library(name: "d", operation: "decode", code: 1, detail: "")
    }
    harness.feed(100...104)
    harness.feed(200...202)
    #expect(harness.takePictures() == [100, 101, 200, 201, 202])
    #expect(harness.script.state.withLock { $0.decodersMade } == 2)
  }

  @Test func damagedPicturesAreShownAndARepairIsAskedFor() {
    let harness = Harness()
    harness.script.state.withLock { $0.damagedTimestamps = [103, 104, 105] }
    harness.feed(100...106)
    #expect(harness.takePictures() == Array(100...106))
    #expect(harness.seen.requestCount == 1)
    #expect(harness.pipeline.statistics.framesCorrupted == 3)
  }

  @Test func framesThatWaitTooLongGiveWayToTheNextKeyFrame() {
    let harness = Harness(CodecScript(isGated: true))
    harness.push(100)
    harness.script.begun.wait()
    // The decoder is busy: ten may wait for long, the next drops them and asks.
    for number in 101...110 as ClosedRange<UInt32> { harness.push(number) }
    harness.script.clock.advance(.milliseconds(600))
    for number in 111...119 as ClosedRange<UInt32> { harness.push(number) }
    harness.push(200)
    harness.push(201)
    for _ in 0..<3 { harness.script.gate?.signal() }
    harness.queue.sync {}
    #expect(harness.takePictures() == [100, 200, 201])
    #expect(harness.seen.requestCount == 1)
    #expect(harness.pipeline.statistics.framesDropped == 19)
  }

  @Test func framesThatComeAtOnceAreAllDecoded() {
    let harness = Harness(CodecScript(isGated: true))
    harness.push(100)
    harness.script.begun.wait()
    for number in 101...140 as ClosedRange<UInt32> { harness.push(number) }
    for _ in 100...140 { harness.script.gate?.signal() }
    harness.queue.sync {}
    #expect(harness.takePictures() == Array(100...140))
    #expect(harness.seen.requestCount == 0 && harness.pipeline.statistics.framesDropped == 0)
  }

  @Test func keyFramesDontQueueWithoutEndEither() {
    let harness = Harness(CodecScript(isGated: true))
    harness.push(100)
    harness.script.begun.wait()
    for index in 2...100 as ClosedRange<UInt32> { harness.push(index * 100) }
    let dropped = harness.pipeline.statistics.framesDropped
    #expect(dropped >= 99 - UInt64(VideoReceivePipeline.maximumPending))
    for _ in 0..<(100 - dropped) { harness.script.gate?.signal() }
    harness.queue.sync {}
    #expect(harness.takePictures().last == 10_000)
    #expect(harness.seen.requestCount == 0)
  }

  @Test func aKeyFrameThatAlreadyWaitsIsntAskedFor() {
    let harness = Harness(CodecScript(isGated: true))
    harness.script.state.withLock { $0.failingTimestamps[101] = .corruptFrame(detail: "told to") }
    harness.push(100)
    harness.script.begun.wait()
    for number in [101, 102, 103, 200, 201] as [UInt32] { harness.push(number) }
    for _ in 0..<4 { harness.script.gate?.signal() }
    harness.queue.sync {}
    #expect(harness.takePictures() == [100, 200, 201])
    #expect(harness.seen.requestCount == 0)
    #expect(harness.pipeline.statistics.framesDropped == 2)
  }
}
