package import SoraCodecs

/// Where a send pipeline's frames come from: a video track, as far as encoding needs to know it. Safe from any thread.
package protocol VideoTrackSource: AnyObject, Sendable {
  /// Whether its frames are shown; black ones are sent where they aren't.
  var isEnabled: Bool { get }
  /// What its frames show; nil if unknown.
  var contentHint: VideoContentHint? { get }
  /// Gives every frame to `sink` from now on, on the thread that pushes it.
  func add(sink: any VideoSink)
  func remove(sink: any VideoSink)
  /// Of the source's frames that are encoded already.
  var encodedVideo: EncodedVideoBroadcaster { get }
}
