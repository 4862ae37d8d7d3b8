import SoraMedia

/// What was decoded of a file's frames and isn't due yet. Confined to one thread at a time.
final class DecodedMedia {
  /// What is given, but for the time on the machine's clock.
  enum Content {
    case picture(PixelBuffer, VideoRotation)
    case sound([Int16], channels: Int)
  }

  /// Samples are given in blocks of 20 ms: a frame of some codecs is longer than anybody may have to wait for.
  private static let blockFrames = 960
  private static let sampleRate = 48_000
  /// Times of sound that are so close to what the samples themselves say are a container's rounding; nanoseconds.
  private static let tolerance = 30_000_000 as UInt64

  /// The lengths that containers give are as exact as this; nanoseconds.
  private static let rounding = 2_000_000 as Int64

  private struct Track {
    var decoder: MediaFileDecoder
    /// Between the file's time and the time that is told.
    var offset = Duration.zero
    /// Where the next sound begins if it follows what was there.
    var soundEnd: Duration?
  }

  private let reader: MediaFileReader
  private var tracks: [Int: Track] = [:]
  /// By time; the first is due first.
  private var waiting: [(time: Duration, content: Content)] = []

  /// - Parameter indices: of the tracks that are decoded.
  init(_ reader: MediaFileReader, tracks indices: [Int]) throws(MediaFileError) {
    self.reader = reader
    for index in indices {
      tracks[index] = Track(decoder: try MediaFileDecoder(reader, track: index))
    }
  }

  /// When the first is due, since playing began; nil where nothing waits.
  var nextTime: Duration? { waiting.first?.time }

  /// The first, and when it is due.
  func take() -> (time: Duration, content: Content)? {
    waiting.isEmpty ? nil : waiting.removeFirst()
  }

  /// Decodes a frame of one of the tracks.
  func decode(_ item: MediaFileSequence.Item) throws(MediaFileError) {
    guard var track = tracks[item.frame.track] else { return }
    let offset = item.time - item.latest
    if track.offset != offset {
      // The file has begun anew.
      try finish(&track)
      track.offset = offset
      track.soundEnd = nil
    }
    var outputs: [MediaFileDecoder.Output] = []
    try track.decoder.decode(item.frame) { outputs.append($0) }
    let frame = item.frame
    let end = frame.isTimed ? frame.duration.map { $0 + .nanoseconds(frame.fileTime) } : nil
    for output in outputs { add(output, to: &track, otherwise: item.latest, until: end) }
    tracks[item.frame.track] = track
  }

  /// Decodes what is left, at the end of the file.
  func finish() throws(MediaFileError) {
    for index in tracks.keys {
      guard var track = tracks[index] else { continue }
      try finish(&track)
      tracks[index] = track
    }
  }

  /// Forgets all, to go on elsewhere in the file.
  func reset() {
    waiting = []
    for index in tracks.keys {
      tracks[index]?.decoder.reset()
      tracks[index]?.soundEnd = nil
    }
  }

  private func finish(_ track: inout Track) throws(MediaFileError) {
    var outputs: [MediaFileDecoder.Output] = []
    try track.decoder.finish { outputs.append($0) }
    let last = waiting.last.map { $0.time - track.offset } ?? .zero
    for output in outputs { add(output, to: &track, otherwise: last, until: nil) }
  }

  /// - Parameters:
  ///   - latest: the file's time, where the output has none of its own.
  ///   - end: where the file says that sound ends: the last frame of some codecs is filled with silence. nil if unknown.
  private func add(
    _ output: MediaFileDecoder.Output, to track: inout Track, otherwise latest: Duration,
    until end: Duration?
  ) {
    switch output {
    case .picture(let picture, let rotation, let time):
      insert(.picture(picture, rotation), at: (time ?? latest) + track.offset)
    case .sound(let samples, let channels, let time):
      var start = time ?? track.soundEnd ?? latest
      if let end = track.soundEnd, (start - end).wholeNanoseconds.magnitude <= Self.tolerance {
        start = end
      }
      var frames = samples.count / channels
      if let end, (start + Self.length(frames) - end).wholeNanoseconds > Self.rounding {
        frames = min(frames, max(0, Self.frames(in: end - start)))
      }
      track.soundEnd = start + Self.length(frames)
      // Sound of before the beginning is what the encoder put there to get going.
      var first = start < .zero ? min(frames, Self.frames(in: .zero - start)) : 0
      while first < frames {
        let count = min(Self.blockFrames, frames - first)
        insert(
          .sound(
            Array(samples[first * channels..<(first + count) * channels]), channels: channels),
          at: start + Self.length(first) + track.offset)
        first += count
      }
    }
  }

  private func insert(_ content: Content, at time: Duration) {
    let place = waiting.lastIndex { $0.time <= time }.map { $0 + 1 } ?? 0
    waiting.insert((time, content), at: place)
  }

  private static func length(_ frames: Int) -> Duration {
    .nanoseconds(Int64(frames) * 1_000_000_000 / Int64(sampleRate))
  }

  /// A file may say any time: what is more than 53 hours away counts as so far.
  private static func frames(in time: Duration) -> Int {
    let most = Int64.max / Int64(sampleRate)
    return Int(
      min(max(time.wholeNanoseconds, -most), most) * Int64(sampleRate) / 1_000_000_000)
  }
}
