import SoraClock
public import SoraMedia

/// Asks an app for the sound that it sends, when it is due: a synthesizer's, a decoder's, a file's.
///
/// 10 ms at a time by the machine's clock, on a thread of its own. What was late is made up for at once, and what is more than a second
/// late is left out. It ends with its last reference.
public final class AudioPullSource: Sendable {
  /// More lateness than this, in blocks, is let go instead of being made up for.
  private static let maximumBehind: Int64 = 100

  private let thread: PacedThread

  /// Starts asking.
  ///
  /// - Parameters:
  ///   - sampleRate: samples a second of each channel: a multiple of 100 in 8,000...48,000.
  ///   - channels: 1 (mono) or 2 (stereo).
  ///   - start: when the first sample is captured; now by itself. A block is due when its last sample would have been.
  ///   - fill: puts samples in the place of silence, on the thread; false ends the source without them. `position` counts the samples of
  ///     each channel before the block, also those that were left out. The frame's timestamp is that of its first sample.
  ///   - deliver: gets each block, on the thread: `stream.send(audioFrame:)`, `RTCAudioSource.push`.
  /// - Returns: nil where the rate or the number of channels is none of these.
  public init?(
    sampleRate: Int = 48_000, channels: Int = 1, at start: Instant? = nil,
    fill: @escaping @Sendable (_ frame: inout AudioFrame, _ position: Int64) -> Bool,
    deliver: @escaping @Sendable (AudioFrame) -> Void
  ) {
    guard (8_000...48_000).contains(sampleRate), sampleRate % 100 == 0, (1...2).contains(channels)
    else { return nil }
    let count = sampleRate / 100
    let start = start ?? SystemClock.now
    let due: @Sendable (Int64) -> Instant = { start + .milliseconds(($0 + 1) * 10) }
    thread = PacedThread(name: "audio source", deadline: due) { turn in
      var frame = AudioFrame(
        samples: [Int16](repeating: 0, count: count * channels), sampleRate: sampleRate,
        channels: channels, timestamp: due(turn - 1))
      guard fill(&frame, turn * Int64(count)) else { return nil }
      deliver(frame)
      let behind = (SystemClock.now - due(turn + 1)).wholeNanoseconds / 10_000_000
      return turn + 1 + (behind > Self.maximumBehind ? behind : 0)
    }
  }

  /// Whether `fill` has ended it.
  public var hasEnded: Bool { thread.hasEnded }

  /// Ends the source, and waits for its last block unless it is called from there.
  public func stop() { thread.stop() }

  deinit { thread.stop() }
}
