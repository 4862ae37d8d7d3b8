import Foundation
import SoraMedia

/// The files of one connection: one of all, the parts, or both. Confined to the session's queue.
final class RecordedStream {
  /// A file that is written.
  struct Part {
    var recorder: MediaRecorder
    /// Its place in the report.
    var archive: Int
  }

  /// What a stream has done about its files.
  enum Change {
    case none
    /// A file is to begin now, of these frames' codecs.
    case open(whole: Bool, video: MediaCodec?)
    /// A new part is to take the place of this one, or of one that couldn't be created.
    case split(Part?)
  }

  private enum Phase {
    /// Audio that waits until the codec of the pictures is known, and when the first of it came.
    case waiting(since: Instant?, [EncodedTrackFrame])
    case writing
  }

  let source: RecordedSource
  /// The tracks that a sink was added to; nil where the source says what it has.
  private var kinds: Set<MediaKind>?
  private let settings: SessionSettings
  private var phase = Phase.waiting(since: nil, [])
  private(set) var whole: Part?
  private(set) var part: Part?
  /// How many parts there were.
  private(set) var parts = 0
  /// When the present part began, or was to.
  private var partBegun = Instant.zero
  private var requestKeyFrame: (@Sendable () -> Void)?
  private var lastRequest: Instant?
  /// Of the pictures that came last: what the next file holds, whatever this one does.
  private(set) var video: MediaCodec?
  /// When they came.
  private var lastPicture = Instant.zero
  /// Whether the present part began while no pictures came, and has none.
  private(set) var lacksPictures = false

  /// Packets that wait at most: ten seconds of the shortest.
  private static let mostHeld = 4_000
  private static let requestInterval = Duration.seconds(1)
  /// A camera that has given nothing for so long is off: parts end without its key frame.
  private static let silence = Duration.seconds(2)
  /// Picture and sound of one stream may be announced one after the other.
  private static let settling = Duration.seconds(1)

  init(_ source: RecordedSource, _ settings: SessionSettings) {
    self.source = source
    self.settings = settings
  }

  var files: [Part] { [whole, part].compactMap(\.self) }

  var hasVideo: Bool { kinds?.contains(.video) ?? source.hasVideo }
  var hasAudio: Bool { kinds?.contains(.audio) ?? source.hasAudio }

  /// A sink was added to a track.
  func attach(_ kind: MediaKind, _ request: @escaping @Sendable () -> Void) {
    kinds = (kinds ?? []).union([kind])
    for file in files { file.recorder.attached(to: kind, requestKeyFrame: request) }
    if kind == .video { setKeyFrameRequest(request) }
  }

  func setKeyFrameRequest(_ request: @escaping @Sendable () -> Void) {
    requestKeyFrame = request
    // Whoever waits for a first picture gets one soon.
    if files.isEmpty { request() }
  }

  /// How long audio waits.
  private var patience: Duration {
    hasVideo ? settings.patience : kinds == nil ? .zero : Self.settling
  }

  /// Whether files begin, or a part ends, before this frame is written.
  func prepare(for frame: EncodedTrackFrame) -> Change {
    let isVideo = frame.codec.kind == .video
    if isVideo { (video, lastPicture) = (frame.codec, frame.receiveTime) }
    if case .waiting(let since, let held) = phase {
      let start = since ?? frame.receiveTime
      if !isVideo, frame.receiveTime - start < patience, held.count < Self.mostHeld {
        phase = .waiting(since: start, held + [frame])
        return .none
      }
      partBegun = frame.receiveTime
      return .open(whole: settings.splitDuration == nil || settings.keepsWhole, video: video)
    }
    // Pictures that come again are in a part of their own: the one that began without has no place for them.
    guard let split = settings.splitDuration,
      frame.receiveTime - partBegun >= split || isVideo && lacksPictures
    else { return .none }
    let isOff = video != nil && frame.receiveTime - lastPicture >= Self.silence
    guard video == nil || isOff || isVideo && frame.frame.isKeyFrame else {
      if lastRequest.map({ frame.receiveTime - $0 >= Self.requestInterval }) ?? true {
        lastRequest = frame.receiveTime
        requestKeyFrame?()
      }
      return .none
    }
    lacksPictures = isOff
    partBegun = frame.receiveTime
    defer { part = nil }
    return .split(part)
  }

  /// Files begin: what waited goes there first. Either is nil where it can't be created.
  func begin(whole: Part?, part: Part?) {
    let held: [EncodedTrackFrame] = if case .waiting(_, let held) = phase { held } else { [] }
    phase = .writing
    if let whole {
      self.whole = whole
      start(whole)
    }
    if let part {
      self.part = part
      parts += 1
      start(part)
    }
    for frame in held { write(frame) }
  }

  private func start(_ file: Part) {
    guard hasVideo, let requestKeyFrame else { return }
    file.recorder.attached(to: .video, requestKeyFrame: requestKeyFrame)
  }

  /// Gives a frame to the files. One that waits was kept by `prepare`.
  func write(_ frame: EncodedTrackFrame) {
    guard case .writing = phase else { return }
    for file in files { file.recorder.receive(frame) }
  }

  /// What waited for pictures that never came: nil where nothing did.
  var hasWaiting: Bool {
    if case .waiting(_, let held) = phase { !held.isEmpty } else { false }
  }
}
