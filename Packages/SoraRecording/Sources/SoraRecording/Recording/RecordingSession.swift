import Foundation
import SoraMedia

/// The file of a `MediaRecorder` from its first frame to its end. Confined to the recorder's queue.
final class RecordingSession {
  private typealias Timed = TimedFrame

  /// The tracks of the file that is written, by their index in it.
  private struct Open {
    var video: Int?
    var audio: Int?
    /// The file's beginning.
    var origin: Instant
  }

  private enum Phase {
    /// Audio that waits for the first picture, and when the first of it came.
    case waiting(since: Instant?, [Timed])
    case writing(Open)
    case ended
  }

  /// What came of the frames that reached the queue.
  private(set) var written = RecordingOutcome()
  /// A damaged frame was left out: pictures go on with a key frame.
  private(set) var needsKeyFrame = false
  private let writer: MediaFileWriter
  private let settings: RecordingSettings
  private var phase = Phase.waiting(since: nil, [])
  private var reordering = AudioReordering()
  private var timeline = MediaTimeline(clockRates: [
    VideoCodecFormat.clockRate, MediaCodec.opus.clockRate,
  ])

  init(writer: MediaFileWriter, settings: RecordingSettings) {
    self.writer = writer
    self.settings = settings
  }

  /// Does something with the file, or counts it where that has failed before. After a failure the file's end is written as far
  /// as can be.
  func attempt(_ body: (RecordingSession) throws(MediaFileError) -> Void) {
    do throws(MediaFileError) {
      try body(self)
    } catch {
      written.failure = error
      phase = .ended
      try? writer.finish()
    }
    written.byteCount = writer.byteCount
  }

  /// The frames of this kind come from another source from now on.
  func restart(_ kind: MediaKind) {
    timeline.restart(track: kind == .video ? 0 : 1)
  }

  func write(_ frame: EncodedTrackFrame) throws(MediaFileError) {
    let isVideo = frame.codec.kind == .video
    var timed = Timed(
      frame: frame, time: timeline.time(of: frame, track: isVideo ? 0 : 1))
    guard !isVideo else { return try take(timed) }
    // It is heard when a player decodes it, and that is to be in step with the pictures.
    timed.time = timed.time - OpusTime.decodingDelay
    if !reordering.insert(timed) { written.framesNotTaken += 1 }
    while let next = reordering.takeDue() { try take(next) }
  }

  private func take(_ timed: Timed) throws(MediaFileError) {
    let frame = timed.frame
    let isVideo = frame.codec.kind == .video
    switch phase {
    case .waiting(let since, let held):
      guard isVideo || settings.hasVideo else { return try begin(with: held + [timed]) }
      if isVideo { return try begin(with: held + [timed], video: frame) }
      let start = since ?? frame.receiveTime
      if frame.receiveTime - start > settings.patience {
        return try begin(with: held + [timed])
      }
      phase = .waiting(since: start, held + [timed])
    case .writing(let open): try write(timed, open)
    case .ended: written.framesNotTaken += 1
    }
  }

  func finish() throws(MediaFileError) {
    while let last = reordering.takeFirst() { try take(last) }
    if case .waiting(_, let held) = phase, !held.isEmpty { try begin(with: held) }
    phase = .ended
    do throws(MediaFileError) {
      try writer.finish()
    } catch .invalidFrame {
      written.framesDamaged += 1
    }
  }

  /// Writes the file's head and the frames that are there.
  private func begin(with frames: [Timed], video: EncodedTrackFrame? = nil) throws(MediaFileError) {
    // Audio that is still put in order belongs to the beginning, too.
    var open = Open(
      origin: frames.reduce(reordering.firstTime ?? .distantFuture) { min($0, $1.time) })
    if let video, case .video(let kind) = video.codec {
      guard let parameters = VideoTrackParameters(keyFrame: video.frame, codec: kind) else {
        // Without its parameter sets nobody can decode it; another key frame may bring them.
        written.framesNotTaken += 1
        return
      }
      open.video = try writer.addVideoTrack(parameters)
      written.video = parameters
    }
    if settings.hasAudio || video == nil { open.audio = try writer.addOpusTrack() }
    // The first frame was captured so long ago, or a little longer.
    let newest = frames.reduce(.zero) { max($0, $1.time) }
    try writer.start(
      MediaFileWriter.Description(
        title: settings.title,
        started: Date(timeIntervalSinceNow: -(newest - open.origin).inSeconds)))
    phase = .writing(open)
    for frame in frames { try write(frame, open) }
  }

  private func write(_ timed: Timed, _ open: Open) throws(MediaFileError) {
    let codec = timed.frame.codec
    let isVideo = codec.kind == .video
    guard let track = isVideo ? open.video : open.audio else {
      written.framesNotTaken += 1
      return
    }
    // What was captured before the file begins isn't pressed into its first moments: sound would stay behind by as much.
    guard timed.time >= open.origin else {
      written.framesNotTaken += 1
      return
    }
    if isVideo {
      if timed.frame.frame.isKeyFrame { needsKeyFrame = false }
      guard !needsKeyFrame else {
        written.framesDamaged += 1
        return
      }
      try follow(timed.frame)
    }
    let time = timed.time - open.origin
    do throws(MediaFileError) {
      try writer.write(timed.frame.frame, track: track, at: time)
    } catch .invalidFrame {
      written.framesDamaged += 1
      // Opus packets are written as they are: it was a picture.
      needsKeyFrame = true
      return
    }
    written.duration = max(written.duration, time)
    if isVideo { written.videoFrames += 1 } else { written.audioFrames += 1 }
  }

  /// Notes what a key frame says of the track.
  private func follow(_ frame: EncodedTrackFrame) throws(MediaFileError) {
    guard let known = written.video, case .video(let kind) = frame.codec else { return }
    guard kind == known.codec else {
      throw .codecChanged(path: writer.path, from: .video(known.codec), to: frame.codec)
    }
    guard frame.frame.isKeyFrame,
      let new = VideoTrackParameters(keyFrame: frame.frame, codec: kind), new != known
    else { return }
    if new.width != known.width || new.height != known.height { written.sizeChanges += 1 }
    written.video = new
  }
}
