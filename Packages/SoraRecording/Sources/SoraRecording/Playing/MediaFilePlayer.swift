import Dispatch
import SoraClock
public import SoraMedia
import Synchronization

/// Gives a file's frames at their times, on the machine's clock: what a camera and a microphone would give.
///
/// One video and one audio track are played, the first of each whose codec is one of ours, in a profile that calls have: as it is, without
/// decoding it. Where there is none, the first that libavcodec can decode: as pictures and samples. Safe from any thread; frames and
/// events come on a queue of the player's own.
public final class MediaFilePlayer: @unchecked Sendable {
  // @unchecked: what changes is touched on `queue` alone.

  public enum Event: Sendable {
    /// The file is over, and doesn't loop. `seek` and `start` play it again.
    case ended
    /// The file can't be read on: playing has ended.
    case failed(MediaFileError)
  }

  /// What is given. Timestamps say when it was due, for audio and video by one clock.
  public enum Content: Sendable {
    /// Encoded with one of our codecs.
    case encoded(EncodedFrame, MediaCodec)
    /// Decoded: square pixels, limited-range BT.601, of 8 bits a sample, or 10 where the film has more.
    case picture(RawVideoFrame)
    /// Decoded: 20 ms or less, 48 kHz, one channel or two.
    case sound(AudioFrame)
  }

  public let path: String
  /// Everything that is in the file.
  public let tracks: [MediaFileReader.Track]
  /// The track that is played; nil where there is none that can be.
  public let video: MediaFileReader.Track?
  public let audio: MediaFileReader.Track?
  /// nil if unknown.
  public let duration: Duration?

  private struct Receiver {
    var deliver: @Sendable (Content) -> Void
    var notify: @Sendable (Event) -> Void
  }

  /// What anybody may ask at any time, `deliver` too.
  private struct Progress {
    var position = Duration.zero
    var rounds = 0
    var loops: Bool
  }

  private enum Phase {
    /// Nothing is given, before `start` and after `stop`. A `pause` is for the next `start`.
    case stopped(isPaused: Bool)
    /// When playing began, moved on by pauses.
    case playing(since: Instant)
    /// How far playing was.
    case paused(at: Duration)

    var isPaused: Bool {
      switch self {
      case .stopped(let isPaused): isPaused
      case .playing: false
      case .paused: true
      }
    }
  }

  private static let isInside = DispatchSpecificKey<ObjectIdentifier>()
  /// What lies longer behind isn't made up for: the machine slept, or the disk did.
  private static let longestDelay = Duration.seconds(1)

  private let queue = DispatchQueue(label: "sora.file.play", qos: .userInitiated)
  private let progress: Mutex<Progress>
  private let sequence: MediaFileSequence
  private let decoded: DecodedMedia
  private var receiver: Receiver?
  private var next: MediaFileSequence.Item?
  private var phase = Phase.stopped(isPaused: false)
  private var hasEnded = false
  /// Whether the file stands where the next `start` begins.
  private var isRewound = true
  /// Counts what was changed, so that a wake-up of before is known.
  private var generation = 0

  /// Opens a file; nothing is played yet.
  ///
  /// - Parameters:
  ///   - path: of the file, or of numbered pictures, such as `shot-%04d.png`.
  ///   - kinds: what is to be played of it.
  ///   - loops: whether it begins anew at its end.
  ///   - framesPerSecond: of pictures whose files have no times; nil for 25.
  /// - Throws: `MediaFileError`, `noTrack` among them, where no track of these kinds can be played.
  public init(
    path: String, kinds: Set<MediaKind> = [.video, .audio], loops: Bool = false,
    framesPerSecond: Double? = nil
  ) throws(MediaFileError) {
    let reader = try MediaFileReader(path: path, framesPerSecond: framesPerSecond)
    let picture = kinds.contains(.video) ? reader.firstPlayableTrack(.video) : nil
    let sound = kinds.contains(.audio) ? reader.firstPlayableTrack(.audio) : nil
    guard picture != nil || sound != nil else {
      throw .noTrack(
        path: path, wanted: kinds,
        found: reader.tracks.filter { $0.kind.map(kinds.contains) ?? false }.map(\.codecName))
    }
    decoded = try DecodedMedia(
      reader,
      tracks: [picture, sound].compactMap(\.self).filter { reader.tracks[$0].codec == nil })
    if let picture, reader.tracks[picture].codec == nil {
      let (width, height) = (reader.tracks[picture].width, reader.tracks[picture].height)
      guard (16...8192).contains(width), (16...8192).contains(height) else {
        throw .sizeOutOfRange(path: path, width: width, height: height)
      }
    }
    self.path = path
    tracks = reader.tracks
    video = picture.map { reader.tracks[$0] }
    audio = sound.map { reader.tracks[$0] }
    duration = reader.duration
    progress = Mutex(Progress(loops: loops))
    sequence = MediaFileSequence(reader: reader, video: picture, audio: sound, loops: loops)
    queue.setSpecific(key: Self.isInside, value: ObjectIdentifier(self))
  }

