import SoraMedia
import SoraView

/// A Y4M file that gets pictures with their times, made when the first comes. After `init` used on the recorder's queue alone.
final class FilmFile: @unchecked Sendable {
  // @unchecked: see above.
  private let path: String
  private let framesPerSecond: Double
  private var writer: Y4MWriter?
  private var timeline: RecordTimeline
  private var fitter: PictureFitter?
  /// The newest picture: how long it stays is known when the next one comes.
  private var latest: (picture: PixelBuffer, colorSpace: VideoColorSpace)?
  private(set) var framesRepeated = 0
  private(set) var picturesBetween = 0

  var frames: Int { writer?.framesWritten ?? 0 }
  var secondsCut: Double { timeline.cut.inSeconds }

  init(path: String, framesPerSecond: Double) {
    self.path = path
    self.framesPerSecond = framesPerSecond
    timeline = RecordTimeline(framesPerSecond: framesPerSecond)
  }

  func add(_ frame: RawVideoFrame) throws {
    let writer = try self.writer ?? Y4MWriter(path: path, framesPerSecond: framesPerSecond)
    self.writer = writer
    if let places = timeline.advance(to: frame.timestamp), let latest {
      for _ in 0..<places { try writer.write(latest.picture, colorSpace: latest.colorSpace) }
      framesRepeated += max(0, places - 1)
      if places == 0 { picturesBetween += 1 }
    }
    // All of a film has the size of its first picture.
    let fitter =
      fitter ?? PictureFitter(width: frame.buffer.width, height: frame.buffer.height)
    self.fitter = fitter
    latest = (try fitter.fit(frame.buffer), frame.colorSpace)
  }

  func close() throws {
    if let latest { try writer?.write(latest.picture, colorSpace: latest.colorSpace) }
    latest = nil
    try writer?.flush()
  }
}
