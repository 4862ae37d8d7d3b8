import SoraAudio
import SoraMedia

/// What a video's source gave, frames that are never encoded included (W3C `RTCVideoSourceStats`).
struct VideoSourceStatistics: Sendable {
  private(set) var frames: UInt64 = 0
  /// Of the last frame, in pixels.
  private(set) var width = 0
  private(set) var height = 0
  private var rate = FrameRateMeter()

  var framesPerSecond: Double { frames > 1 ? rate.framesPerSecond : 0 }

  mutating func count(width: Int, height: Int, at time: Instant) {
    frames &+= 1
    self.width = width
    self.height = height
    rate.add(time)
  }
}

/// How loud a sound's source was (W3C `RTCAudioSourceStats`).
struct AudioSourceStatistics: Sendable {
  /// Of the last frame: the root of the mean square, relative to full scale.
  private(set) var level = 0.0
  /// The integral of the squared level, in seconds.
  private(set) var energy = 0.0
  /// In seconds.
  private(set) var duration = 0.0

  /// - Parameter meanSquare: of `seconds` of samples, relative to full scale.
  mutating func count(meanSquare: Double, seconds: Double) {
    level = meanSquare.squareRoot()
    energy += meanSquare * seconds
    duration += seconds
  }
}
