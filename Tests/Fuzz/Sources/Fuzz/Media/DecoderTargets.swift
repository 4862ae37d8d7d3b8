import SoraAV1
import SoraAVCodec
import SoraCodecs
import SoraDE265
import SoraMedia
import SoraOpenH264
import SoraVP8
import SoraVP9

// Decoders: what is ours around the libraries, which aren't instrumented, but for their use of memory.
extension FuzzTarget {
  static var vp8Decoder: FuzzTarget {
    let seeds: () -> [[UInt8]] = {
      SmallStream.scripts { settings throws(CodecError) in
        try VP8CodecFactory().makeEncoder(settings)
      }
    }
    return decoder("vp8-decoder", seeds: seeds()) { settings throws(CodecError) in
      try VP8Decoder(settings)
    }
  }

  static var vp9Decoder: FuzzTarget {
    let seeds: () -> [[UInt8]] = {
      SmallStream.scripts { settings throws(CodecError) in
        try VP9CodecFactory().makeEncoder(settings)
      }
    }
    return decoder("vp9-decoder", seeds: seeds()) { settings throws(CodecError) in
      try VP9Decoder(settings)
    }
  }

  static var av1Decoder: FuzzTarget {
    let seeds: () -> [[UInt8]] = {
      SmallStream.scripts { settings throws(CodecError) in
        try AV1CodecFactory().makeEncoder(settings)
      }
    }
    return decoder("av1-decoder", seeds: seeds()) { settings throws(CodecError) in
      try AV1Decoder(settings)
    }
  }

  static var h264Decoder: FuzzTarget {
    decoder("h264-decoder", seeds: SmallStream.scripts(h264Frames)) {
      settings throws(CodecError) in try OpenH264Decoder(settings)
    }
  }

  static var h264AVCodecDecoder: FuzzTarget {
    decoder("h264-avcodec-decoder", seeds: SmallStream.scripts(h264Frames)) {
      settings throws(CodecError) in try AVCodecDecoder(.h264, settings)
    }
  }

  static var h265Decoder: FuzzTarget {
    decoder("h265-decoder", maximumLength: 2048, seeds: h265Seeds()) {
      settings throws(CodecError) in try DE265Decoder(settings)
    }
  }

  static var h265AVCodecDecoder: FuzzTarget {
    decoder("h265-avcodec-decoder", maximumLength: 2048, seeds: h265Seeds()) {
      settings throws(CodecError) in try AVCodecDecoder(.h265, settings)
    }
  }

  /// The input is a row of frames, each with its length.
  private static func decoder(
    _ name: String, maximumLength: Int = 4096, seeds: @autoclosure @escaping () -> [[UInt8]],
    _ make: @escaping (VideoDecoderSettings) throws(CodecError) -> any VideoDecoder
  ) -> FuzzTarget {
    FuzzTarget(name, maximumLength: maximumLength, seeds: seeds()) { bytes in
      var input = FuzzInput(bytes)
      let limit = 256 * 256
      guard let decoder = try? make(VideoDecoderSettings(threads: 1, maximumPixels: limit)) else {
        return check(false, "no decoder")
      }
      for _ in 0..<8 where !input.isAtEnd {
        let frame = Self.frame(input.chunk())
        guard let picture = try? decoder.decode(frame) else { continue }
        check(picture.width * picture.height <= limit, "a picture beyond the limit")
        // The last byte of each plane is the one that would be missing.
        for index in 0..<3 {
          let plane = picture.buffer.plane(index)
          _ = plane.row(plane.height - 1)[plane.width - 1]
        }
      }
    }
  }
}
