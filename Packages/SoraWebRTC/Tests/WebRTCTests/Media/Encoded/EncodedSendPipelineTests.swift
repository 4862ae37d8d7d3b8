import SoraMedia
import SoraSimulcast
import Synchronization
import Testing
import WebRTC

/// An `EncodedSendPipeline` in virtual time.
private final class Harness: Sendable {
  private struct State {
    var now = Instant(nanoseconds: 1_000_000_000)
    var sent: [SimulcastFrame] = []
    var requests = 0
    var rates: [Int] = []
    var failures: [MediaFailure] = []
  }
  private let state = Mutex(State())
  let pipeline: EncodedSendPipeline

  init(_ kind: VideoCodecKind = .vp8, bitrate: Int = 5_000_000) {
    let box = Box()
    pipeline = EncodedSendPipeline(
      configuration: VideoSendConfiguration(kind), bitrate: bitrate,
      now: { box.harness?.now ?? .zero }, needsKeyFrame: { box.harness?.note { $0.requests += 1 } },
      givesRate: { rate in box.harness?.note { $0.rates.append(rate) } },
      output: { frame in box.harness?.note { $0.sent.append(frame) } },
      failed: { failure in box.harness?.note { $0.failures.append(failure) } })
    box.set(self)
  }

  private final class Box: Sendable {
    private let held = Mutex<Weak>(Weak())
    struct Weak { weak var harness: Harness? }
    var harness: Harness? { held.withLock { $0.harness } }
    func set(_ harness: Harness) { held.withLock { $0.harness = harness } }
  }

  private func note(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }
  var now: Instant { state.withLock { $0.now } }
  var sent: [SimulcastFrame] { state.withLock { $0.sent } }
  var requests: Int { state.withLock { $0.requests } }
  /// What was told of the source's rate.
  var rates: [Int] { state.withLock { $0.rates } }
  var failures: [MediaFailure] { state.withLock { $0.failures } }
  func advance(_ time: Duration) { state.withLock { $0.now += time } }

  /// Gives a frame that was captured now, and lets `after` pass.
  func push(_ bytes: [UInt8], isKeyFrame: Bool = false, after: Duration = .milliseconds(33)) {
    pipeline.send(
      EncodedFrame(
        payload: EncodedBuffer(bytes), isKeyFrame: isKeyFrame, rtpTimestamp: 7, timestamp: now))
    advance(after)
  }
}

/// A VP8 frame of so many bytes.
private func vp8(_ isKeyFrame: Bool, size: Int = 100) -> [UInt8] {
  var bytes = [UInt8](repeating: 9, count: max(10, size))
  bytes[0] = isKeyFrame ? 0x10 : 0x11
  bytes.replaceSubrange(3..<10, with: [0x9D, 0x01, 0x2A, 64, 0, 48, 0])
  return bytes
}

private let sequence: [UInt8] = [0, 0, 0, 1, 0x67, 0x42, 0xC0, 0x1F, 0x8C, 0x8D, 0x40]
private let picture: [UInt8] = [0, 0, 0, 1, 0x68, 0xCE, 0x3C, 0x80]
private let delimiter: [UInt8] = [0, 0, 0, 1, 0x09, 0xF0]
private let key: [UInt8] = [0, 0, 0, 1, 0x65, 0x88, 0x84, 1, 2, 3]
private let reference: [UInt8] = [0, 0, 0, 1, 0x41, 0x9A, 4, 5, 6]
private let other: [UInt8] = [0, 0, 0, 1, 0x01, 0x9E, 7, 8, 9]

@Suite struct EncodedSendPipelineTests {
  /// What a wide link had room for leaves within seconds, and doesn't hold back what a narrow one can take.
  @Test func aRateThatCollapsesHoldsTheStreamForSecondsOnly() {
    var limiter = EncodedFrameLimiter()
    var time = Instant(nanoseconds: 1_000_000_000)
    func admit(_ bytes: Int, isKeyFrame: Bool, target: Int) -> EncodedFrameLimiter.Admission {
      limiter.admit(
        bytes: bytes, isKeyFrame: isKeyFrame, isReferenced: true, target: target, at: time)
    }
    #expect(admit(400_000, isKeyFrame: true, target: 5_000_000) == .send)
    var frames = 0
    repeat {
      time += .milliseconds(100)
      frames += 1
    } while admit(1_000, isKeyFrame: true, target: 50_000) != .send && frames < 1_000
    #expect(frames > 5 && frames <= 40)
  }

