import CodecTestSupport
import SoraCodecs
import SoraMedia
import SoraSimulcast
import Synchronization
import Testing

@Suite struct SimulcastEncoderTests {
  private let log = EncoderLog()
  private let picture = Pictures.make(640, 360, index: 0)

  private static let layers = [
    SimulcastLayerSettings(rid: "r0", scaleResolutionDownBy: 4),
    SimulcastLayerSettings(rid: "r1", scaleResolutionDownBy: 2),
    SimulcastLayerSettings(rid: "r2", scaleResolutionDownBy: 1),
  ]

  private func make(
    _ layers: [SimulcastLayerSettings] = Self.layers, bits: Int = 3_000_000, cores: Int = 2
  ) -> SimulcastEncoder {
    let log = log
    return SimulcastEncoder(
      .vp8, layers: layers,
      base: VideoEncoderSettings(
        width: 1, height: 1, targetBitsPerSecond: bits, contentHint: .text, cores: cores,
        formatParameters: ["profile-id": "0"]),
      now: { .zero }
    ) { settings in FakeEncoder(settings, log) }
  }

  /// Encodes the picture as frame `index` of 30 a second.
  private func encode(
    _ encoder: SimulcastEncoder, _ index: Int, scale: Double = 1, forceKeyFrame: Bool = false
  ) throws -> [SimulcastFrame] {
    var frames: [SimulcastFrame] = []
    try encoder.encode(
      RawVideoFrame(
        buffer: picture, timestamp: Instant(nanoseconds: Int64(index) * 1_000_000_000 / 30)),
      scale: scale, forceKeyFrame: forceKeyFrame, rtpTimestamp: UInt32(index * 3_000)
    ) { frames.append($0) }
    return frames
  }

