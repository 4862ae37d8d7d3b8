/// A video codec that WebRTC negotiates.
///
/// A new one is a case here with its `format`, a payload format in SoraRTP, and a factory for its library; the compiler asks
/// for the first two.
public enum VideoCodecKind: String, Sendable, Hashable, CaseIterable, CustomStringConvertible {
  case vp8
  case vp9
  case av1
  case h264
  case h265

  /// The name in SDP's `a=rtpmap` (RFC 7741, RFC 9628, the AV1 RTP specification, RFC 6184, RFC 7798).
  public var encodingName: String { format.encodingName }

  /// The codec that an `a=rtpmap` names. Encoding names compare without case (RFC 8866 §6.6).
  public init?(encodingName: String) {
    let wanted = encodingName.uppercased()
    guard let kind = Self.allCases.first(where: { $0.encodingName == wanted }) else { return nil }
    self = kind
  }

  public var description: String { encodingName }
}
