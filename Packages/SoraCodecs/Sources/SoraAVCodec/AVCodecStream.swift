import CAVCodec
public import SoraMedia

/// What libavcodec decodes here.
public enum AVCodecStream: Sendable, Hashable {
  case h264
  case h265

  public var kind: VideoCodecKind { self == .h264 ? .h264 : .h265 }

  /// Baseline, main and high of H.264 (`profile-level-id`); main of H.265 (`profile-id`).
  var profiles: [String] { self == .h264 ? ["42e034", "42001f", "4d0034", "640034"] : ["1"] }

  var codec: AVCodecID { self == .h264 ? AV_CODEC_ID_H264 : AV_CODEC_ID_HEVC }
}
