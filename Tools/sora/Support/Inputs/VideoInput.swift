import SoraCapture
import SoraClock
package import SoraMedia
import Synchronization

/// Pictures to publish, at a steady rate on a thread of its own: the test pattern, or a file that starts again at its end.
package final class VideoInput: RawVideoFeed {
  package let resolution: Resolution
  package let framesPerSecond: Double
  private let makePictures: @Sendable () throws -> any Pictures
  private let state = Mutex(VideoFeedCounters())
  private let thread = Mutex<PacedThread?>(nil)

  /// - Parameters:
  ///   - framesPerSecond: nil for the file's own rate, or 30 for the test pattern.
  ///   - bitDepth: of the test pattern's samples, 8 or 10.
  /// - Returns: nil where no video is wanted, a camera's (`CameraInput`), a screen's (`ScreenInput`) or a film's (`FilmInput`).
  package init?(
    _ choice: VideoChoice, resolution: Resolution, framesPerSecond: Double?, bitDepth: Int = 8
  ) throws(UsageError) {
    switch choice {
    case .none, .camera, .screen, .window, .film: return nil
    case .testPattern:
      self.resolution = resolution
      self.framesPerSecond = framesPerSecond ?? 30
      makePictures = { PatternPictures(resolution, bitDepth: bitDepth) }
    case .file(let path):
      do {
        let reader = try Y4MReader(path: path)
        self.resolution = Resolution(width: reader.width, height: reader.height)
        self.framesPerSecond = framesPerSecond ?? reader.framesPerSecond
        guard (0.1...240).contains(self.framesPerSecond) else {
          throw Y4MError.badFrameRate("\(reader.framesPerSecond)")
        }
      } catch {
        throw UsageError("--video \(path): \(error)")
      }
      makePictures = { try FilePictures(path: path) }
    }
  }

  package var counters: VideoFeedCounters { state.withLock { $0 } }
  /// Whether the input ended by itself: see `counters.failure`.
  package var hasEnded: Bool { thread.withLock { $0?.hasEnded ?? false } }

  /// Starts giving frames to `deliver`, on the input's thread; frame `n` is due at `start + n / framesPerSecond`.
  package func start(at start: Instant, deliver: @escaping @Sendable (RawVideoFrame) -> Void) {
    let period = 1e9 / framesPerSecond
    let due: @Sendable (Int64) -> Instant = { n in
      start + .nanoseconds(Int64((Double(n) * period).rounded()))
    }
    let pictures = Mutex<(any Pictures)?>(nil)
    let made = PacedThread(name: "video input", deadline: due) { [self] turn in
      do {
        let picture = try pictures.withLock { pictures in
          let source = try pictures ?? makePictures()
          pictures = source
          return try source.picture(UInt32(truncatingIfNeeded: turn))
        }
        deliver(
          RawVideoFrame(buffer: picture.buffer, timestamp: due(turn), colorSpace: picture.colors))
      } catch {
        state.withLock { $0.failure = "\(error)".inOneLine }
        return nil
      }
      // A camera would have lost what nobody fetched in time; a little lateness is made up for.
      let behind = Int64(Double((SystemClock.now - due(turn + 1)).wholeNanoseconds) / period)
      let skipped = behind > 2 ? behind : 0
      state.withLock {
        $0.frames += 1
        $0.skipped += Int(skipped)
      }
      return turn + 1 + skipped
    }
    thread.withLock { $0 = made }
  }

  /// Ends the input and waits for its last frame.
  package func stop() { thread.withLock { $0 }?.stop() }
}

/// Where pictures come from. Used by one thread at a time.
private protocol Pictures: AnyObject, Sendable {
  /// Picture `index`, counted from 0; some may be left out.
  func picture(_ index: UInt32) throws -> Picture
}

private struct Picture {
  var buffer: PixelBuffer
  /// nil where nobody says.
  var colors: VideoColorSpace?
}

private final class PatternPictures: Pictures {
  private let pattern: TestPattern

  init(_ resolution: Resolution, bitDepth: Int) {
    pattern = TestPattern(
      width: resolution.width, height: resolution.height, format: bitDepth == 10 ? .i010 : .i420)
  }

  func picture(_ index: UInt32) -> Picture {
    Picture(
      buffer: pattern.frame(
        index: index, milliseconds: UInt32(truncatingIfNeeded: SystemClock.realtimeMilliseconds)))
  }
}

private final class FilePictures: Pictures, @unchecked Sendable {
  // @unchecked: `VideoInput` reaches it through a mutex only.
  private let path: String
  private let reader: Y4MReader

  init(path: String) throws {
    self.path = path
    reader = try Self.naming(path) { () throws(Y4MError) in try Y4MReader(path: path) }
  }

  func picture(_ index: UInt32) throws -> Picture {
    guard let picture = try Self.naming(path, next) else {
      throw UsageError("\(path): the file holds no picture")
    }
    return Picture(buffer: picture, colors: reader.colorSpace)
  }

  /// The next picture, at the end the first; nil where there is none.
  private func next() throws(Y4MError) -> PixelBuffer? {
    if let picture = try reader.next() { return picture }
    reader.rewind()
    return try reader.next()
  }

  /// What is wrong within a file says where, and not in which.
  private static func naming<Value>(
    _ path: String, _ body: () throws(Y4MError) -> Value
  ) throws(UsageError) -> Value {
    do throws(Y4MError) { return try body() } catch { throw UsageError("\(path): \(error)") }
  }
}
