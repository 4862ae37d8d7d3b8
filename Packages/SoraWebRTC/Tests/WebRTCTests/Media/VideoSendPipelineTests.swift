import Dispatch
import SoraCodecs
import SoraMedia
import SoraSimulcast
import Synchronization
import Testing
import WebRTC

@Suite struct VideoSendPipelineTests {
  @Test(.timeLimit(.minutes(5))) func noFrameWaitsBehindAnother() {
    let harness = VideoSendHarness(script: CodecScript(isGated: true))
    harness.push(.grey(64, 48, luma: 0))
    harness.script.begun.wait()
    // While the first is being encoded, fifty more come.
    for luma in 1...50 { harness.push(.grey(64, 48, luma: UInt8(luma))) }
    harness.script.gate?.signal()
    harness.script.gate?.signal()
    harness.script.begun.wait()
    harness.settle()
    let encoded = harness.script.state.withLock { $0.encoded }
    #expect(encoded.map(\.firstLuma) == [0, 50])
    #expect(harness.pipeline.statistics.framesReplaced == 49)
    #expect(harness.take().count == 2)
  }

  @Test func aSizeThatChangesCostsOneKeyFrame() {
    let harness = VideoSendHarness()
    harness.run(5)
    let changed = harness.run(5, width: 320, height: 180)
    #expect(changed.map(\.frame.isKeyFrame) == [true, false, false, false, false])
    harness.pipeline.requestKeyFrame()
    let both = harness.run(4, width: 640, height: 360)
    #expect(both.map(\.frame.isKeyFrame) == [true, false, false, false])
  }

