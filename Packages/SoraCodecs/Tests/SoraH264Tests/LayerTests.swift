import CodecTestSupport
import SoraCodecs
import SoraMedia
import SoraNAL
import SoraOpenH264
import Testing

@Suite struct LayerTests {
  private func stream(_ mode: ScalabilityMode, keyAt: Int = 10) throws -> [EncodedFrame] {
    let encoder = try OpenH264CodecFactory().makeEncoder(
      VideoEncoderSettings(
        width: 320, height: 180, targetBitsPerSecond: 2_000_000, scalabilityMode: mode,
        allowsFrameDropping: false))
    return try (0..<32).map { index in
      try #require(
        try encoder.encode(
          Pictures.frame(320, 180, index: index), forceKeyFrame: index == keyAt, rtpTimestamp: 0))
    }
  }

  @Test(arguments: [ScalabilityMode.l1t1, .l1t2, .l1t3])
  func framesSayWhetherOthersReferToThem(_ mode: ScalabilityMode) throws {
    for frame in try stream(mode) {
      #expect(frame.layers.temporalLayerCount == mode.temporalLayers)
      let unit = H264AccessUnit(frame.payload.span)
      #expect(frame.layers.isReferenced == unit.isReference)
    }
  }
}
