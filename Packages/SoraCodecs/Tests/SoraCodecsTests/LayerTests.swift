import CodecTestSupport
import SoraCodecs
import SoraMedia
import Testing

/// Several temporal and spatial layers in one stream.
@Suite struct LayerTests {
  /// Temporal layers alone.
  static let temporalModes = [ScalabilityMode.l1t2, .l1t3]

  @Test(arguments: CodecUnderTest.temporal, temporalModes)
  func upperTemporalLayersCanBeDropped(_ codec: CodecUnderTest, _ mode: ScalabilityMode) throws {
    let frames = try frames(codec, mode, 320, 180, count: 32, keyAt: 10)
    #expect(Set(frames.map(\.temporalLayer)) == Set(0..<mode.temporalLayers))
    #expect(frames[10].isKeyFrame && frames[10].temporalLayer == 0)
    for highest in 0..<mode.temporalLayers {
      let decoder = try codec.decoder()
      for (index, frame) in frames.enumerated() where frame.temporalLayer <= highest {
        let decoded = try #require(try decoder.decode(frame))
        #expect(!decoder.isLastFrameCorrupted)
        let psnr = codec.psnr(decoded, 320, 180, index: index)
        #expect(psnr > 30, "\(mode) up to layer \(highest), frame \(index): \(psnr) dB")
      }
    }
  }

  /// A receiver of the base layer may add a layer with the frame that says so.
  @Test(arguments: CodecUnderTest.temporal, temporalModes)
  func layersAreEnteredWhereTheySay(_ codec: CodecUnderTest, _ mode: ScalabilityMode) throws {
    let frames = try frames(codec, mode, 320, 180, count: 32, keyAt: 10)
    #expect(frames.contains { $0.layers.isLayerSync })
    let decoder = try codec.decoder()
    for (index, frame) in frames.enumerated()
    where frame.temporalLayer == 0
      || (frame.temporalLayer == mode.temporalLayers - 1 && frame.layers.isLayerSync)
    {
      let decoded = try #require(try decoder.decode(frame))
      #expect(!decoder.isLastFrameCorrupted)
      let psnr = codec.psnr(decoded, 320, 180, index: index)
      #expect(psnr > 30, "\(mode), frame \(index): \(psnr) dB")
    }
  }

  @Test(arguments: CodecUnderTest.temporal, temporalModes)
  func everyFrameTellsItsPlace(_ codec: CodecUnderTest, _ mode: ScalabilityMode) throws {
    for frame in try frames(codec, mode, 64, 64, count: 16, keyAt: 5) {
      let layers = frame.layers
      #expect(layers.temporalLayerCount == mode.temporalLayers && layers.spatialLayerCount == 1)
      #expect(layers.isSwitchingPoint)
      #expect(layers.isReferenced == (frame.temporalLayer < mode.temporalLayers - 1))
      if frame.temporalLayer == 0 { #expect(!layers.isLayerSync) }
    }
  }

  /// Whatever its library needs, an odd size is made, and nothing is printed about it.
  @Test(arguments: CodecUnderTest.temporal, temporalModes)
  func oddSizesOfTemporalLayers(_ codec: CodecUnderTest, _ mode: ScalabilityMode) throws {
    let decoder = try codec.decoder()
    for (index, frame) in try frames(codec, mode, 161, 91, count: 8, keyAt: 0).enumerated() {
      let decoded = try #require(try decoder.decode(frame))
      #expect(decoded.width == frame.width && decoded.height == frame.height)
      let source = Pictures.make(frame.width, frame.height, index: index)
      #expect(Pictures.psnr(decoded.buffer, source) > 30)
    }
  }

  /// libaom reads outside of its frames where it looks for text in spatial layers.
  @Test(arguments: CodecUnderTest.spatial, VideoContentHint.allCases)
  func contentHintsAreTakenWithSpatialLayers(
    _ codec: CodecUnderTest, _ hint: VideoContentHint
  ) throws {
    let random = RandomSource(seed: 12)
    let encoder = try codec.encoder(
      320, 180, bits: 400_000, hint: hint, mode: ScalabilityMode("L3T3_KEY")!)
    for index in 0..<60 {
      let (width, height) = index < 30 ? (320, 180) : (480, 272)
      let frame = try encoder.encode(
        Pictures.noisyFrame(width, height, index: index, random: random), forceKeyFrame: false,
        rtpTimestamp: 0)
      #expect(frame?.layers.count == 3)
    }
  }

  /// Modes of each kind of dependency.
  static let spatialModes = ["L2T1", "L2T3_KEY", "L3T3_KEY", "S2T1", "S3T3", "L3T3"]
    .compactMap { ScalabilityMode($0) }

  private func frames(
    _ codec: CodecUnderTest, _ mode: ScalabilityMode, _ width: Int, _ height: Int, count: Int,
    keyAt: Int
  ) throws -> [EncodedFrame] {
    let encoder = try codec.encoder(width, height, bits: 3_000_000, mode: mode)
    return try (0..<count).map { index in
      try #require(
        try encoder.encode(
          Pictures.frame(width, height, index: index), forceKeyFrame: index == keyAt,
          rtpTimestamp: 0))
    }
  }

