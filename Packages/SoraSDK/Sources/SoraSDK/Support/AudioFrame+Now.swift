public import SoraMedia

extension AudioFrame {
  /// Samples that were captured now.
  ///
  /// ```swift
  /// import Sora
  ///
  /// /// Sends what a microphone hears: 16-bit samples at 16 kHz, in pieces of any length.
  /// func send(_ microphone: AsyncStream<[Int16]>, to channel: MediaChannel) async {
  ///   for await samples in microphone {
  ///     channel.senderStream?.send(audioFrame: AudioFrame(samples: samples, sampleRate: 16_000))
  ///   }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - samples: signed 16 bits, channels interleaved.
  ///   - sampleRate: samples per second of each channel, 8,000 to 48,000.
  ///   - channels: 1 (mono) or 2 (stereo).
  public init(samples: [Int16], sampleRate: Int = 48_000, channels: Int = 1) {
    self.init(samples: samples, sampleRate: sampleRate, channels: channels, timestamp: .now)
  }
}
