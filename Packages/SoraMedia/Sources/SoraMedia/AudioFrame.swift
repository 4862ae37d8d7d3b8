/// A block of linear PCM: signed 16-bit samples, channels interleaved.
public struct AudioFrame: Sendable {
  /// Samples, interleaved: `samples[i * channels + c]`. The count is a multiple of `channels`.
  public var samples: [Int16]
  /// Samples a second of each channel: 8,000 to 48,000.
  public var sampleRate: Int
  /// 1 (mono) or 2 (stereo).
  public var channels: Int
  /// When the first sample was captured, or is to be played, on the local monotonic clock.
  public var timestamp: Instant

  public init(samples: [Int16], sampleRate: Int, channels: Int, timestamp: Instant) {
    self.samples = samples
    self.sampleRate = sampleRate
    self.channels = channels
    self.timestamp = timestamp
  }

  /// Samples of each channel.
  public var frameCount: Int { samples.count / max(1, channels) }

  /// How long the block sounds.
  public var duration: Duration {
    .nanoseconds(Int64(frameCount) * 1_000_000_000 / Int64(max(1, sampleRate)))
  }
}