  /// The frame with only those of its layers that `keeps` wants; nil where none is left.
  private func filter(_ frame: EncodedFrame, _ keeps: (SpatialLayerFrame) -> Bool) -> EncodedFrame?
  {
    let payload = EncodedBuffer(capacity: frame.payload.count)
    var start = 0
    for index in 0..<frame.layers.count {
      let layer = frame.layers[index]
      if keeps(layer) {
        payload.append(UnsafeRawBufferPointer(rebasing: frame.payload.bytes[start..<layer.end]))
      }
      start = layer.end
    }
    guard payload.count > 0 else { return nil }
    var filtered = frame
    filtered.payload = payload
    return filtered
  }

  @Test(arguments: CodecUnderTest.spatial, spatialModes)
  func everyLayerCanBeTheHighestThatIsReceived(_ codec: CodecUnderTest, _ mode: ScalabilityMode)
    throws
  {
    let (width, height) = (640, 360)
    let frames = try frames(codec, mode, width, height, count: 24, keyAt: 10)
    for spatial in 0..<mode.spatialLayers {
      for temporal in 0..<mode.temporalLayers {
        let decoder = try codec.decoder()
        var decodedCount = 0
        for (index, frame) in frames.enumerated() where frame.temporalLayer <= temporal {
          // What doesn't depend on the layers below needs them with the key picture only.
          let filtered = try #require(
            filter(frame) {
              $0.spatialLayer == spatial
                || ($0.spatialLayer < spatial && (frame.isKeyFrame || mode.prediction == .full))
            })
          let decoded = try #require(try decoder.decode(filtered))
          #expect(!decoder.isLastFrameCorrupted)
          let scale = 1 << (mode.spatialLayers - 1 - spatial)
          #expect(decoded.width == width / scale && decoded.height == height / scale)
          decodedCount += 1
          if scale == 1 {
            let psnr = Pictures.psnr(decoded.buffer, Pictures.make(width, height, index: index))
            #expect(
              psnr > 30, "\(mode), spatial \(spatial), temporal \(temporal), \(index): \(psnr)")
          }
        }
        #expect(decodedCount >= 6)
      }
    }
  }

  @Test(arguments: CodecUnderTest.spatial, spatialModes)
  func descriptionsTellWhatAFrameNeeds(_ codec: CodecUnderTest, _ mode: ScalabilityMode) throws {
    let frames = try frames(codec, mode, 320, 180, count: 24, keyAt: 10)
    for (index, frame) in frames.enumerated() {
      #expect(frame.isKeyFrame == (index == 0 || index == 10))
      #expect(frame.layers.count == mode.spatialLayers)
      #expect(frame.layers.spatialLayerCount == mode.spatialLayers)
      #expect(frame.layers.temporalLayerCount == mode.temporalLayers)
      #expect(frame.layers[frame.layers.count - 1].end == frame.payload.count)
      #expect(frame.width == 320 && frame.height == 180)
      for number in 0..<frame.layers.count {
        let layer = frame.layers[number]
        #expect(layer.spatialLayer == number)
        #expect(layer.isInterPicturePredicted == !frame.isKeyFrame)
        let isLinked =
          mode.prediction == .full || (mode.prediction == .keyOnly && frame.isKeyFrame)
        #expect(layer.isInterLayerPredicted == (isLinked && number > 0))
        #expect(layer.isInterLayerReference == (isLinked && number + 1 < mode.spatialLayers))
        if layer.isInterPicturePredicted {
          // A reference lies in a layer that isn't above the frame's own.
          let reference = index - Int(layer.references.0)
          #expect(reference >= 0)
          #expect(frames[reference].temporalLayer <= frame.temporalLayer)
          #expect(frames[reference].temporalLayer < 2)
        }
      }
    }
  }

  @Test(arguments: CodecUnderTest.spatial)
  func oddSizesOfSpatialLayers(_ codec: CodecUnderTest) throws {
    let mask = codec.roundsLayersToEven ? ~1 : ~0
    for (width, height) in [(321, 181), (130, 98), (64, 64)] {
      let frames = try frames(
        codec, ScalabilityMode("L3T3_KEY")!, width, height, count: 6, keyAt: 0)
      let decoder = try codec.decoder()
      for frame in frames {
        let decoded = try #require(try decoder.decode(frame))
        #expect(decoded.width == width & mask && decoded.height == height & mask)
        #expect(frame.width == decoded.width && frame.height == decoded.height)
      }
    }
  }

  @Test(arguments: CodecUnderTest.spatial)
  func layersFollowSizesAndRates(_ codec: CodecUnderTest) throws {
    let encoder = try codec.encoder(
      VideoEncoderSettings(
        width: 640, height: 360, targetBitsPerSecond: 1_500_000,
        scalabilityMode: ScalabilityMode("L2T3_KEY")!))
    let decoder = try codec.decoder()
    for (step, (width, height)) in [(640, 360), (320, 180), (960, 540)].enumerated() {
      encoder.setRates(targetBitsPerSecond: 700_000 * (step + 1), framesPerSecond: 30)
      var keys = 0
      for index in 0..<12 {
        guard
          let frame = try encoder.encode(
            Pictures.frame(width, height, index: index), forceKeyFrame: false, rtpTimestamp: 0)
        else { continue }
        keys += frame.isKeyFrame ? 1 : 0
        let decoded = try #require(try decoder.decode(frame))
        #expect(decoded.width == width && decoded.height == height)
      }
      #expect(keys == 1)
    }
  }
}
