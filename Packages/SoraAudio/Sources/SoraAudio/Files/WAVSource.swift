/// A WAV file as a source of audio at 48 kHz: resampled, in the number of channels that is wanted, and endless if asked.
///
/// Confined to one thread; reads the file as it goes.
public final class WAVSource {
  public let channels: Int
  public let loops: Bool

  /// How long the file plays.
  public var duration: Duration { .seconds(Double(reader.frameCount) / Double(reader.sampleRate)) }
  /// How long the file plays by its header: longer than `duration` where it was cut. nil where the header doesn't say.
  public var declaredDuration: Duration? {
    reader.declaredFrameCount.map { .seconds(Double($0) / Double(reader.sampleRate)) }
  }

  private let reader: WAVReader
  private let resampler: AudioResampler
  private var block: [Int16]
  /// Samples at 48 kHz in the file's channels that wait to be handed out.
  private var waiting: [Int16] = []
  private var start = 0
  private var isAtEnd = false
  private var rewinds = 0

  /// Opens `path`. Throws `WAVError`.
  public init(path: String, channels: Int = 2, loops: Bool = true) throws(WAVError) {
    reader = try WAVReader(path: path)
    guard reader.frameCount > 0 else { throw .noData }
    guard
      let resampler = AudioResampler(
        inputRate: reader.sampleRate, outputRate: 48_000, channels: reader.channels)
    else { throw .unsupported(field: "sample rate", value: reader.sampleRate) }
    self.resampler = resampler
    self.channels = min(max(channels, 1), 2)
    self.loops = loops
    block = [Int16](repeating: 0, count: 2_048 * reader.channels)
  }

  /// Fills `output` (interleaved) and returns the samples of each channel that it got: fewer only at the end of a file
  /// that doesn't loop. The rest is silence.
  public func read(into output: inout MutableSpan<Int16>) throws(WAVError) -> Int {
    let wanted = output.count / channels
    let width = reader.channels
    while (waiting.count - start) / width < wanted, !isAtEnd { try refill() }
    let count = min(wanted, (waiting.count - start) / width)
    for index in 0..<count {
      let left = waiting[start + index * width]
      let right = width == 2 ? waiting[start + index * width + 1] : left
      if channels == 1 {
        output[index] = Int16(meanOf: left, right)
      } else {
        output[2 * index] = left
        output[2 * index + 1] = right
      }
    }
    for index in (count * channels)..<output.count { output[index] = 0 }
    start += count * width
    return count
  }

  private func refill() throws(WAVError) {
    waiting.removeFirst(start)
    start = 0
    // Taken out of the object while it is lent.
    var block: [Int16] = []
    swap(&block, &self.block)
    defer { self.block = block }
    let count = try Self.read(reader, into: &block)
    if count > 0 {
      rewinds = 0
      resampler.process(block.span.extracting(..<(count * reader.channels)), into: &waiting)
    } else if loops, rewinds < 2 {
      // A file that became empty while it was read must not be rewound for ever.
      rewinds += 1
      reader.seek(toFrame: 0)
    } else {
      resampler.finish(into: &waiting)
      isAtEnd = true
    }
  }

  private static func read(
    _ reader: WAVReader, into block: inout [Int16]
  ) throws(WAVError) -> Int {
    var room = block.mutableSpan
    return try reader.read(into: &room)
  }
}
