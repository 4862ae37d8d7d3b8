import SoraAudio
import SoraMedia

/// A WAV file that gets blocks of sound with their times, made when the first comes. After `init` used on the recorder's queue alone.
final class SoundFile: @unchecked Sendable {
  // @unchecked: see above.
  private let path: String
  private var writer: WAVWriter?
  /// When the file's first sample sounded.
  private var origin: Instant?

  /// Blocks come as punctually as their thread; a smaller gap isn't one.
  private static let tolerance = Duration.milliseconds(200)

  var seconds: Double { writer.map { Double($0.frameCount) / Double($0.sampleRate) } ?? 0 }

  init(path: String) { self.path = path }

  func add(_ block: AudioFrame) throws {
    let writer =
      try self.writer
      ?? WAVWriter(path: path, sampleRate: block.sampleRate, channels: block.channels)
    self.writer = writer
    guard writer.sampleRate == block.sampleRate else {
      throw JobError(
        "the sound changed from \(writer.sampleRate) to \(block.sampleRate) Hz; record again")
    }
    try fillGap(before: block.timestamp, in: writer)
    let samples = block.samples(channels: writer.channels)
    try writer.write(samples.span)
  }

  func close() throws { try writer?.close() }

  /// Silence from the end of the file to `time`.
  private func fillGap(before time: Instant, in writer: WAVWriter) throws {
    let origin = self.origin ?? time
    self.origin = origin
    let end = origin + .seconds(seconds)
    guard time - end > Self.tolerance else { return }
    let gap = min(time - end, RecordTimeline.longestGap)
    self.origin = origin + (time - end - gap)
    let frames = Int((gap.inSeconds * Double(writer.sampleRate)).rounded())
    let silence = [Int16](repeating: 0, count: frames * writer.channels)
    try writer.write(silence.span)
  }
}

extension AudioFrame {
  /// The samples in so many channels: doubled, or their mean.
  fileprivate func samples(channels wanted: Int) -> [Int16] {
    switch (channels, wanted) {
    case (1, 2): samples.flatMap { [$0, $0] }
    case (2, 1):
      stride(from: 0, to: samples.count - 1, by: 2).map {
        Int16((Int(samples[$0]) + Int(samples[$0 + 1])) / 2)
      }
    default: samples
    }
  }
}