  /// Plays from the beginning, or from where `seek` said while nothing was played. Again after `stop`, and once the file is over;
  /// otherwise a second call does nothing. Where `pause` was called before, it stands still until `resume`.
  ///
  /// - Parameters:
  ///   - start: when the first frame is due, on the monotonic clock; nil for now.
  ///   - deliver: takes each frame when it is due, on the player's queue.
  ///   - notify: told of the end, on the player's queue.
  public func start(
    at start: Instant? = nil, deliver: @escaping @Sendable (Content) -> Void,
    notify: @escaping @Sendable (Event) -> Void = { _ in }
  ) {
    queue.async { [self] in
      guard receiver == nil || hasEnded else { return }
      let now = SystemClock.now
      let origin = start ?? now
      phase = phase.isPaused ? .paused(at: now - origin) : .playing(since: origin)
      receiver = Receiver(deliver: deliver, notify: notify)
      do throws(MediaFileError) {
        if !isRewound { try restart(at: .zero) }
        isRewound = false
        run()
      } catch {
        end(.failed(error))
      }
    }
  }

  /// Stands still until `resume`. Before `start`, that one begins with standing still.
  public func pause() {
    queue.async { [self] in
      switch phase {
      case .stopped: phase = .stopped(isPaused: true)
      case .playing(let origin): phase = .paused(at: SystemClock.now - origin)
      case .paused: return
      }
      generation += 1
    }
  }

  /// Goes on where `pause` left off.
  public func resume() {
    queue.async { [self] in
      switch phase {
      case .stopped: phase = .stopped(isPaused: false)
      case .playing: return
      case .paused(let elapsed):
        phase = .playing(since: SystemClock.now - elapsed)
        run()
      }
    }
  }

  /// Goes on at the last key frame at or before a time since the file's beginning: at once where it is playing or has ended.
  public func seek(to position: Duration) {
    queue.async { [self] in
      do throws(MediaFileError) {
        switch phase {
        case .stopped:
          isRewound = false
          try restart(at: position)
          isRewound = true
        case .playing(let origin): try goOn(at: position, after: SystemClock.now - origin)
        case .paused(let elapsed): try goOn(at: position, after: elapsed)
        }
      } catch {
        end(.failed(error))
      }
    }
  }

  /// Ends playing, and returns when the last frame was given: called from `deliver` or `notify`, that is the present one. A `start`
  /// after that begins anew.
  public func stop() {
    guard DispatchQueue.getSpecific(key: Self.isInside) != ObjectIdentifier(self) else {
      return halt()
    }
    queue.sync { halt() }
  }

  /// Whether the file begins anew at its end.
  public var loops: Bool {
    get { progress.withLock { $0.loops } }
    set {
      progress.withLock { $0.loops = newValue }
      queue.async { self.sequence.loops = newValue }
    }
  }

  /// Where playing is, since the file's beginning, whatever time the file says that this is.
  public var position: Duration { progress.withLock { $0.position } }
  /// How often the file began anew.
  public var rounds: Int { progress.withLock { $0.rounds } }

  // MARK: On the queue

  private func halt() {
    generation += 1
    phase = .stopped(isPaused: false)
    receiver = nil
  }

  /// Has the file stand there as if nothing had been played yet.
  private func restart(at position: Duration) throws(MediaFileError) {
    try sequence.restart(at: position)
    forget()
    note()
  }

  private func goOn(at position: Duration, after elapsed: Duration) throws(MediaFileError) {
    try sequence.seek(to: position, at: elapsed)
    forget()
    note()
    run()
  }

  /// Forgets what was read of where the file stood before.
  private func forget() {
    decoded.reset()
    next = nil
    hasEnded = false
  }

  private func note() {
    progress.withLock {
      $0.position = sequence.position
      $0.rounds = sequence.rounds
    }
  }

  /// Gives what is due, and comes back for what isn't yet.
  private func run() {
    generation += 1
    while case .playing(var origin) = phase, let receiver, !hasEnded {
      do throws(MediaFileError) {
        if next == nil, try !advance() { return end(.ended) }
        // What was decoded is given before more is.
        guard let time = [next?.time, decoded.nextTime].compactMap(\.self).min() else { continue }
        let now = SystemClock.now
        if origin + time > now { return wake(after: origin + time - now) }
        if now - origin - time > Self.longestDelay {
          origin = now - time
          phase = .playing(since: origin)
        }
        try give(at: time, since: origin, receiver.deliver)
      } catch {
        return end(.failed(error))
      }
    }
  }

  /// Reads the next frame, or, behind the last, decodes what is left. Returns whether there is anything to give.
  private func advance() throws(MediaFileError) -> Bool {
    next = try sequence.next()
    note()
    if next == nil, decoded.nextTime == nil { try decoded.finish() }
    return next != nil || decoded.nextTime != nil
  }

  private func give(
    at time: Duration, since origin: Instant, _ deliver: (Content) -> Void
  ) throws(MediaFileError) {
    if let first = decoded.nextTime, first <= time, let (_, content) = decoded.take() {
      switch content {
      case .picture(let picture, let rotation):
        deliver(
          .picture(
            RawVideoFrame(
              buffer: picture, timestamp: origin + time, rotation: rotation, colorSpace: .bt601)))
      case .sound(let samples, let channels):
        deliver(
          .sound(
            AudioFrame(
              samples: samples, sampleRate: 48_000, channels: channels, timestamp: origin + time)))
      }
      return
    }
    guard let item = next else { return }
    next = nil
    guard let codec = item.codec else { return try decoded.decode(item) }
    var frame = item.frame.frame
    // Frames in another order than they are shown in keep their distance (B frames).
    frame.timestamp = origin + item.time + (item.frame.time - item.latest)
    deliver(.encoded(frame, codec))
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
    receiver?.notify(event)
  }
}
