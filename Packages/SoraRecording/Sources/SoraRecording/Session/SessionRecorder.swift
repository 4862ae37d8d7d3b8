import Dispatch
import Foundation
public import SoraMedia
import Synchronization

/// Records all streams of a channel: a file each, and one JSON about them. Safe from any thread.
///
/// `sink(of:)` is what a stream's frames go to; streams come and go. Frames are handed over to a queue, where files are opened and
/// found, and each file is written on a queue of its own: who hands them over waits for no disk. A file that fails ends by itself, with
/// one call of `onFailure`, and the others go on.
///
/// Files are named after channel, connection and time, the JSON after channel and session. A stream's file is WebM, or MP4 for H.264 and
/// H.265, where the settings name no container.
public final class SessionRecorder: @unchecked Sendable {
  // @unchecked: what changes is touched on `queue` alone, but for what a mutex holds.

  private let folder: RecordingFolder
  private let settings: SessionSettings
  private let queue = DispatchQueue(label: "sora.recording.session", qos: .utility)
  private var streams: [String: RecordedStream] = [:]
  private var report: RecordingReport
  /// Of the JSON; nil before the first file.
  private var reportPath: String?
  /// When the JSON may be written next, and whether it will be.
  private var nextReport = DispatchTime(uptimeNanoseconds: 0)
  private var isReportDue = false
  private let reportsWritten = Atomic(0)
  private var isEnded = false
  private let closing = DispatchGroup()
  private let failure = Mutex<(@Sendable (MediaFileError) -> Void)?>(nil)

  /// - Parameters:
  ///   - folder: where files go.
  ///   - channelID: a part of their names.
  ///   - settings: how files are made, and what the JSON says.
  public init(
    in folder: RecordingFolder, channelID: String, settings: SessionSettings = SessionSettings()
  ) {
    self.folder = folder
    self.settings = settings
    report = RecordingReport(channelId: channelID, createdAt: Date())
    report.sessionId = settings.sessionID
    report.recordingId = settings.recordingID
    report.metadata = settings.metadata
  }

  /// Called for each file that ends early or can't be created, and where the JSON can't be written; on a queue of the recorder's. A part
  /// that can't be created is missing, and the next one is tried in its time.
  public var onFailure: (@Sendable (MediaFileError) -> Void)? {
    get { failure.withLock { $0 } }
    set { failure.withLock { $0 = newValue } }
  }

  /// How often the JSON was written.
  package var reportCount: Int { reportsWritten.load(ordering: .relaxed) }

  // MARK: Frames

  /// What a stream's frames are to be given to: `stream.addEncodedFrameSink(recorder.sink(connectionID: stream.streamId))`. It records
  /// the tracks that it is added to.
  ///
  /// - Parameters:
  ///   - connectionID: whose the stream is; a part of the file's name.
  ///   - clientID: for the JSON; nil where it is that of the connection.
  public func sink(connectionID: String, clientID: String? = nil) -> any EncodedFrameSink {
    Sink(
      recorder: self, source: RecordedSource(connectionID: connectionID, clientID: clientID))
  }

  /// Takes a frame; returns at once. The first one of a connection begins its file.
  ///
  /// - Parameters:
  ///   - frame: of the connection's video or audio.
  ///   - source: the connection.
  ///   - requestKeyFrame: asks for a key frame of the connection, from any thread.
  public func receive(
    _ frame: EncodedTrackFrame, of source: RecordedSource,
    requestKeyFrame: (@Sendable () -> Void)? = nil
  ) {
    queue.async { [self] in
      guard !isEnded else { return }
      let isNew = streams[source.connectionID] == nil
      let stream = stream(of: source)
      if isNew, source.hasVideo, let requestKeyFrame { stream.setKeyFrameRequest(requestKeyFrame) }
      switch stream.prepare(for: frame) {
      case .none: break
      case .open(let whole, _):
        stream.begin(
          whole: whole ? makeFile(of: stream, number: nil) : nil,
          part: settings.splitDuration == nil ? nil : makeFile(of: stream, number: 1))
      case .split(let old):
        if let old { close(old) }
        stream.begin(whole: nil, part: makeFile(of: stream, number: stream.parts + 1))
      }
      stream.write(frame)
    }
  }

  private func attached(
    to kind: MediaKind, of source: RecordedSource,
    requestKeyFrame request: @escaping @Sendable () -> Void
  ) {
    queue.async { [self] in
      if !isEnded { stream(of: source).attach(kind, request) }
    }
  }

  /// A stream is gone: its files end. One of the same name that comes later begins others.
  public func end(connectionID: String) {
    queue.async { [self] in endStream(connectionID) }
  }

  /// Ends all files and the JSON, and then calls `completion` with what the JSON says, on the recorder's queue. What comes later is not
  /// recorded.
  public func finish(_ completion: @escaping @Sendable (RecordingReport) -> Void) {
    queue.async { [self] in
      isEnded = true
      for id in Array(streams.keys) { endStream(id) }
      closing.notify(queue: queue) { [self] in
        if report.stoppedAt == nil {
          report.stoppedAt = Date()
          if reportPath != nil { writeReport() }
        }
        completion(report)
      }
    }
  }

