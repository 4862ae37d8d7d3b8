import Foundation
package import SoraMedia
import SoraRecording
import Synchronization

/// Pictures and sound to publish from a file: as they are in it where they have one of our codecs, and otherwise decoded. Numbered
/// pictures are a film, too.
package final class FilmInput: VideoFeed {
  package let resolution: Resolution
  package let framesPerSecond: Double
  package let codec: VideoCodecKind?
  /// The film's sound; nil where it isn't wanted, or there is none that can be played.
  package let sound: FilmSound?
  /// What is in the film and isn't sent; one line. nil where all is.
  package let warning: String?

  private struct State {
    var counters = VideoFeedCounters()
    var isOver = false
  }
  private let player: MediaFilePlayer
  private let state = Mutex(State())

  /// Whether an argument can name such a file: it has an ending, or is a path.
  static func isName(_ text: String) -> Bool {
    !text.contains(":") && (text.contains("/") || !URL(fileURLWithPath: text).pathExtension.isEmpty)
  }

  /// Opens a film; nothing is played yet.
  ///
  /// - Parameters:
  ///   - option: the one that names the film, for errors.
  ///   - kinds: what is wanted of it. Video is there, then; sound may be missing.
  ///   - framesPerSecond: of pictures whose files have no times; nil for 25.
  package init(
    _ path: String, option: String, kinds: Set<MediaKind>, loops: Bool,
    framesPerSecond: Double? = nil
  ) throws(UsageError) {
    do throws(MediaFileError) {
      player = try MediaFilePlayer(
        path: path, kinds: kinds, loops: loops, framesPerSecond: framesPerSecond)
      if kinds.contains(.video), player.video == nil {
        throw .noTrack(
          path: path, wanted: [.video],
          found: player.tracks.filter { $0.kind == .video }.map(\.codecName))
      }
    } catch {
      throw UsageError("\(option) \(error)")
    }
    resolution = Resolution(width: player.video?.width ?? 0, height: player.video?.height ?? 0)
    self.framesPerSecond = min(max(player.video?.framesPerSecond ?? 30, 1), 240)
    if case .video(let kind)? = player.video?.codec { codec = kind } else { codec = nil }
    sound = player.audio.map { FilmSound(isEncoded: $0.codec != nil) }
    let others = player.tracks.filter { $0.kind == .audio }.map(\.codecName)
    warning =
      kinds.contains(.audio) && sound == nil && !others.isEmpty
      ? "\(path): its sound is \(others[0]), which libavcodec can't decode, and isn't sent" : nil
  }

  package var counters: VideoFeedCounters { state.withLock { $0.counters } }
  package var isOver: Bool { state.withLock { $0.isOver } }

  /// Starts the film, pictures and sound.
  package func start(at start: Instant, publish: @escaping @Sendable (PublishedPicture) -> Void) {
    player.start(at: start) { [self] content in
      switch content {
      case .encoded(let frame, .video(let kind)):
        state.withLock { $0.counters.frames += 1 }
        publish(.encoded(frame, kind))
      case .picture(let frame):
        state.withLock { $0.counters.frames += 1 }
        publish(.raw(frame))
      case .encoded(let packet, .opus): sound?.publish(.packet(packet))
      case .sound(let block): sound?.publish(.raw(block))
      }
    } notify: { [self] event in
      state.withLock { state in
        switch event {
        case .ended: state.isOver = true
        case .failed(let error): state.counters.failure = "\(error)".inOneLine
        }
      }
      sound?.end()
    }
  }

  package func stop() { player.stop() }
}

/// The sound of a `FilmInput`, which comes when the film is started.
package final class FilmSound: AudioFeed {
  private let state = Mutex((publish: (@Sendable (PublishedSound) -> Void)?.none, isOver: false))

  package let failure: String? = nil
  package let warning: String? = nil
  package let isEncoded: Bool
  package var isOver: Bool { state.withLock { $0.isOver } }

  fileprivate init(isEncoded: Bool) { self.isEncoded = isEncoded }

  /// Has sound given to `publish` on the film's thread.
  package func start(at _: Instant, publish: @escaping @Sendable (PublishedSound) -> Void) {
    state.withLock { $0.publish = publish }
  }

  package func stop() { state.withLock { $0.publish = nil } }

  fileprivate func publish(_ sound: PublishedSound) { state.withLock { $0.publish }?(sound) }

  fileprivate func end() { state.withLock { $0.isOver = true } }
}
