/// What waits to be played, with the means to stretch it, and to join pieces of the timeline that don't belong together.
///
/// Counts are samples of each channel.
struct PlayoutSamples {
  /// Over so many a jump of the timeline is smoothed: 5 ms.
  private static let mergeCount = 240

  private var queue: AudioSampleQueue
  private var stretcher: TimeStretcher
  /// How what waits would go on, interleaved.
  private var continuation: [Int16]

  init(channels: Int) {
    queue = AudioSampleQueue(channels: channels)
    stretcher = TimeStretcher(channels: channels)
    continuation = [Int16](repeating: 0, count: Self.mergeCount * channels)
  }

  var count: Int { queue.count }

  /// The mean square of the next `count` samples that wait, relative to full scale.
  func level(ofNext count: Int) -> Double {
    let length = min(count, queue.count) * queue.channels
    return AudioLevel.meanSquare(
      queue.samples.extracting(queue.position..<(queue.position + length)))
  }

  mutating func reset() { queue.reset() }

  /// Appends what `fill` writes: see `AudioSampleQueue.append`.
  mutating func append(_ count: Int, _ fill: (inout MutableSpan<Int16>) -> Int) -> Int {
    queue.append(count, fill)
  }

  mutating func appendSilence(_ count: Int) { queue.appendSilence(count) }

  /// Plays `count` samples into `output`.
  mutating func take(_ count: Int, into output: inout MutableSpan<Int16>) {
    queue.take(count, into: &output)
  }

  // MARK: Joining

  /// Works out how what waits would go on, before something else is appended.
  mutating func prepareJoin() {
    stretcher.extrapolate(queue, into: &continuation, count: Self.mergeCount)
  }

  /// Fades from what would have come behind the first `end` samples to what came instead, without the first `skipped` of that.
  mutating func join(at end: Int, skipping skipped: Int = 0) {
    if skipped > 0 { queue.remove(skipped, at: end) }
    let count = min(Self.mergeCount, queue.count - end)
    guard count > 0 else { return }
    queue.fadeIn(at: end, count: count, from: continuation)
  }

  // MARK: Stretching

  /// Takes up to `longest` samples out, where what waits resembles itself by `threshold`. Returns how many.
  mutating func accelerate(longest: Int, threshold: Float) -> Int {
    stretcher.accelerate(&queue, longest: longest, threshold: threshold)
  }

  /// Puts a period in once more, likewise. Returns how many samples that is.
  mutating func expand(threshold: Float) -> Int {
    stretcher.expand(&queue, threshold: threshold)
  }
}
