import SoraCodecs
import SoraMedia

/// A few small pictures as an encoder makes them: the seeds of decoders and of what inspects their streams.
enum SmallStream {
  /// A key frame and two delta frames of 32x32; none where there is no encoder.
  static func frames(
    _ makeEncoder: (VideoEncoderSettings) throws(CodecError) -> any VideoEncoder
  ) -> [[UInt8]] {
    guard
      let encoder = try? makeEncoder(
        VideoEncoderSettings(
          width: 32, height: 32, targetBitsPerSecond: 100_000, threads: 1,
          allowsFrameDropping: false))
    else { return [] }
    return (0..<3).compactMap { index in
      let picture = PixelBuffer(width: 32, height: 32) { planes in
        for plane in planes {
          for y in 0..<plane.height {
            let row = plane.row(y)
            for x in 0..<plane.width {
              row[x] = UInt8(truncatingIfNeeded: x &* 7 &+ y &* 5 &+ index &* 11)
            }
          }
        }
      }
      let frame = RawVideoFrame(
        buffer: picture, timestamp: Instant(nanoseconds: Int64(index) * 33_000_000))
      let encoded = try? encoder.encode(
        frame, forceKeyFrame: index == 0, rtpTimestamp: UInt32(index) * 3_000)
      return encoded.map { Array($0.payload.bytes) }
    }
  }

  /// Scripts of what an encoder makes.
  static func scripts(
    _ makeEncoder: (VideoEncoderSettings) throws(CodecError) -> any VideoEncoder
  ) -> [[UInt8]] {
    scripts(frames(makeEncoder))
  }

  /// Scripts for a decoder: the whole stream, and the key frame alone.
  static func scripts(_ frames: [[UInt8]]) -> [[UInt8]] {
    [frames, Array(frames.prefix(1))].map { frames in
      var script = ScriptWriter()
      for frame in frames { script.chunk(frame) }
      return script.bytes
    }
  }
}
