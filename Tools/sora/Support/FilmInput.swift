import Foundation
package import SoraMedia
import SoraRecording
import Synchronization

/// Pictures and sound to publish from a file of encoded frames, as they are in it.
package final class FilmInput: VideoFeed {
  package let resolution: Resolution
  /// What a film has, as far as can be told before it is played.
  package let framesPerSecond: Double = 30
  package let codec: VideoCodecKind?
  /// The film's sound; nil where it isn't wanted, or there is none that can be sent.
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
  package init(_ path: String, option: String, kinds: Set<MediaKind>, loops: Bool)
    throws(UsageError)
  {
    do throws(MediaFileError) {
      var kinds = kinds
      if kinds.contains(.video) {
        // Its error is the one to tell where there is none.
        let player = try MediaFilePlayer(path: path, kinds: [.video])
        if player.tracks.contains(where: { $0.codec == .opus }) == false { kinds.remove(.audio) }
      }
      player = try MediaFilePlayer(path: path, kinds: kinds, loops: loops)
    } catch {
      throw UsageError("\(option) \(error)")
    }
    resolution = Resolution(width: player.video?.width ?? 0, height: player.video?.height ?? 0)
    if case .video(let kind)? = player.video?.codec { codec = kind } else { codec = nil }
    sound = player.audio == nil ? nil : FilmSound()
    let others = player.tracks.filter { $0.kind == .audio && $0.codec == nil }.map(\.codecName)
    warning =
      sound == nil && !others.isEmpty
      ? "\(path): its sound is \(others[0]) and isn't sent; only Opus is" : nil
  }

  package var counters: VideoFeedCounters { state.withLock { $0.counters } }
  package var isOver: Bool { state.withLock { $0.isOver } }

  /// Starts the film, pictures and sound.
  package func start(at start: Instant, publish: @escaping @Sendable (PublishedPicture) -> Void) {
    player.start(at: start) { [self] frame, codec in
      switch codec {
      case .video(let kind):
        state.withLock { $0.counters.frames += 1 }
        publish(.encoded(frame, kind))
      case .opus: sound?.publish(frame)
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
  package var isOver: Bool { state.withLock { $0.isOver } }

  /// Has sound given to `publish` on the film's thread.
  package func start(at _: Instant, publish: @escaping @Sendable (PublishedSound) -> Void) {
    state.withLock { $0.publish = publish }
  }

  package func stop() { state.withLock { $0.publish = nil } }

  fileprivate func publish(_ packet: EncodedFrame) {
    state.withLock { $0.publish }?(.packet(packet))
  }

  fileprivate func end() { state.withLock { $0.isOver = true } }
}
