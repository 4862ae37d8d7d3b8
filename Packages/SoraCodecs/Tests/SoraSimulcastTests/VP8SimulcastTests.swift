import CodecTestSupport
import SoraCodecs
import SoraMedia
import SoraScaling
import SoraSimulcast
import SoraVP8
import Testing

/// Three layers by a real encoder, each decoded by itself.
@Suite struct VP8SimulcastTests {
  @Test(arguments: [PixelFormat.i420, .nv12])
  func everyLayerDecodesToItsPicture(_ format: PixelFormat) throws {
    let encoder = SimulcastEncoder(
      .vp8,
      layers: [4.0, 2, 1].map { SimulcastLayerSettings(scaleResolutionDownBy: $0) },
      base: VideoEncoderSettings(
        width: 1, height: 1, targetBitsPerSecond: 3_000_000, cores: 2, allowsFrameDropping: false),
      now: { .zero }
    ) { settings throws(CodecError) in try VP8CodecFactory().makeEncoder(settings) }
    let decoders = try (0..<3).map { _ in try VP8Decoder(VideoDecoderSettings(threads: 1)) }
    let scalers = (0..<3).map { _ in PictureScaler() }
    var worst = [99.0, 99, 99]
    var keyFrames: [[Int]] = []
    for index in 0..<12 {
      var encoded: [SimulcastFrame] = []
      try encoder.encode(
        Pictures.frame(640, 360, index: index, format: format), forceKeyFrame: index == 6,
        rtpTimestamp: UInt32(index)
      ) { encoded.append($0) }
      #expect(encoded.map(\.layer) == [0, 1, 2])
      keyFrames.append(encoded.filter(\.frame.isKeyFrame).map(\.layer))
      for layer in encoded {
        let picture = try #require(try decoders[layer.layer].decode(layer.frame))
        let source = try scalers[layer.layer].scale(
          Pictures.make(640, 360, index: index), width: picture.width, height: picture.height)
        worst[layer.layer] = min(worst[layer.layer], Pictures.psnr(source, picture.buffer))
      }
    }
    #expect(worst.allSatisfy { $0 > 30 }, "\(worst)")
    #expect(
      keyFrames.enumerated().allSatisfy {
        $0.element == ([0, 6].contains($0.offset) ? [0, 1, 2] : [])
      })
  }

  @Test func aSourceThatChangesItsSizeCostsOneKeyFrame() throws {
    let encoder = SimulcastEncoder(
      .vp8, layers: [SimulcastLayerSettings()],
      base: VideoEncoderSettings(
        width: 1, height: 1, targetBitsPerSecond: 500_000, allowsFrameDropping: false),
      now: { .zero }
    ) { settings throws(CodecError) in try VP8CodecFactory().makeEncoder(settings) }
    var keys: [Bool] = []
    for index in 0..<9 {
      let width = index < 3 ? 160 : index < 6 ? 320 : 96
      try encoder.encode(
        Pictures.frame(width, 90, index: index), forceKeyFrame: false, rtpTimestamp: 0
      ) { keys.append($0.frame.isKeyFrame) }
    }
    #expect(keys == [true, false, false, true, false, false, true, false, false])
  }
}
