import SoraCodecs
import SoraMedia
import SoraSimulcast
import Synchronization
import Testing
import WebRTC

/// A pipeline whose encoder, or whose bitrate, can't do what the source asks for.
@Suite struct VideoDegradationTests {
  private func harness(
    _ preference: RTCDegradationPreference?, bitrate: Int = 2_500_000,
    costPerMegapixel: Duration = .zero
  ) -> VideoSendHarness {
    let harness = VideoSendHarness(
      VideoSendConfiguration(.vp8, degradationPreference: preference), bitrate: bitrate)
    harness.script.state.withLock { $0.costPerMegapixel = costPerMegapixel }
    return harness
  }

  @Test func aSlowEncoderGetsSmallerPicturesAtTheFullRate() {
    // 720p takes 46 ms, which 30 a second don't leave.
    let harness = harness(.maintainFramerate, costPerMegapixel: .milliseconds(50))
    harness.run(150, width: 1280, height: 720)
    let frames = harness.run(30, width: 1280, height: 720)
    #expect(frames.count == 30)
    #expect(frames.allSatisfy { $0.frame.width == 960 && $0.frame.height == 540 })
    let statistics = harness.pipeline.statistics
    #expect(statistics.limitation.reason == .cpu)
    #expect(statistics.limitation.resolutionChanges == 1)
    let durations = statistics.limitation.durations(at: harness.script.clock.now)
    #expect((durations["cpu"] ?? 0) > 3 && durations["bandwidth"] == 0)
  }

  @Test func aSlowEncoderGetsFewerPicturesInTheFullSize() {
    let harness = harness(.maintainResolution, costPerMegapixel: .milliseconds(50))
    harness.run(150, width: 1280, height: 720)
    let frames = harness.run(60, width: 1280, height: 720)
    #expect(frames.allSatisfy { $0.frame.width == 1280 })
    // 46 ms fit 13 times into a second with room to spare, but not 20 times.
    #expect((24...30).contains(frames.count), "\(frames.count) of 60")
    #expect(harness.pipeline.statistics.limitation.reason == .cpu)
    #expect(harness.pipeline.statistics.limitation.resolutionChanges == 0)
  }

  @Test func balancedGivesUpSizeWhereThereIsMuchAndRateWhereThereIsLittle() {
    let large = harness(.balanced, costPerMegapixel: .milliseconds(50))
    large.run(150, width: 1280, height: 720)
    #expect(large.run(30, width: 1280, height: 720).count == 30)
    let small = harness(.balanced, costPerMegapixel: .milliseconds(500))
    small.run(150, width: 320, height: 240)
    let frames = small.run(30, width: 320, height: 240)
    #expect(frames.count < 25 && frames.allSatisfy { $0.frame.width == 320 })
  }

  @Test func disabledLeavesEverythingAsItIs() {
    let harness = harness(.disabled, bitrate: 50_000, costPerMegapixel: .milliseconds(50))
    let frames = harness.run(200, width: 1280, height: 720)
    #expect(frames.count == 200 && frames.allSatisfy { $0.frame.width == 1280 })
    #expect(harness.pipeline.statistics.limitation.reason == .none)
  }

  @Test func theHintChoosesWhereNobodySaysOtherwise() {
    for (hint, width) in [(VideoContentHint.motion, 640), (.detail, 1280), (.text, 1280)] {
      let harness = harness(nil, bitrate: 300_000)
      harness.track.contentHint = hint
      let frames = harness.run(60, width: 1280, height: 720)
      #expect(frames.last?.frame.width == width, "\(hint)")
      #expect(hint == .motion ? frames.count == 60 : frames.count < 40, "\(hint)")
    }
  }

  @Test func tooFewBitsMakeThePictureSmallFromTheFirstFrameOn() {
    let harness = harness(.maintainFramerate, bitrate: 200_000)
    let frames = harness.run(30, width: 1280, height: 720)
    #expect(frames.allSatisfy { $0.frame.width == 640 })
    #expect(frames.filter(\.frame.isKeyFrame).count == 1)
    #expect(harness.pipeline.statistics.limitation.reason == .bandwidth)
  }

  @Test func aChangedPreferenceTakesEffectMidCall() {
    var configuration = VideoSendConfiguration(
      .vp8, degradationPreference: .maintainResolution)
    let harness = VideoSendHarness(configuration, bitrate: 200_000)
    #expect(harness.run(60, width: 1280, height: 720).allSatisfy { $0.frame.width == 1280 })
    configuration.degradationPreference = .maintainFramerate
    harness.pipeline.update(configuration)
    let frames = harness.run(60, width: 1280, height: 720)
    #expect(frames.count == 60 && frames.allSatisfy { $0.frame.width == 640 })
  }
}