  /// Ends all files and the JSON, and waits for them.
  @discardableResult
  public func finish() async -> RecordingReport {
    await withCheckedContinuation { continuation in
      finish { continuation.resume(returning: $0) }
    }
  }

  // MARK: On the queue

  private func stream(of source: RecordedSource) -> RecordedStream {
    if let known = streams[source.connectionID] { return known }
    let made = RecordedStream(source, settings)
    streams[source.connectionID] = made
    return made
  }

  private func makeFile(of stream: RecordedStream, number: Int?) -> RecordedStream.Part? {
    let now = Date()
    let source = stream.source
    var container = settings.container ?? .webm
    if let video = stream.video, !container.holds(video) {
      container = MediaContainer.webm.holds(video) ? .webm : .mp4
    }
    let name = RecordingFolder.fileName(
      [report.channelId, source.connectionID, RecordingFolder.stamp(now)]
        + (number.map { ["part\($0)"] } ?? []))
    let path = folder.freePath(name, ending: container.fileEnding)
    var file = MediaRecorder.Settings()
    file.hasVideo = stream.hasVideo && !stream.lacksPictures
    file.hasAudio = stream.hasAudio
    file.title = report.channelId
    file.container = container
    file.patience = settings.patience
    var archive = RecordingReport.Archive(
      connectionId: source.connectionID, clientId: source.clientID,
      filename: URL(fileURLWithPath: path).lastPathComponent, startTime: now)
    archive.part = number
    archive.videoCodecType = stream.lacksPictures ? nil : stream.video.map { "\($0)" }
    archive.audioCodecType = stream.hasAudio ? "OPUS" : nil
    defer { reportChanged() }
    do throws(MediaFileError) {
      let recorder = try MediaRecorder(path: path, settings: file)
      recorder.onFailure = { [weak self] in self?.onFailure?($0) }
      report.archives.append(archive)
      return RecordedStream.Part(recorder: recorder, archive: report.archives.count - 1)
    } catch {
      archive.stopTime = now
      archive.failure = "\(error)"
      report.archives.append(archive)
      onFailure?(error)
      return nil
    }
  }

  private func endStream(_ id: String) {
    guard let stream = streams.removeValue(forKey: id) else { return }
    // Sound whose pictures never came is worth a file, too.
    if stream.hasWaiting {
      let isWhole = settings.splitDuration == nil || settings.keepsWhole
      let file = makeFile(of: stream, number: isWhole ? nil : 1)
      stream.begin(whole: isWhole ? file : nil, part: isWhole ? nil : file)
    }
    for file in stream.files { close(file) }
  }

  private func close(_ file: RecordedStream.Part) {
    closing.enter()
    file.recorder.finish { [self] outcome in
      queue.async { [self] in
        report.archives[file.archive].end(outcome, at: Date())
        reportChanged()
        closing.leave()
      }
    }
  }

  /// Has the JSON written anew: at once, or where that takes long, as one of many parts does, together with what changes meanwhile.
  private func reportChanged() {
    guard !isReportDue else { return }
    guard DispatchTime.now() < nextReport else { return writeReport() }
    isReportDue = true
    queue.asyncAfter(deadline: nextReport) { [self] in
      // The end has been written by itself.
      if isReportDue, report.stoppedAt == nil { writeReport() }
    }
  }

  /// Writes the JSON anew. It may take a fiftieth of the time: files are opened on this queue, too.
  private func writeReport() {
    let begun = DispatchTime.now()
    defer {
      let spent = DispatchTime.now().uptimeNanoseconds - begun.uptimeNanoseconds
      nextReport = .now() + .nanoseconds(Int(clamping: spent) * 50)
    }
    isReportDue = false
    reportsWritten.add(1, ordering: .relaxed)
    let path =
      reportPath
      ?? folder.freePath(
        RecordingFolder.fileName(
          [report.channelId, settings.sessionID ?? RecordingFolder.stamp(report.createdAt)]
            + (settings.recordingID.map { [$0] } ?? [])),
        ending: "json")
    let isNew = reportPath == nil
    reportPath = path
    do {
      try report.json?.write(to: URL(fileURLWithPath: path), options: .atomic)
    } catch {
      // Said once: a disk that is full stays so for a while.
      let number = ((error as NSError).userInfo[NSUnderlyingErrorKey] as? NSError)?.code
      if isNew || report.stoppedAt != nil {
        onFailure?(
          .system(path: path, operation: "write", errno: Int32(clamping: number ?? Int(EIO))))
      }
    }
  }

  /// One stream's way to the recorder.
  private final class Sink: EncodedFrameSink {
    private let recorder: SessionRecorder
    private let source: RecordedSource

    init(recorder: SessionRecorder, source: RecordedSource) {
      self.recorder = recorder
      self.source = source
    }

    func receive(_ frame: EncodedTrackFrame) { recorder.receive(frame, of: source) }

    func attached(
      to kind: MediaKind, requestKeyFrame request: @escaping @Sendable () -> Void
    ) {
      recorder.attached(to: kind, of: source, requestKeyFrame: request)
    }
  }
}
