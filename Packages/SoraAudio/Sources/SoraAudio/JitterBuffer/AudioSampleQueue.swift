/// Decoded audio around the point of playout: what was played lately, for waveform matching, and what comes next.
struct AudioSampleQueue {
  let channels: Int
  /// Samples of each channel that are kept behind the point of playout.
  static let historyCount = 2_400
  private static let capacity = 24_000

  private let memory: UnsafeMutablePointer<Int16>
  /// Positions in samples of each channel.
  private var start = 0
  private var end = 0

  init(channels: Int) {
    self.channels = channels
    memory = .allocate(capacity: Self.capacity * channels)
    memory.initialize(repeating: 0, count: Self.capacity * channels)
    reset()
  }

  func deallocate() { memory.deallocate() }

  /// Samples of each channel that wait to be played.
  var count: Int { end - start }

  /// Interleaved samples from the point of playout on. Negative indices, down to `-historyCount * channels`, are the past.
  var base: UnsafeMutablePointer<Int16> { memory + start * channels }

  mutating func reset() {
    start = Self.historyCount
    end = start
    for index in 0..<(start * channels) { memory[index] = 0 }
  }

  /// Room for `count` more samples of each channel at the end. Call `append` with what was written.
  mutating func room(_ count: Int) -> UnsafeMutableBufferPointer<Int16> {
    if end + count > Self.capacity {
      let kept = start - Self.historyCount
      (memory).update(from: memory + kept * channels, count: (end - kept) * channels)
      end -= kept
      start -= kept
    }
    let available = min(count, Self.capacity - end)
    return UnsafeMutableBufferPointer(
      start: memory + end * channels, count: available * channels)
  }

  mutating func append(_ count: Int) { end += count }

  /// Plays `count` samples of each channel into `output`.
  mutating func take(_ count: Int, into output: UnsafeMutableBufferPointer<Int16>) {
    for index in 0..<(count * channels) { output[index] = base[index] }
    start += count
  }

  /// Drops everything that waits.
  mutating func dropWaiting() { end = start }

  /// Takes `count` samples out behind `offset` samples, closing the gap.
  mutating func remove(_ count: Int, at offset: Int) {
    let target = base + offset * channels
    target.update(from: target + count * channels, count: (self.count - offset - count) * channels)
    end -= count
  }

  /// Opens a gap of `count` samples at the point of playout. False if there is no room.
  mutating func insertGap(_ count: Int) -> Bool {
    guard room(count).count == count * channels else { return false }
    (base + count * channels).update(from: base, count: self.count * channels)
    end += count
    return true
  }
}
