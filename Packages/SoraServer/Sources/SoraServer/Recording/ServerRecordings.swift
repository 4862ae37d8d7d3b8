import Dispatch
import Foundation
import Logging
import SoraMedia
import SoraRecording
import Synchronization

/// Records what connections publish: everything, or the channels that somebody asked for. Safe from any thread.
///
/// Each recorded session has a `SessionRecorder`, which does its work on queues of its own: nothing here holds up forwarding.
final class ServerRecordings: Sendable {
  /// A recording that the API began.
  struct Started: Sendable, Hashable {
    var recordingID: String
    var channelID: String
    var sessionID: String
    var createdAt: Date

    /// The same for the core.
    var recording: SFURecording {
      SFURecording(
        recordingID: recordingID, channelID: channelID, sessionID: sessionID,
        createdUnixNanoseconds: Int64(createdAt.timeIntervalSince1970 * 1e6) * 1000)
    }
  }

  private struct Active {
    var recorder: SessionRecorder
    var started: Started
  }

  private struct State {
    /// By channel.
    var active: [String: Active] = [:]
    /// Those that are ending.
    var ending = 0
    var waiters: [CheckedContinuation<Void, Never>] = []
    /// Called when the channels that are recorded have changed.
    var onChange: (@Sendable (SFURecordingEvent, Started) -> Void)?
  }

  let recordsEverything: Bool
  private let folder: RecordingFolder
  private let logger: Logger
  private let requestKeyFrame: @Sendable (_ connectionID: String) -> Void
  private let state = Mutex(State())

  /// - Parameters:
  ///   - folder: where files go; made where it isn't there.
  ///   - recordsEverything: whether each session is recorded from its first frame.
  ///   - requestKeyFrame: asks a connection's publisher for a key frame, from any thread.
  /// - Throws: where nothing can be written there, or libavformat is missing.
  init(
    folder: String, recordsEverything: Bool, logger: Logger,
    requestKeyFrame: @escaping @Sendable (String) -> Void
  ) throws(MediaFileError) {
    self.folder = try RecordingFolder(folder)
    self.recordsEverything = recordsEverything
    self.logger = logger
    self.requestKeyFrame = requestKeyFrame
  }

  /// Called when `channels` has changed, with what has begun or ended; from any thread.
  func onChange(_ body: @escaping @Sendable (SFURecordingEvent, Started) -> Void) {
    state.withLock { $0.onChange = body }
  }

  /// The channels that are recorded.
  var channels: Set<String> { state.withLock { Set($0.active.keys) } }

  // MARK: Frames

  /// Takes a frame; returns at once.
  func take(_ frame: EncodedTrackFrame, of publisher: SFUPublisher) {
    let (recorder, isNew) = state.withLock { state -> (SessionRecorder?, Bool) in
      if let known = state.active[publisher.channelID] { return (known.recorder, false) }
      guard recordsEverything else { return (nil, false) }
      var settings = SessionSettings()
      settings.sessionID = publisher.sessionID
      let recorder = SessionRecorder(
        in: folder, channelID: publisher.channelID, settings: settings)
      state.active[publisher.channelID] = Active(
        recorder: recorder,
        started: Started(
          recordingID: publisher.sessionID, channelID: publisher.channelID,
          sessionID: publisher.sessionID, createdAt: Date()))
      return (recorder, true)
    }
    if isNew, let recorder { log(failuresOf: recorder) }
    recorder?.receive(
      frame, of: publisher.source
    ) { [requestKeyFrame] in requestKeyFrame(publisher.connectionID) }
  }

  /// A connection is gone: its file ends.
  func end(connectionID: String, channelID: String) {
    state.withLock { $0.active[channelID]?.recorder }?.end(connectionID: connectionID)
  }

  /// The last connection of a channel is gone, and its session with it.
  func endSession(channelID: String) {
    stop(channelID: channelID) { _ in }
  }

  /// Ends all files, and waits for them.
  func finish() async {
    let channels = state.withLock { Array($0.active.keys) }
    for channel in channels { endSession(channelID: channel) }
    await withCheckedContinuation { continuation in
      let isDone = state.withLock { state in
        if state.ending > 0 { state.waiters.append(continuation) }
        return state.ending == 0
      }
      if isDone { continuation.resume() }
    }
  }

  // MARK: What the API asks for

  /// Records a channel from now on; nil where it is recorded already.
  ///
  /// - Parameter expiresAfter: nil for as long as the session lasts.
  func start(
    channelID: String, _ settings: SessionSettings, expiresAfter: Duration?
  ) -> Started? {
    let recorder = SessionRecorder(in: folder, channelID: channelID, settings: settings)
    let started = Started(
      recordingID: settings.recordingID ?? "", channelID: channelID,
      sessionID: settings.sessionID ?? "", createdAt: Date())
    let isStarted = state.withLock { state in
      guard state.active[channelID] == nil else { return false }
      state.active[channelID] = Active(recorder: recorder, started: started)
      return true
    }
    guard isStarted else { return nil }
    log(failuresOf: recorder)
    tell(.started, started)
    if let expiresAfter {
      DispatchQueue.global(qos: .utility)
        .asyncAfter(deadline: .now() + expiresAfter.inSeconds) { [weak self] in
          self?.stop(channelID: channelID, only: started.recordingID) { _ in }
        }
    }
    return started
  }

  /// Ends a channel's recording; nil where it is not recorded.
  ///
  /// - Parameter recordingID: of the recording that is meant; nil for whichever there is.
  func stop(
    channelID: String, only recordingID: String? = nil
  ) async -> (started: Started, report: RecordingReport)? {
    await withCheckedContinuation { continuation in
      stop(channelID: channelID, only: recordingID) { continuation.resume(returning: $0) }
    }
  }

  private func stop(
    channelID: String, only recordingID: String? = nil,
    _ completion: @escaping @Sendable ((started: Started, report: RecordingReport)?) -> Void
  ) {
    let active = state.withLock { state -> Active? in
      guard let active = state.active[channelID],
        recordingID == nil || active.started.recordingID == recordingID
      else { return nil }
      state.active[channelID] = nil
      state.ending += 1
      return active
    }
    guard let active else { return completion(nil) }
    tell(.stopped, active.started)
    active.recorder.finish { [self] report in
      let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
        state.ending -= 1
        guard state.ending == 0 else { return [] }
        defer { state.waiters = [] }
        return state.waiters
      }
      completion((active.started, report))
      for waiter in waiters { waiter.resume() }
    }
  }

  private func tell(_ event: SFURecordingEvent, _ recording: Started) {
    let onChange = state.withLock { $0.onChange }
    onChange?(event, recording)
  }

  private func log(failuresOf recorder: SessionRecorder) {
    recorder.onFailure = { [logger] error in
      logger.error("a recording ended early", metadata: ["error": "\(error)"])
    }
  }
}

extension SFUPublisher {
  /// Who it is, for the recorder.
  fileprivate var source: RecordedSource {
    RecordedSource(
      connectionID: connectionID, clientID: clientID, hasVideo: videoCodec != nil,
      hasAudio: audioCodec != nil)
  }
}
