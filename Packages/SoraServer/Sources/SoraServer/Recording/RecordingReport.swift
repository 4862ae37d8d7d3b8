import Foundation
import SoraMedia
import SoraRecording

/// What a session's recordings are, as the JSON beside them says it.
struct RecordingReport: Encodable, Sendable {
  /// A connection's file.
  struct Archive: Encodable, Sendable {
    var connectionId: String
    var clientId: String
    var filename: String
    var startTime: Date
    /// nil while it is recorded.
    var stopTime: Date?
    var videoCodecType: String?
    var audioCodecType: String?
    var width: Int?
    var height: Int?
    var videoFrames: Int?
    var audioPackets: Int?
    var framesDropped: Int?
    var durationSeconds: Double?
    var size: Int?
    /// Why it ended early.
    var failure: String?

    mutating func end(_ outcome: MediaRecorder.Outcome, at time: Date) {
      stopTime = time
      width = outcome.video?.width
      height = outcome.video?.height
      videoFrames = outcome.videoFrames
      audioPackets = outcome.audioFrames
      framesDropped =
        outcome.framesTooMany + outcome.framesWithoutKeyFrame + outcome.framesNotTaken
        + outcome.framesDamaged
      durationSeconds = outcome.duration.inSeconds
      size = outcome.byteCount
      failure = outcome.failure.map { "\($0)" }
    }
  }

  var channelId: String
  var sessionId: String
  var createdAt: Date
  var archives: [Archive] = []

  var json: Data? {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.dateEncodingStrategy = .iso8601
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return try? encoder.encode(self)
  }
}

extension SFUPublisher {
  /// The container that holds what it publishes.
  var container: MediaContainer {
    guard let name = videoCodec, let codec = MediaCodec(encodingName: name) else { return .webm }
    return MediaContainer.webm.holds(codec) ? .webm : .mp4
  }

  /// A file's name: channel, connection and time, in letters that every file system takes.
  func fileName(at time: Date) -> String {
    let stamp = time.formatted(.iso8601.dateSeparator(.omitted).timeSeparator(.omitted))
    return "\(channelID.inFileName)_\(connectionID)_\(stamp).\(container.fileEnding)"
  }

  /// The name of its session's JSON.
  var reportName: String { "\(channelID.inFileName)_\(sessionID).json" }
}

extension String {
  /// At most 64 characters; those that mean something in paths, or nothing everywhere, become `_`.
  fileprivate var inFileName: String {
    let allowed = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
    return String(prefix(64).map { allowed.contains($0) ? $0 : "_" })
  }
}
