package import SoraCodecs
import SoraMedia
import Testing

// Several spatial layers in one stream.
extension CodecUnderTest {
  /// Modes of each kind of dependency.
  package static let spatialModes = ["L2T1", "L2T3_KEY", "L3T3_KEY", "S2T1", "S3T3", "L3T3"]
    .compactMap { ScalabilityMode($0) }

  private func frames(_ mode: ScalabilityMode, _ width: Int, _ height: Int, count: Int, keyAt: Int)
    throws -> [EncodedFrame]
  {
    let encoder = try encoder(width, height, bits: 3_000_000, mode: mode)
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

  package func everyLayerCanBeTheHighestThatIsReceived(_ mode: ScalabilityMode) throws {
    let (width, height) = (640, 360)
    let frames = try frames(mode, width, height, count: 24, keyAt: 10)
    for spatial in 0..<mode.spatialLayers {
      for temporal in 0..<mode.temporalLayers {
        let decoder = try self.decoder()
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

  package func descriptionsTellWhatAFrameNeeds(_ mode: ScalabilityMode) throws {
    let frames = try frames(mode, 320, 180, count: 24, keyAt: 10)
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

  /// - Parameter roundsDown: whether the encoder makes odd sizes even where it has spatial layers.
  package func oddSizesOfSpatialLayers(roundsDown: Bool) throws {
    let mask = roundsDown ? ~1 : ~0
    for (width, height) in [(321, 181), (130, 98), (64, 64)] {
      let frames = try frames(ScalabilityMode("L3T3_KEY")!, width, height, count: 6, keyAt: 0)
      let decoder = try self.decoder()
      for frame in frames {
        let decoded = try #require(try decoder.decode(frame))
        #expect(decoded.width == width & mask && decoded.height == height & mask)
        #expect(frame.width == decoded.width && frame.height == decoded.height)
      }
    }
  }

  package func layersFollowSizesAndRates() throws {
    let encoder = try encoder(
      VideoEncoderSettings(
        width: 640, height: 360, targetBitsPerSecond: 1_500_000,
        scalabilityMode: ScalabilityMode("L2T3_KEY")!))
    let decoder = try self.decoder()
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
