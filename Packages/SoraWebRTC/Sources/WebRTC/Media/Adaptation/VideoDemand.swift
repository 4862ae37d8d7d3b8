package import SoraCodecs
import SoraSimulcast

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// How many bits per second a video needs to look right, by codec, size and rate.
///
/// A power law through the figures that libwebrtc starts a stream of a size with (`GetDefaultSinglecastBitrateLimits`:
/// for VP8 300 kbit/s at 360p, 500 at 540p, 900 at 720p; half to two thirds of that for VP9 and AV1).
package enum VideoDemand {
  /// VP8 at 1280×720 and 30 frames per second.
  private static let reference = 900_000.0
  /// Four times the pixels need less than three times the bits.
  private static let exponent = 0.75
  /// What a frame needs of the bits however seldom it comes: the rarer it is, the more has changed.
  private static let fixedShare = 0.25

  package static func bitsPerSecond(
    _ kind: VideoCodecKind, width: Int, height: Int, framesPerSecond: Double
  ) -> Double {
    let size = pow(Double(width * height) / (1_280 * 720), exponent)
    let rate = fixedShare + (1 - fixedShare) * min(max(framesPerSecond, 1), 120) / 30
    return reference * Double(kind.bitratePercent) / 100 * size * rate
  }

  /// More than this shows no difference to most eyes: what libwebrtc stops at for one stream of a size when nobody
  /// says otherwise.
  package static func sensibleMaximum(width: Int, height: Int) -> Int {
    switch width * height {
    case ...(320 * 240): 600_000
    case ...(640 * 480): 1_700_000
    case ...(960 * 540): 2_000_000
    case ...(1280 * 720): 2_500_000
    default: 5_000_000
    }
  }
}
