/// What a stream's renderer gets when the stream's video stops: it was switched off (`MediaStream.videoEnabled`), no frame has come for
/// two seconds, such as of a sender whose camera is off, or the stream or its channel has ended.
public enum StoppedVideoPicture: Sendable, Hashable {
  /// Nothing: the last frame stays where the renderer keeps it. As on iOS.
  case freeze
  /// One black frame, as large as the last one.
  case black
  /// `VideoRenderer.render(videoFrame: nil)`, for renderers that show something of their own. A `VideoView` does nothing then, as on iOS.
  case `nil`
}
