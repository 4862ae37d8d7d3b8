import SoraMedia

/// The payload formats of this module, by SDP name.
public enum RTPPayloadFormats {
  public static let vp8 = VP8PayloadFormat()
  public static let vp9 = VP9PayloadFormat()
  public static let av1 = AV1PayloadFormat()
  public static let h264 = H264PayloadFormat()
  public static let h265 = H265PayloadFormat()
  public static let opus = AudioPayloadFormat(.opus)

  /// The format with this encoding name, letter case ignored (RFC 4855 §3), and the format parameters of a description.
  /// `nil` when there is none, or the parameters ask for something that it can't do.
  public static func named(
    _ name: String, parameters: [String: String] = [:]
  ) -> (any RTPPayloadFormat)? {
    switch VideoCodecKind(encodingName: name) {
    case .vp8: vp8
    case .vp9: vp9
    case .av1: av1
    case .h264: H264PayloadFormat(parameters: parameters)
    case .h265: H265PayloadFormat(parameters: parameters)
    case nil: AudioCodecKind(encodingName: name).map(AudioPayloadFormat.init)
    }
  }
}