  @Test func theStreamBeginsWithAKeyFrame() throws {
    let harness = Harness()
    for _ in 0..<5 { harness.push(vp8(false)) }
    #expect(harness.sent.isEmpty && harness.requests == 1)
    #expect(harness.pipeline.drops.beforeKeyFrame == 5)
    // What the bytes say counts, and not what the caller does.
    harness.push(vp8(true), isKeyFrame: false)
    harness.push(vp8(false), isKeyFrame: true)
    #expect(harness.sent.map(\.frame.isKeyFrame) == [true, false])
    #expect(harness.sent.first?.frame.width == 64 && harness.sent.first?.frame.height == 48)
    let statistics = try #require(harness.pipeline.statistics.layers.first)
    #expect(statistics.framesEncoded == 2 && statistics.keyFramesEncoded == 1)
    #expect(statistics.state.implementationName == "passthrough")
    // The RTP timestamp is that of the capture, whatever the caller's clock said.
    #expect(harness.sent[1].frame.rtpTimestamp &- harness.sent[0].frame.rtpTimestamp == 2_970)
    // After something else was sent, a key frame again.
    harness.pipeline.rest()
    harness.push(vp8(false))
    #expect(harness.sent.count == 2 && harness.requests == 2)
  }

  @Test func requestsForKeyFramesReachTheSourceAndAreSpaced() {
    let harness = Harness()
    harness.push(vp8(true))
    harness.pipeline.requestKeyFrame()
    harness.pipeline.requestKeyFrame()
    #expect(harness.requests == 1)
    harness.advance(.seconds(1))
    harness.pipeline.requestKeyFrame()
    #expect(harness.requests == 2)
    harness.pipeline.stop()
    harness.advance(.seconds(2))
    harness.pipeline.requestKeyFrame()
    #expect(harness.requests == 2)
  }

