/// The loudness of one source in a mix. A change is spread over one block, so that it doesn't click.
public struct AudioGain: Sendable, Hashable {
  /// 0 (silent) to 10 (ten times as loud); 1 leaves the samples alone.
  public var volume: Double {
    get { Double(target) }
    set { target = newValue.isFinite ? Float(min(max(newValue, 0), 10)) : 1 }
  }

  fileprivate var target: Float = 1
  fileprivate var current: Float = 1

  public init(volume: Double = 1) {
    self.volume = volume
    current = target
  }
}

/// Adds up sources, block by block, and keeps the sum within 16 bits without the rasp of clipping.
///
/// For each block: `begin`, `add` each source, `finish`. Confined to one thread; allocates nothing after the first block.
public final class AudioMixer {
  /// Channels of the mix, interleaved: 1 or 2.
  public let channels: Int

  /// Where the limiter sets in: 0.5 dB below full scale.
  private static let ceiling: Float = 30_935
  /// What is given back of a limited block's gain by the end of the next: about 6 dB in 100 ms.
  private static let release: Float = 1.07

  private var sum: [Float] = []
  private var frames = 0
  private var limit: Float = 1

  public init(channels: Int = 2) {
    self.channels = min(max(channels, 1), 2)
  }

  /// Starts a block of `frameCount` samples of each channel.
  public func begin(frameCount: Int) {
    frames = max(0, frameCount)
    let count = frames * channels
    if sum.count < count { sum = [Float](repeating: 0, count: count) }
    sum.withUnsafeMutableBufferPointer { sum in
      for index in 0..<count { sum[index] = 0 }
    }
  }

  /// Adds a source of 1 or 2 interleaved channels; samples beyond the block are ignored.
  public func add(
    _ samples: UnsafeBufferPointer<Int16>, channels sourceChannels: Int, gain: inout AudioGain
  ) {
    let count = min(frames, samples.count / max(1, sourceChannels))
    guard count > 0, (1...2).contains(sourceChannels) else { return }
    let step = (gain.target - gain.current) / Float(count)
    var level = gain.current
    let channels = channels
    sum.withUnsafeMutableBufferPointer { sum in
      for index in 0..<count {
        level += step
        switch (sourceChannels, channels) {
        case (1, 1): sum[index] += Float(samples[index]) * level
        case (1, _):
          let value = Float(samples[index]) * level
          sum[2 * index] += value
          sum[2 * index + 1] += value
        case (_, 1):
          sum[index] += (Float(samples[2 * index]) + Float(samples[2 * index + 1])) / 2 * level
        default:
          sum[2 * index] += Float(samples[2 * index]) * level
          sum[2 * index + 1] += Float(samples[2 * index + 1]) * level
        }
      }
    }
    gain.current = gain.target
  }

  /// Writes the block: `frameCount * channels` samples, or as many as `output` takes.
  public func finish(into output: UnsafeMutableBufferPointer<Int16>) {
    let count = min(frames * channels, output.count)
    guard count > 0 else { return }
    let from = limit
    sum.withUnsafeBufferPointer { sum in
      var peak: Float = 0
      for index in 0..<count { peak = max(peak, abs(sum[index])) }
      let needed = peak > Self.ceiling ? Self.ceiling / peak : 1
      let to = min(needed, from * Self.release, 1)
      // Down at once (over 1 ms), up over the whole block.
      let ramp = to < from ? min(48, count / channels) : count / channels
      let step = (to - from) / Float(max(1, ramp))
      for index in 0..<count {
        let position = index / channels
        let level = position < ramp ? from + step * Float(position + 1) : to
        output[index] = Int16(min(max((sum[index] * level).rounded(), -32_768), 32_767))
      }
      limit = to
    }
  }
}
