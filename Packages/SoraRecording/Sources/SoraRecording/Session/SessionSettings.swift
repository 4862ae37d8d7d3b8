/// How a session is recorded.
public struct SessionSettings: Sendable, Hashable {
  /// A part of the files' names, and in the JSON; nil for the time.
  public var sessionID: String?
  /// Tells several recordings of one session apart, in the JSON and its name; nil where there is one.
  public var recordingID: String?
  /// The container of files where it holds their codec; nil for WebM. Other codecs get one that does.
  public var container: MediaContainer?
  /// A new file begins after so long, with a key frame, which is asked for, or without pictures while none come; nil for one file.
  public var splitDuration: Duration?
  /// Whether there is one file of all beside those of `splitDuration`.
  public var keepsWhole = true
  /// JSON for the report, or else a text; nil for none.
  public var metadata: String?
  /// Of every file: how long audio waits for the first picture.
  public var patience = Duration.seconds(10)

  public init() {}
}

/// Who a recorded stream is of.
public struct RecordedSource: Sendable, Hashable {
  /// The stream's id, too.
  public var connectionID: String
  public var clientID: String
  /// Whether it has pictures. Its file begins with one then, or without after the settings' `patience`.
  public var hasVideo: Bool
  public var hasAudio: Bool

  /// - Parameters:
  ///   - connectionID: a part of the file's name.
  ///   - clientID: nil where it is that of the connection.
  ///   - hasVideo: whether it has pictures.
  ///   - hasAudio: whether it has sound.
  public init(
    connectionID: String, clientID: String? = nil, hasVideo: Bool = true, hasAudio: Bool = true
  ) {
    self.connectionID = connectionID
    self.clientID = clientID ?? connectionID
    self.hasVideo = hasVideo
    self.hasAudio = hasAudio
  }
}
