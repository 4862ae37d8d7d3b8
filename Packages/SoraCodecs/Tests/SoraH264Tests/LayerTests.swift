import CodecTestSupport
import SoraCodecs
import SoraMedia
import SoraNAL
import SoraOpenH264
import Testing

@Suite struct LayerTests {
  private func stream(_ mode: ScalabilityMode, keyAt: Int = 10) throws -> [EncodedFrame] {
    let encoder = try OpenH264Encoder(
      VideoEncoderSettings(
        width: 320, height: 180, targetBitsPerSecond: 2_000_000, scalabilityMode: mode,
        allowsFrameDropping: false))
    return try (0..<32).map { index in
      try #require(
        try encoder.encode(
          Pictures.frame(320, 180, index: index), forceKeyFrame: index == keyAt, rtpTimestamp: 0))
    }
  }

  @Test(arguments: [ScalabilityMode.l1t2, .l1t3], Decoding.allCases)
  func upperTemporalLayersCanBeDropped(_ mode: ScalabilityMode, _ decoding: Decoding) throws {
    let frames = try stream(mode)
    #expect(Set(frames.map(\.temporalLayer)) == Set(0..<mode.temporalLayers))
    #expect(frames[10].isKeyFrame && frames[10].temporalLayer == 0)
    for highest in 0..<mode.temporalLayers {
      let decoder = try decoding.make()
      for (index, frame) in frames.enumerated() where frame.temporalLayer <= highest {
        let decoded = try #require(try decoder.decode(frame))
        #expect(!decoder.isLastFrameCorrupted)
        let psnr = Pictures.psnr(decoded.buffer, Pictures.make(320, 180, index: index))
        #expect(psnr > 30, "\(mode) up to layer \(highest), frame \(index): \(psnr) dB")
      }
    }
  }

  /// A receiver of the base layer may add a layer with the frame that says so.
  @Test(arguments: [ScalabilityMode.l1t2, .l1t3], Decoding.allCases)
  func layersAreEnteredWhereTheySay(_ mode: ScalabilityMode, _ decoding: Decoding) throws {
    let frames = try stream(mode)
    #expect(frames.contains { $0.layers.isLayerSync })
    let decoder = try decoding.make()
    for (index, frame) in frames.enumerated()
    where frame.temporalLayer == 0
      || (frame.temporalLayer == mode.temporalLayers - 1 && frame.layers.isLayerSync)
    {
      let decoded = try #require(try decoder.decode(frame))
      #expect(!decoder.isLastFrameCorrupted)
      let psnr = Pictures.psnr(decoded.buffer, Pictures.make(320, 180, index: index))
      #expect(psnr > 30, "\(mode), frame \(index): \(psnr) dB")
    }
  }

  @Test(arguments: [ScalabilityMode.l1t1, .l1t2, .l1t3])
  func framesSayWhetherOthersReferToThem(_ mode: ScalabilityMode) throws {
    for frame in try stream(mode) {
      #expect(frame.layers.temporalLayerCount == mode.temporalLayers)
      #expect(frame.layers.isReferenced == H264AccessUnit(frame.payload.bytes).isReference)
    }
  }
}