  @Test func keyFramesWithoutParameterSetsGetThoseThatCameLast() {
    let harness = Harness(.h264)
    // No decoder could start with it.
    harness.push(key)
    #expect(harness.sent.isEmpty && harness.failures == [.videoUnreadable(.h264)])
    // By themselves, as a file's header has them.
    harness.push(sequence + picture)
    #expect(harness.sent.isEmpty)
    harness.push(delimiter + key)
    harness.push(reference)
    harness.push(sequence + picture + key)
    let sent = harness.sent.map { Array(unsafe $0.frame.payload.bytes) }
    #expect(
      sent == [delimiter + sequence + picture + key, reference, sequence + picture + key])
    #expect(harness.sent.map(\.frame.isKeyFrame) == [true, false, true])
  }

  @Test func lengthsBecomeStartCodes() {
    let harness = Harness(.h264)
    func sample(_ units: [UInt8]...) -> [UInt8] {
      units.flatMap { unit in [0, 0, 0, UInt8(unit.count - 4)] + unit.dropFirst(4) }
    }
    harness.push(sample(sequence, picture, key))
    harness.push(sample(reference))
    #expect(
      harness.sent.map { Array(unsafe $0.frame.payload.bytes) }
        == [sequence + picture + key, reference])
    // Neither start codes nor lengths.
    harness.push([1, 2, 3])
    #expect(harness.sent.count == 2 && harness.failures == [.videoUnreadable(.h264)])
  }

  @Test func framesOfBOrderAreToldAndLeftOut() {
    let harness = Harness(.h264)
    harness.push(sequence + picture + key, after: .milliseconds(66))
    harness.push(reference, after: .milliseconds(-33))
    harness.push(other, after: .milliseconds(66))
    #expect(harness.sent.count == 2)
    #expect(harness.failures == [.videoReordered(.h264)] && harness.pipeline.drops.reordered == 1)
    #expect(harness.pipeline.isReordered)
  }

  @Test func anotherCodecIsToldOnce() {
    let harness = Harness(.vp9)
    harness.pipeline.refuse(.h264)
    harness.pipeline.refuse(.h264)
    #expect(harness.failures == [.videoCodecMismatch(given: .h264, negotiated: .vp9)])
    #expect(harness.pipeline.drops.otherCodec == 2)
  }

  /// A link of a third of the stream's rate, for a minute: what waits stays bounded, pictures go on, and each start is a key frame.
  @Test func whatWaitsStaysBoundedOnANarrowLink() throws {
    let target = 500_000
    let harness = Harness(bitrate: target)
    // 1.5 Mbit/s at 30 frames per second; a key frame when one is asked for.
    var waiting = 0.0
    var most = 0.0
    var counted = 0
    var requests = 0
    for _ in 0..<1_800 {
      let isKeyFrame = harness.requests > requests || harness.sent.isEmpty
      requests = harness.requests
      harness.push(
        vp8(isKeyFrame, size: isKeyFrame ? 20_000 : 6_000), after: .nanoseconds(33_333_333))
      for sent in harness.sent[counted...] { waiting += Double(sent.frame.payload.count * 8) }
      counted = harness.sent.count
      most = max(most, waiting)
      waiting = max(0, waiting - Double(target) / 30)
    }
    // A second and the key frame.
    #expect(most < Double(target) + 20_000 * 8, "\(most)")
    #expect(harness.pipeline.drops.forBandwidth > 600)
    let keys = harness.sent.filter(\.frame.isKeyFrame).count
    #expect(keys >= 15 && keys <= 60, "\(keys)")
    let bits = harness.sent.reduce(0) { $0 + $1.frame.payload.count * 8 }
    #expect(bits > 60 * target * 6 / 10 && bits < 60 * target * 11 / 10, "\(bits)")
    // The first frame after any that was left out is a key frame.
    var last: Instant?
    for sent in harness.sent {
      if let last, sent.frame.timestamp - last > .milliseconds(40) {
        #expect(sent.frame.isKeyFrame)
      }
      last = sent.frame.timestamp
    }
    #expect(harness.pipeline.statistics.limitation.reason == .bandwidth)
    // Room again: nothing is left out any more.
    harness.pipeline.setTargetBitrate(4_000_000)
    harness.advance(.seconds(3))
    harness.push(vp8(true, size: 20_000))
    let before = harness.sent.count
    for _ in 0..<150 { harness.push(vp8(false, size: 6_000)) }
    #expect(harness.sent.count == before + 150)
    #expect(harness.pipeline.statistics.limitation.reason == QualityLimitationReason.none)
  }

  /// Whatever of it is sent: what the link is to be probed for mustn't depend on what it takes so far.
  @Test func theSourcesRateIsToldWhereItRises() {
    let harness = Harness(bitrate: 2_000_000)
    func second(_ bytes: Int) {
      for index in 0..<30 {
        harness.push(vp8(index == 0, size: bytes), after: .nanoseconds(33_333_334))
      }
    }
    for _ in 0..<5 { second(50_000) }
    #expect(harness.rates.count == 1 && abs(harness.rates[0] - 12_000_000) < 200_000)
    #expect(harness.pipeline.drops.forBandwidth > 0)
    // A tenth more isn't worth a word, and less may be a quiet scene.
    for bytes in [52_000, 20_000, 80_000, 80_000] { second(bytes) }
    #expect(harness.rates.count == 2 && abs(harness.rates[1] - 19_200_000) < 300_000)
    harness.pipeline.rest()
    #expect(harness.rates.last == 0 && harness.rates.count == 3)
    harness.pipeline.rest()
    #expect(harness.rates.count == 3)
  }

  @Test func framesThatNothingRefersToGoFirst() {
    let harness = Harness(.h264, bitrate: 1_000_000)
    harness.push(sequence + picture + key)
    let filler = [UInt8](repeating: 3, count: 5_000)
    // 1.2 Mbit/s, half of it in frames that can be left out.
    for _ in 0..<300 {
      harness.push(reference + filler)
      harness.push(other + filler)
    }
    #expect(harness.sent.filter(\.frame.isKeyFrame).count == 1)
    #expect(harness.sent.filter(\.frame.layers.isReferenced).count == 301)
    #expect(harness.pipeline.drops.forBandwidth > 30)
  }
}
