import Dispatch
import Foundation
public import SoraMedia
import Synchronization

/// Writes what a stream's tracks receive to a WebM, Matroska or MP4 file, without decoding or encoding it. Safe from any thread.
///
/// Add it to a receiver or a stream, `addEncodedFrameSink(_:)`, and call `finish()` at the end. The work is done on a queue of the
/// recorder's own. The file begins when the first key frame is there, which is asked for; a loss leaves a gap in time, and
/// pictures go on where a decoder can. A process that is killed leaves a file that plays, up to about a second before.
///
/// The first error ends the file as well as can be: `outcome` and `onFailure` tell it once, and what comes later is dropped and
/// counted.
public final class MediaRecorder: EncodedFrameSink {
  public typealias Settings = RecordingSettings
  public typealias Outcome = RecordingOutcome

  fileprivate struct Shared {
    var waitingBytes = 0
    /// Video that comes is of no use before a key frame: something was dropped.
    var needsKeyFrame = true
    var isEnded = false
    var lastRequest: Instant?
    var onFailure: (@Sendable (MediaFileError) -> Void)?
    var requestKeyFrame: (@Sendable () -> Void)?
    /// What was dropped before it came to the queue, and what the queue did.
    var dropped = Outcome()
    var written = Outcome()
  }

  public let path: String
  private let settings: Settings
  private let queue = DispatchQueue(label: "sora.recording", qos: .utility)
  private let shared = Mutex(Shared())
  private let session: QueueConfined<RecordingSession>

  private static let isInside = DispatchSpecificKey<ObjectIdentifier>()
  /// How long an answer to a request for a key frame is waited for.
  fileprivate static let requestInterval = Duration.seconds(1)

  /// Creates the file. One that is there keeps what is in it until something is recorded; a new one in which nothing is goes at the end.
  ///
  /// - Parameters:
  ///   - path: where it lies; its ending chooses the container.
  ///   - settings: what is recorded.
  /// - Throws: where the ending is none of a container's, the file can't be created, or libavformat is missing.
  public init(path: String, settings: Settings = Settings()) throws(MediaFileError) {
    self.path = path
    self.settings = settings
    let writer = try MediaFileWriter(path: path, container: settings.container)
    session = QueueConfined(RecordingSession(writer: writer, settings: settings))
    queue.setSpecific(key: Self.isInside, value: ObjectIdentifier(self))
  }

  /// Loads libavformat, which takes some milliseconds, before the first file is opened.
  public static func prepare() throws(MediaFileError) { try AVFormatLibrary.load() }

  /// What was recorded so far.
  public var outcome: Outcome { shared.withLock { $0.outcome } }

  /// Called once, on the recorder's queue, where the file ends early. `finish` may be called there.
  public var onFailure: (@Sendable (MediaFileError) -> Void)? {
    get { shared.withLock { $0.onFailure } }
    set { shared.withLock { $0.onFailure = newValue } }
  }

  // MARK: Frames

  /// Goes on with another source of this kind, in the same track: its pictures begin with a key frame, which is asked for.
  public func attached(to kind: MediaKind, requestKeyFrame request: @escaping @Sendable () -> Void)
  {
    queue.async { [session] in session.value.restart(kind) }
    guard kind == .video else { return }
    shared.withLock { shared in
      shared.requestKeyFrame = request
      shared.needsKeyFrame = true
    }
    request()
  }

  /// Takes a frame; returns at once. From any thread, in the order of each track.
  public func receive(_ frame: EncodedTrackFrame) {
    let (takes, request) = shared.withLock { shared in shared.take(frame, settings) }
    request?()
    guard takes else { return }
    queue.async { [self] in
      attempt { session throws(MediaFileError) in try session.write(frame) }
      shared.withLock { $0.waitingBytes -= frame.frame.payload.count }
    }
  }

  /// Says that pictures are missing before the next one, which is why it can't be decoded: video goes on with a key frame. A sink
  /// of a received track needn't be told; its frames can all be decoded.
  public func noteLoss() {
    let request = shared.withLock { shared -> (@Sendable () -> Void)? in
      shared.needsKeyFrame = true
      return shared.requestKeyFrame
    }
    request?()
  }

  /// Writes what is waiting and the file's end. Waits for the disk. Called on the recorder's queue, from `onFailure` for instance, it ends
  /// the file at once: frames that wait are counted as not taken.
  ///
  /// - Returns: what was recorded; the same again where it was called before.
  @discardableResult
  public func finish() -> Outcome {
    shared.withLock { $0.isEnded = true }
    let isInside = DispatchQueue.getSpecific(key: Self.isInside) == ObjectIdentifier(self)
    return isInside ? end() : queue.sync { end() }
  }

  /// Writes what is waiting and the file's end, and then calls `completion` with what was recorded, on the recorder's queue.
  public func finish(_ completion: @escaping @Sendable (Outcome) -> Void) {
    shared.withLock { $0.isEnded = true }
    queue.async { completion(self.end()) }
  }

  private func end() -> Outcome {
    attempt { session throws(MediaFileError) in try session.finish() }
    return outcome
  }

  /// Does something with the file on the queue, and tells what came of it.
  private func attempt(_ body: (RecordingSession) throws(MediaFileError) -> Void) {
    let session = session.value
    let hadFailed = session.written.failure != nil
    let neededKeyFrame = session.needsKeyFrame
    session.attempt(body)
    if session.needsKeyFrame, !neededKeyFrame { noteLoss() }
    let failure = hadFailed ? nil : session.written.failure
    let tell = shared.withLock { shared in
      shared.written = session.written
      return shared.onFailure
    }
    if let failure { tell?(failure) }
  }
}

extension MediaRecorder.Shared {
  fileprivate var outcome: MediaRecorder.Outcome {
    var all = written
    all.framesWithoutKeyFrame += dropped.framesWithoutKeyFrame
    all.framesTooMany += dropped.framesTooMany
    all.framesNotTaken += dropped.framesNotTaken
    return all
  }

  /// Whether a frame goes to the queue, and whom to ask for a key frame.
  fileprivate mutating func take(_ frame: EncodedTrackFrame, _ settings: MediaRecorder.Settings)
    -> (Bool, (@Sendable () -> Void)?)
  {
    let size = frame.frame.payload.count
    guard !isEnded, written.failure == nil else {
      dropped.framesNotTaken += 1
      return (false, nil)
    }
    let isVideo = frame.codec.kind == .video
    guard waitingBytes + size <= settings.maximumBacklog else {
      dropped.framesTooMany += 1
      if isVideo { needsKeyFrame = true }
      return (false, nil)
    }
    if isVideo {
      guard frame.frame.isKeyFrame || !needsKeyFrame else {
        dropped.framesWithoutKeyFrame += 1
        return (false, keyFrameRequest(at: frame.receiveTime))
      }
      needsKeyFrame = false
    }
    waitingBytes += size
    return (true, nil)
  }

  private mutating func keyFrameRequest(at now: Instant) -> (@Sendable () -> Void)? {
    if let lastRequest, now - lastRequest < MediaRecorder.requestInterval { return nil }
    lastRequest = now
    return requestKeyFrame
  }
}

/// A value that one serial queue touches.
private struct QueueConfined<Value>: @unchecked Sendable {
  // @unchecked: `MediaRecorder` reads it on its queue alone.
  let value: Value

  init(_ value: Value) { self.value = value }
}
