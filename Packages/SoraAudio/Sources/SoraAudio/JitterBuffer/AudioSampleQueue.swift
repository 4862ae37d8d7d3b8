/// Decoded audio around the point of playout: what was played lately, for waveform matching, and what comes next.
///
/// Samples are interleaved; counts and offsets are samples of each channel.
struct AudioSampleQueue {
  let channels: Int
  /// Samples of each channel that are kept behind the point of playout.
  static let historyCount = 2_400
  private static let capacity = 24_000

  private var memory: [Int16]
  /// Positions in samples of each channel.
  private var start = historyCount
  private var end = historyCount

  init(channels: Int) {
    self.channels = channels
    memory = [Int16](repeating: 0, count: Self.capacity * channels)
  }

  /// Samples of each channel that wait to be played.
  var count: Int { end - start }

  /// Everything that is kept; the point of playout is at `position`.
  var samples: Span<Int16> {
    @_lifetime(borrow self)
    get { memory.span }
  }

  /// Where in `samples` the point of playout is; up to `historyCount * channels` before it are the past.
  var position: Int { start * channels }

  mutating func reset() {
    start = Self.historyCount
    end = start
    for index in 0..<(start * channels) { memory[index] = 0 }
  }

  /// Appends what `fill` writes: it is lent room for up to `count` samples of each channel and returns how many it
  /// wrote. Returns the same, or 0 with nothing appended if that isn't possible.
  mutating func append(_ count: Int, _ fill: (inout MutableSpan<Int16>) -> Int) -> Int {
    makeRoom(count)
    let available = min(count, Self.capacity - end)
    let range = (end * channels)..<((end + available) * channels)
    let written = lend(range, to: fill)
    guard (1...max(1, available)).contains(written) else { return 0 }
    end += written
    return written
  }

  private mutating func lend(
    _ range: Range<Int>, to fill: (inout MutableSpan<Int16>) -> Int
  ) -> Int {
    var samples = memory.mutableSpan
    var room = samples._mutatingExtracting(range)
    return fill(&room)
  }

  /// Appends silence.
  mutating func appendSilence(_ count: Int) {
    _ = append(count) { room in
      room.update(repeating: 0)
      return count
    }
  }

  /// Plays `count` samples of each channel into `output`.
  mutating func take(_ count: Int, into output: inout MutableSpan<Int16>) {
    let base = position
    let length = count * channels
    start += count
    let samples = memory.span
    for index in 0..<length { output[index] = samples[base + index] }
  }

  /// Fades from `other` to what waits, over `count` samples from `offset` on.
  mutating func fadeIn(at offset: Int, count: Int, from other: [Int16]) {
    let channels = channels
    let base = position + offset * channels
    var samples = memory.mutableSpan
    for index in 0..<(count * channels) {
      samples[base + index] = Self.fade(
        other[index], samples[base + index], index / channels, of: count)
    }
  }

  /// Takes `removed` samples of each channel out of what waits, from `offset` on.
  mutating func remove(_ removed: Int, at offset: Int) {
    let channels = channels
    let from = position + (offset + removed) * channels
    let last = end * channels
    end -= removed
    var samples = memory.mutableSpan
    for index in from..<max(from, last) { samples[index - removed * channels] = samples[index] }
  }

  /// Makes one of the next two periods: the first fades out while the second fades in, in the place of both.
  mutating func removePeriod(_ count: Int) {
    let channels = channels
    let base = position
    let length = count * channels
    let waiting = self.count * channels
    end -= count
    var samples = memory.mutableSpan
    for index in 0..<length {
      samples[base + index] = Self.fade(
        samples[base + index], samples[base + length + index], index / channels, of: count)
    }
    for index in (base + length)..<(base + waiting - length) {
      samples[index] = samples[index + length]
    }
  }

  /// Puts the period before the point of playout in once more. False, with nothing changed, if there is no room.
  mutating func repeatPeriod(_ count: Int) -> Bool {
    makeRoom(count)
    guard end + count <= Self.capacity else { return false }
    let channels = channels
    let base = position
    let length = count * channels
    let waiting = self.count * channels
    end += count
    var samples = memory.mutableSpan
    var index = base + waiting
    while index > base {
      index -= 1
      samples[index + length] = samples[index]
    }
    // The gap is filled with what would have come next, fading into the period before it, so that what really comes
    // next follows smoothly.
    for index in 0..<length {
      samples[base + index] = Self.fade(
        samples[base + length + index], samples[base + index - length], index / channels, of: count)
    }
    return true
  }

  /// Moves everything to the front if `count` more samples wouldn't fit.
  private mutating func makeRoom(_ count: Int) {
    guard end + count > Self.capacity else { return }
    let kept = start - Self.historyCount
    let from = kept * channels
    let length = (end - kept) * channels
    end -= kept
    start -= kept
    var samples = memory.mutableSpan
    for index in 0..<length { samples[index] = samples[from + index] }
  }

  /// Sample `index` of `count` on the way from one signal to another.
  private static func fade(_ old: Int16, _ new: Int16, _ index: Int, of count: Int) -> Int16 {
    let weight = Int32(index) * 256 / Int32(count)
    return Int16(truncatingIfNeeded: (Int32(old) * (256 - weight) + Int32(new) * weight) >> 8)
  }
}