  @Test(arguments: [1, 4]) func everyLayerGetsThePictureInItsSize(cores: Int) throws {
    let frames = try encode(make(cores: cores), 7)
    #expect(frames.map(\.layer) == [0, 1, 2])
    #expect(frames.map(\.rid) == ["r0", "r1", "r2"])
    #expect(frames.map(\.frame.width) == [160, 320, 640])
    #expect(frames.map(\.frame.height) == [90, 180, 360])
    #expect(frames.allSatisfy { $0.frame.isKeyFrame && $0.frame.rtpTimestamp == 21_000 })
    let made = log.made.withLock { $0 }
    #expect(
      made.allSatisfy { $0.contentHint == .text && $0.formatParameters == ["profile-id": "0"] })
  }

  @Test func everyLayerCanBeAskedForAFasterSpeed() throws {
    let encoder = make()
    #expect(!encoder.canBeFaster)
    encoder.maySlowDown = false
    _ = try encode(encoder, 0)
    #expect(encoder.canBeFaster)
    encoder.beFaster()
    #expect(!encoder.canBeFaster)
    let told = log.faster.withLock { $0 }
    #expect(told.map(\.width) == [160, 320, 640])
    #expect(told.allSatisfy { $0.now == .zero && $0.clock == .zero && !$0.maySlowDown })
  }

  @Test func aRequestMakesKeyFramesOfOnePicture() throws {
    let encoder = make()
    for index in 0..<3 { _ = try encode(encoder, index) }
    let forced = try encode(encoder, 3, forceKeyFrame: true)
    #expect(forced.count == 3 && forced.allSatisfy(\.frame.isKeyFrame))
    let next = try encode(encoder, 4)
    #expect(next.count == 3 && !next.contains { $0.frame.isKeyFrame })
  }

  @Test func aKeyFrameThatWasDroppedIsMadeOfTheNextPicture() throws {
    let encoder = make()
    _ = try encode(encoder, 0)
    log.dropping.withLock { $0 = [320] }
    #expect(try encode(encoder, 1, forceKeyFrame: true).map(\.layer) == [0, 2])
    log.dropping.withLock { $0 = [] }
    let next = try encode(encoder, 2)
    #expect(next.map(\.frame.isKeyFrame) == [false, true, false])
  }

  @Test func layersComeAndGoWithTheBitrate() throws {
    let encoder = make(bits: 100_000)
    #expect(try encode(encoder, 0).map(\.layer) == [0])
    #expect(encoder.isBandwidthLimited)
    encoder.setRates(targetBitsPerSecond: 2_000_000, framesPerSecond: 30)
    let all = try encode(encoder, 1)
    #expect(all.map(\.layer) == [0, 1, 2])
    #expect(all.map(\.frame.isKeyFrame) == [false, true, true])
    #expect(!encoder.isBandwidthLimited)
    _ = log.takeCalls()
    encoder.setRates(targetBitsPerSecond: 100_000, framesPerSecond: 30)
    #expect(try encode(encoder, 2).map(\.layer) == [0])
    #expect(log.takeCalls().map(\.width) == [160])
    #expect(encoder.states[2].implementationName == nil)
    encoder.setRates(targetBitsPerSecond: 0, framesPerSecond: 30)
    #expect(try encode(encoder, 3).isEmpty)
    #expect(log.takeCalls().isEmpty)
  }

  @Test func settingsChangeMidCall() throws {
    let encoder = make()
    _ = try encode(encoder, 0)
    encoder.settings[0].isActive = false
    encoder.settings[1].scaleResolutionDownBy = 3
    encoder.settings[2].maximumBitsPerSecond = 250_000
    let frames = try encode(encoder, 1)
    #expect(frames.map(\.layer) == [1, 2])
    #expect(frames.map(\.frame.width) == [214, 640])
    #expect(frames.map(\.frame.isKeyFrame) == [true, false])
    #expect(encoder.states.map(\.bitsPerSecond) == [0, 150_000, 250_000])
    encoder.settings[2].scalabilityMode = .l1t2
    #expect(try encode(encoder, 2).map(\.frame.isKeyFrame) == [false, true])
    #expect(log.made.withLock { $0.last?.scalabilityMode } == .l1t2)
  }

  /// webrtc-extensions: the aspect ratio stays, either orientation fits, nothing grows, and `scaleResolutionDownBy` doesn't count.
  @Test(arguments: [
    (1280, 720, 640, 640, 640, 360), (720, 1280, 640, 360, 360, 640),
    (1280, 720, 640, 180, 320, 180),
    (320, 180, 640, 360, 320, 180), (640, 480, 0, 0, 2, 2),
  ])
  func aLayersSizeHasALimit(
    width: Int, height: Int, maximumWidth: Int, maximumHeight: Int, scaledWidth: Int,
    scaledHeight: Int
  ) {
    let layer = SimulcastLayerSettings(
      scaleResolutionDownBy: 4,
      scaleResolutionDownTo: .init(width: maximumWidth, height: maximumHeight))
    #expect(layer.size(ofSource: width, height) == (scaledWidth, scaledHeight))
    let half = layer.size(ofSource: width, height, scale: 0.5)
    #expect(half.width <= max(2, scaledWidth / 2 + 1))
  }

  @Test func aLayersFrameRateIsItsOwn() throws {
    let encoder = make()
    encoder.settings[1].maximumFramesPerSecond = 15
    var counts = [0, 0, 0]
    for index in 0..<60 {
      // Requests fall on frames that the slow layer leaves out, too.
      let forced = index == 31
      let frames = try encode(encoder, index, forceKeyFrame: forced)
      if forced { #expect(frames.count == 3 && frames.allSatisfy(\.frame.isKeyFrame)) }
      for frame in frames { counts[frame.layer] += 1 }
    }
    #expect(counts[0] == 60 && counts[2] == 60 && (30...31).contains(counts[1]), "\(counts)")
    #expect(log.made.withLock { made in made.first { $0.width == 320 }?.framesPerSecond } == 15)
  }

  @Test func aBrokenLayerStartsOverAndLeavesTheOthersAlone() throws {
    let encoder = make()
    _ = try encode(encoder, 0)
    log.failing.withLock { $0 = [320] }
    var handed: [Int] = []
    #expect(throws: CodecError.self) {
      try encoder.encode(
        RawVideoFrame(buffer: picture, timestamp: .zero), forceKeyFrame: false, rtpTimestamp: 0
      ) { handed.append($0.layer) }
    }
    #expect(handed == [0, 2])
    log.failing.withLock { $0 = [] }
    #expect(try encode(encoder, 2).map(\.frame.isKeyFrame) == [false, true, false])
  }

  @Test func theWholeCanShrink() throws {
    let encoder = make()
    _ = try encode(encoder, 0)
    let frames = try encode(encoder, 1, scale: 0.75)
    #expect(frames.map(\.frame.width) == [120, 240, 480])
    #expect(frames.map(\.frame.height) == [68, 136, 270])
    #expect(frames.map(\.frame.isKeyFrame) == [true, true, true])
    #expect(try encode(encoder, 2, scale: 0.75).map(\.frame.isKeyFrame) == [false, false, false])
  }

  @Test func ratesReachTheEncodersBetweenFrames() throws {
    let encoder = make(bits: 350_000)
    _ = try encode(encoder, 0)
    encoder.setRates(targetBitsPerSecond: 600_000, framesPerSecond: 20)
    _ = try encode(encoder, 1)
    let rates = log.rates.withLock { $0 }.sorted { $0.width < $1.width }
    #expect(rates.map(\.width) == [160, 320])
    #expect(rates.map(\.rate) == [20, 20])
    #expect(encoder.states.map(\.bitsPerSecond).reduce(0, +) <= 600_000)
  }
}
