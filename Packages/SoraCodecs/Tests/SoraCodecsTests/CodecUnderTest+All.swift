import CodecTestSupport
import SoraAV1
import SoraCodecs
import SoraH264
import SoraH265
import SoraMedia
import SoraNAL
import SoraOpenH264
import SoraVP8
import SoraVP9
import Testing

#if GPL
  import SoraAVCodec
  import SoraX264
  import SoraX265
#endif

// Every codec that these tests are run with. A new one is one more entry.

extension CodecUnderTest {
  /// Each encoder with each decoder of its codec.
  static let all = [vp8, vp9, av1, deepVP9, deepAV1] + h264.flatMap(\.self) + h265
  /// Each encoder once.
  static let encoders = [vp8, vp9, av1] + h264.map { $0[0] } + h265.prefix(1)
  /// Each encoder once, whose streams have words for colours.
  static let probed = [vp9, av1] + h264.map { $0[0] } + h265.prefix(1)
  /// Those whose encoder makes temporal layers.
  static let temporal = all.filter { $0.encoding.capability.scalabilityModes.contains(.l1t3) }
  /// Those whose encoder makes spatial layers.
  static let spatial = [vp9, av1, deepVP9]
  /// Those with 10 bits a sample.
  static let deep = [deepVP9, deepAV1]

  static let vp8: CodecUnderTest = {
    var codec = CodecUnderTest("VP8", VP8CodecFactory())
    // libvpx's own memory is copied from at once: one in use, one being filled.
    codec.pictures = 2
    codec.libraryFiles = ["libvpx.so"]
    return codec
  }()

  static let vp9: CodecUnderTest = {
    var codec = CodecUnderTest("VP9", VP9CodecFactory())
    codec.roundsLayersToEven = true
    codec.libraryFiles = ["libvpx.so"]
    return codec
  }()

  static let av1: CodecUnderTest = {
    var codec = CodecUnderTest("AV1", AV1CodecFactory())
    codec.pictures = 12
    codec.tightSeconds = 8
    codec.libraryFiles = ["libaom.so", "libdav1d.so"]
    return codec
  }()

  /// VP9's profile 2 and AV1 with 10 bits a sample.
  static let deepVP9: CodecUnderTest = vp9.withTenBits("VP9 profile 2")
  static let deepAV1: CodecUnderTest = av1.withTenBits("AV1 of 10 bits")

  private func withTenBits(_ name: String) -> CodecUnderTest {
    var codec = CodecUnderTest(name, encoding: encoding, decoding: decoding)
    codec.bitDepth = 10
    codec.roundsLayersToEven = roundsLayersToEven
    codec.pictures = pictures
    codec.libraryFiles = libraryFiles
    // The libraries are the same as with 8 bits.
    codec.mutations = 1_500
    return codec
  }

  /// For each encoder of H.264, its pairs with the decoders.
  static let h264: [[CodecUnderTest]] = {
    let openH264 = OpenH264CodecFactory()
    var encoders: [(String, any VideoCodecFactory, side: Int, file: String)] = []
    var decoders: [(String, any VideoCodecFactory, files: [String])] = []
    #if GPL
      encoders.append(("x264", X264EncoderFactory(), 2, "libx264.so"))
      decoders.append(
        ("libavcodec", AVCodecDecoderFactory(.h264), ["libavcodec.so", "libavutil.so"]))
    #endif
    // OpenH264 takes nothing that is less than a macroblock.
    encoders.append(("OpenH264", openH264, 16, "libopenh264.so"))
    decoders.append(("OpenH264", openH264, ["libopenh264.so"]))
    return encoders.map { encoder in
      decoders.map { decoder in
        var codec = CodecUnderTest(
          "\(encoder.0) to \(decoder.0)", encoding: encoder.1, decoding: decoder.1)
        codec.roundsToEven = true
        codec.smallestSide = encoder.side
        codec.rareTarget = 500_000
        // Two seconds, and a key frame.
        codec.tightTarget = 20_000
        codec.tightLimit = 12_500
        // H.264 has mutations of its own: of two profiles.
        codec.mutations = 0
        codec.libraryFiles = [encoder.file] + decoder.files
        codec.inspect = { frame in
          let unit = H264AccessUnit(frame.payload.span)
          #expect(unit.isKeyFrame == frame.isKeyFrame)
          // Whoever enters at a key frame finds what it needs to decode it.
          #expect(unit.hasParameterSets == frame.isKeyFrame)
        }
        return codec
      }
    }
  }()

  #if GPL
    static let h265: [CodecUnderTest] = [
      ("libavcodec", AVCodecDecoderFactory(.h265), ["libavcodec.so", "libavutil.so"]),
      ("libde265", DE265DecoderFactory(), ["libde265.so"]),
    ].map { (decoder: (String, any VideoCodecFactory, [String])) in
      var codec = CodecUnderTest(
        "x265 to \(decoder.0)", encoding: X265EncoderFactory(), decoding: decoder.1)
      codec.roundsToEven = true
      // H.265 has no picture below a coding block's size.
      codec.smallestSide = 16
      codec.furtherSizes = [PictureSize(18, 200), PictureSize(33, 31)]
      codec.rateSize = PictureSize(240, 180)
      codec.rateTargets = [500_000, 200_000, 900_000]
      codec.rareTarget = 400_000
      codec.tightTarget = 3_000
      // libavcodec reads on in zeros where a slice ends too early; H.265's own tests say what comes of it.
      codec.noticesTruncation = false
      codec.mutations = 1_200
      codec.headerBytes = 90
      // What the libraries allocate through C++ comes from its runtime.
      codec.libraryFiles = ["libx265.so", "libstdc++.so"] + decoder.2
      codec.inspect = { frame in
        let isKeyFrame = H265StreamInspector.isKeyFrame(frame.payload.span)
        #expect(frame.isKeyFrame == isKeyFrame)
      }
      return codec
    }
  #else
    static let h265: [CodecUnderTest] = []
  #endif
}
