public import Foundation
import SoraMedia

/// What a session's recordings are, as the JSON beside them says it: keys in snake case, times in ISO 8601.
public struct RecordingReport: Encodable, Sendable, Hashable {
  /// A file.
  public struct Archive: Encodable, Sendable, Hashable {
    public var connectionId: String
    public var clientId: String
    /// Without its folder.
    public var filename: String
    public var startTime: Date
    /// nil while it is written.
    public var stopTime: Date?
    /// Which of the parts of a connection it is, from 1; nil for a whole one.
    public var part: Int?
    /// Sora's names: VP8, VP9, AV1, H264, H265.
    public var videoCodecType: String?
    /// OPUS.
    public var audioCodecType: String?
    /// Pixels of the last key frame.
    public var width: Int?
    public var height: Int?
    public var videoFrames: Int?
    public var audioPackets: Int?
    /// Frames that came and aren't in the file, for any reason.
    public var framesDropped: Int?
    public var durationSeconds: Double?
    /// Bytes.
    public var size: Int?
    /// Why it ended early; nil where all is well.
    public var failure: String?

    mutating func end(_ outcome: RecordingOutcome, at time: Date) {
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

  public var channelId: String
  /// nil where the channel's server has told none.
  public var sessionId: String?
  /// nil where nobody gave the recording a name.
  public var recordingId: String?
  public var createdAt: Date
  /// nil while it goes on.
  public var stoppedAt: Date?
  public var archives: [Archive] = []
  /// JSON that whoever began the recording gave; the key `metadata`. What is no JSON is there as a text.
  public var metadata: String?

  private enum CodingKeys: String, CodingKey {
    case channelId, sessionId, recordingId, createdAt, stoppedAt, archives
  }

  public init(channelId: String, createdAt: Date) {
    self.channelId = channelId
    self.createdAt = createdAt
  }

  /// The file's content; nil where it can't be encoded.
  public var json: Data? {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.dateEncodingStrategy = .iso8601
    let style: JSONSerialization.WritingOptions = [
      .prettyPrinted, .sortedKeys, .withoutEscapingSlashes,
    ]
    guard let data = try? encoder.encode(self),
      var object = try? JSONSerialization.jsonObject(with: data) as? [String: Any]
    else { return nil }
    if let metadata {
      let value = try? JSONSerialization.jsonObject(
        with: Data(metadata.utf8), options: .fragmentsAllowed)
      object["metadata"] = value ?? metadata
    }
    return try? JSONSerialization.data(withJSONObject: object, options: style)
  }
}
