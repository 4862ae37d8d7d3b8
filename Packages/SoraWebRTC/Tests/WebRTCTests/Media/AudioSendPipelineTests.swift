import Dispatch
import SoraMedia
import Synchronization
import Testing
import WebRTC

/// What waits for the encoder of audio is bounded, and what is dropped leaves its place on the timeline.
@Suite struct AudioSendPipelineTests {
  private struct Sending {
    let queue = DispatchQueue(label: "test.encode")
    let packets = Shared()
    let pipeline: AudioSendPipeline

    final class Shared: Sendable {
      let all = Mutex<[EncodedFrame]>([])
    }

    init() throws {
      let packets = packets
      pipeline = try AudioSendPipeline(
        track: nil, settings: AudioSendPipeline.Settings(), queue: queue,
        output: { packet, _ in packets.all.withLock { $0.append(packet) } })
    }

    func push(_ numbers: Range<Int>) {
      for number in numbers {
        pipeline.receive(
          AudioFrame(
            samples: [Int16](repeating: 100, count: 480), sampleRate: 48_000, channels: 1,
            timestamp: .zero + .milliseconds(10 * number)))
      }
    }

    /// Each frame is a job that puts the next one's behind itself.
    func finish() { for _ in 0..<50 { queue.sync {} } }

    /// Takes the packets, as milliseconds of capture and of the RTP clock.
    func take() -> [[Int]] {
      packets.all.withLock { all in
        defer { all = [] }
        return all.map { packet in
          [Int(packet.timestamp.nanoseconds / 1_000_000), Int(packet.rtpTimestamp / 48)]
        }
      }
    }
  }

  @Test func theNewestAudioIsKeptWhileTheEncoderStandsStill() throws {
    let sending = try Sending()
    sending.push(0..<3)
    sending.finish()
    #expect(sending.take() == [[0, 0]])
    sending.queue.suspend()
    sending.push(3..<103)
    #expect(sending.pipeline.losses.framesDropped == 80)
    sending.queue.resume()
    sending.finish()
    // Frame 83 is the first of the last 200 ms. RTP timestamps tell its time, too.
    #expect(sending.take() == (0..<10).map { [830 + 20 * $0, 830 + 20 * $0] })
    sending.push(103..<105)
    sending.finish()
    #expect(sending.take() == [[1030, 1030]])
    #expect(sending.pipeline.losses.framesDropped == 80)
  }

  @Test func nothingIsEncodedAfterTheEnd() throws {
    let sending = try Sending()
    sending.queue.suspend()
    sending.push(0..<10)
    sending.pipeline.stop()
    sending.queue.resume()
    sending.push(10..<20)
    sending.finish()
    #expect(sending.take().isEmpty)
    #expect(sending.pipeline.losses.framesDropped == 0)
  }

  @Test func framesThatCannotBeEncodedAreCounted() throws {
    let sending = try Sending()
    for (rate, channels) in [(48_000, 6), (1, 1)] {
      sending.pipeline.receive(
        AudioFrame(
          samples: [Int16](repeating: 0, count: 60), sampleRate: rate, channels: channels,
          timestamp: .zero))
      sending.finish()
    }
    #expect(sending.pipeline.losses.framesFailed == 2)
    #expect(sending.pipeline.losses.framesDropped == 0)
  }
}

@Suite struct AudioBacklogTests {
  private func frame(_ number: Int, milliseconds: Int) -> AudioFrame {
    AudioFrame(
      samples: [Int16](repeating: Int16(number), count: 48 * milliseconds), sampleRate: 48_000,
      channels: 1, timestamp: .zero)
  }

  /// What a backlog says to a series of calls.
  private func answers(_ calls: (inout AudioBacklog) -> [Bool]) -> [Bool] {
    var backlog = AudioBacklog(limit: .milliseconds(100))
    return calls(&backlog)
  }

  @Test func handlingStartsOnceAndAgainWhenNothingIsLeft() {
    let answers = answers { backlog in
      [
        backlog.append(frame(0, milliseconds: 10)), backlog.append(frame(1, milliseconds: 10)),
        backlog.takeFirst() != nil, backlog.append(frame(2, milliseconds: 10)),
        backlog.finishFirst(), backlog.takeFirst() != nil, backlog.finishFirst(),
        backlog.takeFirst() != nil, backlog.finishFirst(), backlog.takeFirst() != nil,
        backlog.append(frame(3, milliseconds: 10)),
      ]
    }
    #expect(
      answers == [true, false, true, false, true, true, true, true, false, false, true])
  }

  @Test func theOldestGiveWayByDurationAndByCount() {
    var backlog = AudioBacklog(limit: .milliseconds(100))
    for number in 0..<5 { _ = backlog.append(frame(number, milliseconds: 30)) }
    #expect(backlog.duration == .milliseconds(90) && backlog.framesDropped == 2)
    let first = backlog.takeFirst()
    #expect(first?.frame.samples.first == 2 && first?.lost == .milliseconds(60))
    let second = backlog.takeFirst()
    #expect(second?.frame.samples.first == 3 && second?.lost == .zero)
    // One that is longer than all that may wait is let through by itself.
    _ = backlog.append(frame(9, milliseconds: 500))
    #expect(backlog.framesDropped == 3 && backlog.duration == .milliseconds(500))
    let long = backlog.takeFirst()
    #expect(long?.frame.samples.first == 9 && long?.lost == .milliseconds(30))
    for _ in 0..<(AudioBacklog.maximumFrames + 5) { _ = backlog.append(frame(0, milliseconds: 0)) }
    #expect(backlog.framesDropped == 8)
  }
}
