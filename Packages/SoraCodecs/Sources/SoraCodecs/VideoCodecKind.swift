/// A video codec that WebRTC negotiates.
public enum VideoCodecKind: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
  case vp8
  case vp9
  case av1
  case h264
  case h265

  /// The name in SDP's `a=rtpmap` (RFC 7741, RFC 9628, the AV1 RTP specification, RFC 6184, RFC 7798).
  public var encodingName: String {
    switch self {
    case .vp8: "VP8"
    case .vp9: "VP9"
    case .av1: "AV1"
    case .h264: "H264"
    case .h265: "H265"
    }
  }

  /// The codec that an `a=rtpmap` names. Encoding names compare without case (RFC 8866 §6.6).
  public init?(encodingName: String) {
    let wanted = encodingName.uppercased()
    guard let kind = Self.allCases.first(where: { $0.encodingName == wanted }) else { return nil }
    self = kind
  }

  public var description: String { encodingName }
}

/// What the pictures show, so that an encoder can choose its tools (W3C mst-content-hint).
public enum VideoContentHint: String, Sendable, Hashable, CaseIterable {
  /// A camera or a film: keep the frame rate, blur rather than stutter.
  case motion
  /// Slides and pictures: keep the details, and let the frame rate fall.
  case detail
  /// Text and line art: like `detail`, with screen-content tools.
  case text
}