  /// Receivers reserve no memory for so large pictures, and show nothing.
  @Test func framesThatReceiversRefuseAreToldOnce() {
    let harness = VideoSendHarness(
      VideoSendConfiguration(.vp8, degradationPreference: .disabled), bitrate: 20_000_000)
    harness.run(2, width: 4_096, height: 2_304)
    #expect(harness.failures.isEmpty)
    harness.run(3, width: 8_192, height: 8_192)
    #expect(
      harness.failures == [.videoTooLarge(width: 8_192, height: 8_192, limit: 4_096 * 2_304)])
  }

  @Test func anEncoderThatGoesOnFailingIsToldOnce() {
    let script = CodecScript()
    script.state.withLock { $0.failingCalls = Set(1..<20) }
    let harness = VideoSendHarness(script: script)
    harness.run(2)
    #expect(harness.failures.isEmpty)
    for _ in 0..<5 {
      script.clock.advance(.seconds(1))
      harness.run(2)
    }
    guard case .videoEncoder? = harness.failures.first else {
      Issue.record("\(harness.failures)")
      return
    }
    #expect(harness.failures.count == 1)
  }

  @Test func encodersAreMadeWithWhatWasNegotiated() throws {
    let harness = VideoSendHarness(
      VideoSendConfiguration(
        .vp8, layers: [SimulcastLayerSettings(scalabilityMode: .l1t3)],
        formatParameters: ["profile-level-id": "42e01f"], cores: 3), bitrate: 700_000)
    harness.track.contentHint = .text
    harness.run(2)
    let made = try #require(harness.script.state.withLock { $0.made.first })
    #expect(made.contentHint == .text)
    #expect(made.scalabilityMode == .l1t3)
    #expect(made.formatParameters == ["profile-level-id": "42e01f"])
    #expect(made.cores == 3 && made.targetBitsPerSecond == 700_000)
    // Another hint is another encoder, which starts with a key frame.
    harness.track.contentHint = .motion
    #expect(harness.run(2).map(\.frame.isKeyFrame) == [true, false])
    #expect(harness.script.state.withLock { $0.made.last?.contentHint } == .motion)
  }

  @Test func ratesChangeBetweenFramesWithoutAKeyFrame() {
    let harness = VideoSendHarness(bitrate: 900_000)
    harness.run(10)
    harness.pipeline.setTargetBitrate(600_000)
    #expect(!harness.run(5).contains { $0.frame.isKeyFrame })
    #expect(harness.script.state.withLock { $0.rates.last?.bits } == 600_000)
    harness.run(60, framesPerSecond: 15)
    let rate = harness.script.state.withLock { $0.rates.last?.rate }
    #expect(rate.map { (15...16).contains($0) } == true)
    #expect(harness.script.state.withLock { $0.made.count } == 1)
  }

  @Test func moreThanTheSizeCanUseIsntAimedFor() {
    let harness = VideoSendHarness(bitrate: 20_000_000)
    harness.run(1)
    #expect(harness.script.state.withLock { $0.made.first?.targetBitsPerSecond } == 1_700_000)
    let limited = VideoSendHarness(
      VideoSendConfiguration(.vp8, limit: 8_000_000), bitrate: 20_000_000)
    limited.run(1)
    #expect(limited.script.state.withLock { $0.made.first?.targetBitsPerSecond } == 8_000_000)
  }

  @Test func parametersTakeEffectMidCall() {
    var configuration = VideoSendConfiguration(.vp8)
    let harness = VideoSendHarness(configuration)
    harness.run(30)
    configuration.layers[0].scaleResolutionDownBy = 2
    harness.pipeline.update(configuration)
    let half = harness.run(3)
    #expect(half.map(\.frame.width) == [320, 320, 320])
    #expect(half.map(\.frame.isKeyFrame) == [true, false, false])
    configuration.layers[0].maximumFramesPerSecond = 10
    harness.pipeline.update(configuration)
    #expect((9...11).contains(harness.run(30).count))
    configuration.layers[0].maximumBitsPerSecond = 150_000
    harness.pipeline.update(configuration)
    harness.run(6)
    #expect(harness.script.state.withLock { $0.rates.last?.bits } == 150_000)
    configuration.layers[0].isActive = false
    harness.pipeline.update(configuration)
    #expect(harness.run(10).isEmpty)
    configuration.layers[0] = SimulcastLayerSettings()
    harness.pipeline.update(configuration)
    #expect(harness.run(3).map(\.frame.isKeyFrame) == [true, false, false])
  }

  @Test func everyLayerIsSentUnderItsName() {
    let harness = VideoSendHarness(
      VideoSendConfiguration(
        .vp8,
        layers: ["r0", "r1", "r2"].enumerated().map {
          SimulcastLayerSettings(
            rid: $0.element, scaleResolutionDownBy: Double(4 >> $0.offset))
        }), bitrate: 3_000_000)
    let frames = harness.run(2)
    #expect(frames.map(\.rid) == ["r0", "r1", "r2", "r0", "r1", "r2"])
    #expect(Set(frames.prefix(3).map(\.frame.rtpTimestamp)).count == 1)
    #expect(harness.pipeline.statistics.layers.map(\.framesEncoded) == [2, 2, 2])
    #expect(harness.pipeline.statistics.layers.map(\.width) == [160, 320, 640])
    harness.pipeline.requestKeyFrame()
    #expect(harness.run(1).map(\.frame.isKeyFrame) == [true, true, true])
    harness.pipeline.setTargetBitrate(100_000)
    #expect(harness.run(1).map(\.rid) == ["r0"])
    harness.run(1)
    #expect(harness.pipeline.statistics.limitation.reason == .bandwidth)
  }

  @Test func aDisabledTrackIsBlack() {
    let harness = VideoSendHarness()
    harness.track.isEnabled = false
    harness.run(2)
    harness.track.isEnabled = true
    harness.run(1)
    #expect(harness.script.state.withLock { $0.encoded.map(\.firstLuma) } == [16, 16, 128])
  }

  @Test func aBrokenEncoderIsMadeAnewAndNotForEveryFrame() {
    let harness = VideoSendHarness()
    harness.script.state.withLock { $0.failingCalls = [3, 6, 7] }
    // One failure costs one frame.
    #expect(harness.run(6).map(\.frame.isKeyFrame) == [true, false, false, true, false])
    #expect(harness.script.state.withLock { $0.made.count } == 2)
    // Two in a row are followed by half a second of rest.
    #expect(harness.run(15).isEmpty)
    #expect(harness.script.state.withLock { $0.made.count } == 3)
    #expect(harness.pipeline.statistics.limitation.reason == .other)
    let after = harness.run(5)
    #expect(after.map(\.frame.isKeyFrame).first == true)
    #expect(harness.pipeline.statistics.encodeErrors == 3)
    #expect(harness.pipeline.statistics.limitation.reason == .none)
  }
}
