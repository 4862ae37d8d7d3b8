/// What was recorded, and what wasn't.
public struct RecordingOutcome: Sendable, Equatable {
  public var videoFrames = 0
  public var audioFrames = 0
  /// Bytes of the file.
  public var byteCount = 0
  /// From the first frame's time to the last one's.
  public var duration = Duration.zero
  public var video: VideoTrackParameters?
  /// How often the picture's size changed. The track goes on: its key frames say their size.
  public var sizeChanges = 0
  /// Frames that came before the first key frame, or after one that was dropped: nothing can be made of them.
  public var framesWithoutKeyFrame = 0
  /// Frames that were dropped because the disk was too slow.
  public var framesTooMany = 0
  /// Frames that came after the file had failed or ended, or that it has no track for.
  public var framesNotTaken = 0
  /// Frames that weren't of their codec, and those that refer to them.
  public var framesDamaged = 0
  /// Why the file ended early; nil where all is well.
  public var failure: MediaFileError?
}
