import Dispatch
import SoraClock
public import SoraMedia

/// Gives a file's encoded frames at their times, on the machine's clock: what a camera and a microphone would give.
///
/// One video and one audio track are played, the first of each whose codec is one of ours. Safe from any thread; frames and events
/// come on a queue of the player's own. Nothing is decoded.
public final class MediaFilePlayer: @unchecked Sendable {
  // @unchecked: what changes is touched on `queue` alone.

  public enum Event: Sendable {
    /// The file is over, and doesn't loop. `seek` plays it again.
    case ended
    /// The file can't be read on: playing has ended.
    case failed(MediaFileError)
  }

  public let path: String
  /// Everything that is in the file.
  public let tracks: [MediaFileReader.Track]
  /// The track that is played; nil where there is none that can be.
  public let video: MediaFileReader.Track?
  public let audio: MediaFileReader.Track?
  /// nil if unknown.
  public let duration: Duration?

  /// What lies longer behind isn't made up for: the machine slept, or the disk did.
  private static let longestDelay = Duration.seconds(1)

  private let queue = DispatchQueue(label: "sora.file.play", qos: .userInitiated)
  private let sequence: MediaFileSequence
  private var deliver: (@Sendable (EncodedFrame, MediaCodec) -> Void)?
  private var notify: (@Sendable (Event) -> Void)?
  private var next: MediaFileSequence.Item?
  /// When playing began, moved on by pauses; nil while nothing is played.
  private var origin: Instant?
  /// How far playing was when it was paused.
  private var pausedAt = Duration.zero
  private var hasEnded = false
  /// Counts what was changed, so that a wake-up of before is known.
  private var generation = 0

  /// Opens a file; nothing is played yet.
  ///
  /// - Parameters:
  ///   - path: of the file.
  ///   - kinds: what is to be played of it.
  ///   - loops: whether it begins anew at its end.
  /// - Throws: `MediaFileError`, `noTrack` among them, where no track of these kinds has a codec of ours.
  public init(
    path: String, kinds: Set<MediaKind> = [.video, .audio], loops: Bool = false
  ) throws(MediaFileError) {
    let reader = try MediaFileReader(path: path)
    let picture = kinds.contains(.video) ? reader.firstTrack(.video) : nil
    let sound = kinds.contains(.audio) ? reader.firstTrack(.audio) : nil
    guard picture != nil || sound != nil else {
      throw .noTrack(
        path: path, wanted: kinds,
        found: reader.tracks.filter { $0.kind.map(kinds.contains) ?? false }.map(\.codecName))
    }
    self.path = path
    tracks = reader.tracks
    video = picture.map { reader.tracks[$0] }
    audio = sound.map { reader.tracks[$0] }
    duration = reader.duration
    sequence = MediaFileSequence(reader: reader, video: picture, audio: sound, loops: loops)
  }

  /// Plays from the beginning, or from where `seek` said.
  ///
  /// - Parameters:
  ///   - start: when the first frame is due, on the monotonic clock; nil for now.
  ///   - deliver: takes each frame when it is due, on the player's queue. Its timestamp is when it was due, for audio and video by one
  ///     clock.
  ///   - notify: told of the end, on the player's queue.
  public func start(
    at start: Instant? = nil, deliver: @escaping @Sendable (EncodedFrame, MediaCodec) -> Void,
    notify: @escaping @Sendable (Event) -> Void = { _ in }
  ) {
    queue.async { [self] in
      guard self.deliver == nil else { return }
      self.deliver = deliver
      self.notify = notify
      origin = start ?? SystemClock.now
      run()
    }
  }

  /// Stands still until `resume`.
  public func pause() {
    queue.async { [self] in
      guard let origin else { return }
      pausedAt = SystemClock.now - origin
      self.origin = nil
      generation += 1
    }
  }

  /// Goes on where `pause` left off.
  public func resume() {
    queue.async { [self] in
      guard origin == nil, deliver != nil else { return }
      origin = SystemClock.now - pausedAt
      run()
    }
  }

  /// Goes on at the last key frame at or before a time of the file, at once where it is playing or has ended.
  public func seek(to position: Duration) {
    queue.async { [self] in
      let elapsed = origin.map { SystemClock.now - $0 } ?? pausedAt
      do throws(MediaFileError) {
        try sequence.seek(to: position, at: elapsed)
        next = nil
        hasEnded = false
        run()
      } catch {
        end(.failed(error))
      }
    }
  }

  /// Ends playing, and returns when the last frame was given. Not to be called from `deliver` or `notify`.
  public func stop() {
    queue.sync {
      generation += 1
      origin = nil
      deliver = nil
      notify = nil
    }
  }

  /// Whether the file begins anew at its end.
  public var loops: Bool {
    get { queue.sync { sequence.loops } }
    set { queue.async { self.sequence.loops = newValue } }
  }

  /// Where in the file playing is.
  public var position: Duration { queue.sync { sequence.position } }
  /// How often the file began anew.
  public var rounds: Int { queue.sync { sequence.rounds } }

  // MARK: On the queue

  /// Gives what is due, and comes back for what isn't yet.
  private func run() {
    generation += 1
    while let origin, let deliver, !hasEnded {
      do throws(MediaFileError) {
        if next == nil { next = try sequence.next() }
      } catch {
        return end(.failed(error))
      }
      guard let item = next else { return end(.ended) }
      let due = origin + item.time
      let now = SystemClock.now
      if due > now { return wake(after: due - now) }
      if now - due > Self.longestDelay { self.origin = now - item.time }
      next = nil
      var frame = item.frame.frame
      frame.timestamp = (self.origin ?? origin) + item.time
      // Frames in another order than they are shown in keep their distance (B frames).
      frame.timestamp += item.frame.time - item.latest
      deliver(frame, item.codec)
    }
  }

  private func wake(after wait: Duration) {
    let expected = generation
    queue.asyncAfter(deadline: .now() + .nanoseconds(Int(wait.wholeNanoseconds))) { [weak self] in
      guard let self, self.generation == expected else { return }
      self.run()
    }
  }

  private func end(_ event: Event) {
    hasEnded = true
    notify?(event)
  }
}
