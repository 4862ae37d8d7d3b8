import Dispatch
import Foundation
import Logging
import SoraMedia
import SoraRecording

/// Records what connections publish: a file each, and a JSON for each session. Safe from any thread.
///
/// Frames are handed over to a queue, where files are opened and found; each file is written on a queue of its own. Nothing here
/// holds up forwarding.
final class ServerRecordings: @unchecked Sendable {
  // @unchecked: `recordings` and `reports` are touched on `queue` alone.

  private struct Recording {
    var recorder: MediaRecorder
    var reportName: String
    var archive: Int
  }

  private struct Session {
    var report: RecordingReport
    /// Its channel has no connections any more.
    var isOver = false
  }

  private let folder: String
  private let logger: Logger
  private let requestKeyFrame: @Sendable (_ connectionID: String) -> Void
  private let queue = DispatchQueue(label: "sora.server.recordings", qos: .utility)
  /// By connection; nil for those whose file can't be created.
  private var recordings: [String: Recording?] = [:]
  /// By the name of their JSON.
  private var sessions: [String: Session] = [:]
  private let closing = DispatchGroup()

  /// - Parameters:
  ///   - folder: where files go; made where it isn't there.
  ///   - requestKeyFrame: asks a connection's publisher for a key frame, from any thread.
  /// - Throws: where nothing can be written there, or libavformat is missing.
  init(
    folder: String, logger: Logger, requestKeyFrame: @escaping @Sendable (String) -> Void
  ) throws(MediaFileError) {
    try MediaRecorder.prepare()
    try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    guard unsafe access(folder, W_OK | X_OK) == 0 else {
      throw .system(path: folder, operation: "write files in", errno: errno)
    }
    self.folder = folder
    self.logger = logger
    self.requestKeyFrame = requestKeyFrame
  }

  /// Takes a frame; returns at once.
  func take(_ frame: EncodedTrackFrame, of publisher: SFUPublisher) {
    queue.async { [self] in
      if recordings[publisher.connectionID] == nil { open(publisher) }
      recordings[publisher.connectionID]??.recorder.receive(frame)
    }
  }

  /// A connection is gone: its file ends.
  func end(connectionID: String) {
    queue.async { [self] in close(connectionID) }
  }

  /// The last connection of a channel is gone, and its session with it.
  func endSession(channelID: String) {
    queue.async { [self] in
      for (name, session) in sessions where session.report.channelId == channelID {
        sessions[name]?.isOver = true
        forgetIfOver(name)
      }
    }
  }

  /// Ends all files, and waits for them.
  func finish() async {
    await withCheckedContinuation { continuation in
      queue.async { [self] in
        for id in Array(recordings.keys) { close(id) }
        closing.notify(queue: queue) { continuation.resume() }
      }
    }
  }

  // MARK: On the queue

  private func open(_ publisher: SFUPublisher) {
    let now = Date()
    let name = publisher.fileName(at: now)
    var settings = MediaRecorder.Settings()
    settings.hasVideo = publisher.videoCodec != nil
    settings.hasAudio = publisher.audioCodec != nil
    settings.title = publisher.channelID
    var report =
      sessions[publisher.reportName]?.report
      ?? RecordingReport(
        channelId: publisher.channelID, sessionId: publisher.sessionID, createdAt: now)
    report.archives.append(
      RecordingReport.Archive(
        connectionId: publisher.connectionID, clientId: publisher.clientID, filename: name,
        startTime: now, videoCodecType: publisher.videoCodec,
        audioCodecType: publisher.audioCodec?.uppercased()))
    let archive = report.archives.count - 1
    do throws(MediaFileError) {
      let recorder = try MediaRecorder(path: "\(folder)/\(name)", settings: settings)
      recorder.onFailure = { [logger] error in
        logger.error("a recording ended early", metadata: ["error": "\(error)"])
      }
      let id = publisher.connectionID
      if settings.hasVideo {
        recorder.attached(to: .video) { [requestKeyFrame] in requestKeyFrame(id) }
      }
      recordings[id] = Recording(
        recorder: recorder, reportName: publisher.reportName, archive: archive)
    } catch {
      logger.error("nothing is recorded", metadata: ["error": "\(error)"])
      recordings[publisher.connectionID] = .some(nil)
      report.archives[archive].stopTime = now
      report.archives[archive].failure = "\(error)"
    }
    sessions[publisher.reportName] = Session(report: report)
    write(publisher.reportName)
  }

  private func close(_ connectionID: String) {
    guard case let recording?? = recordings.removeValue(forKey: connectionID) else { return }
    closing.enter()
    recording.recorder.finish { [self] outcome in
      queue.async { [self] in
        sessions[recording.reportName]?.report.archives[recording.archive]
          .end(outcome, at: Date())
        write(recording.reportName)
        forgetIfOver(recording.reportName)
        closing.leave()
      }
    }
  }

  /// Writes a session's JSON anew.
  private func write(_ name: String) {
    guard let data = sessions[name]?.report.json else { return }
    do {
      try data.write(to: URL(fileURLWithPath: "\(folder)/\(name)"), options: .atomic)
    } catch {
      logger.error("a session's JSON can't be written", metadata: ["error": "\(error)"])
    }
  }

  /// What is over is in its JSON.
  private func forgetIfOver(_ name: String) {
    guard let session = sessions[name], session.isOver,
      session.report.archives.allSatisfy({ $0.stopTime != nil })
    else { return }
    sessions[name] = nil
  }
}
