import SoraAV1
import SoraCodecs
import SoraMedia
import SoraRecording
import SoraVP8
import SoraVP9

extension FuzzTarget {
  /// What a file's head says of a stream, from its key frame: the first byte chooses the codec.
  static var recordedKeyFrame: FuzzTarget {
    func seeds() -> [[UInt8]] {
      let first: [[UInt8]?] = [
        SmallStream.frames { settings throws(CodecError) in
          try VP8CodecFactory().makeEncoder(settings)
        }.first,
        SmallStream.frames { settings throws(CodecError) in
          try VP9CodecFactory().makeEncoder(settings)
        }.first,
        SmallStream.frames { settings throws(CodecError) in
          try AV1CodecFactory().makeEncoder(settings)
        }.first, h264Frames.first, h265KeyFrames.first,
      ]
      return first.enumerated().map { [UInt8($0)] + ($1 ?? []) }
    }
    return FuzzTarget("recorded-key-frame", maximumLength: 1_024, seeds: seeds()) { input in
      guard let choice = input.first else { return }
      let codecs = VideoCodecKind.allCases
      let buffer = EncodedBuffer(Array(input.dropFirst()))
      guard
        let known = VideoTrackParameters(
          keyFrame: buffer.span, codec: codecs[Int(choice) % codecs.count])
      else { return }
      check((1...65_535).contains(known.width) && (1...65_535).contains(known.height), "no size")
      check(known.parameterSets.count <= 5 * input.count, "more than there is")
      guard known.codec == .h264 || known.codec == .h265 || known.codec == .av1 else { return }
      // What was kept says the same again.
      let again = VideoTrackParameters(
        keyFrame: EncodedBuffer(known.parameterSets).span, codec: known.codec)
      check(again?.width == known.width && again?.height == known.height, "reads back as another")
    }
  }
}
