/// What is recorded, and how much may wait for the disk.
public struct RecordingSettings: Sendable, Hashable {
  /// Whether the stream has video. The file begins with it then, or without after `patience`.
  public var hasVideo = true
  /// Whether the stream has audio.
  public var hasAudio = true
  /// The file's title.
  public var title: String?
  /// nil for the one that the name's ending asks for.
  public var container: MediaContainer?
  /// Bytes that may wait for the disk. Beyond that frames are dropped, up to the next key frame.
  public var maximumBacklog = 16 << 20
  /// How long audio waits for the first picture.
  public var patience = Duration.seconds(10)

  public init() {}
}
