@_exported public import enum SoraMedia.VideoCodecKind

/// What the pictures show, so that an encoder can choose its tools (W3C mst-content-hint).
public enum VideoContentHint: String, Sendable, Hashable, CaseIterable {
  /// A camera or a film: keep the frame rate, blur rather than stutter.
  case motion
  /// Slides and pictures: keep the details, and let the frame rate fall.
  case detail
  /// Text and line art: like `detail`, with screen-content tools.
  case text
}
