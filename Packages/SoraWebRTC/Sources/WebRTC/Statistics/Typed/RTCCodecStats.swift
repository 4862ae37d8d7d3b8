/// A codec as it was negotiated (W3C `RTCCodecStats`).
public struct RTCCodecStats: RTCStats {
  public let statistics: RTCStatistics
  public init(_ statistics: RTCStatistics) { self.statistics = statistics }

  public var payloadType: Int { statistics.count("payloadType") }
  /// Such as `video/VP8`.
  public var mimeType: String { statistics.text("mimeType") ?? "" }
  /// Ticks per second of RTP timestamps.
  public var clockRate: Int { statistics.count("clockRate") }
  /// Of audio.
  public var channels: Int? { statistics.integer("channels") }
  /// Format parameters as in SDP; empty where there are none.
  public var sdpFmtpLine: String { statistics.text("sdpFmtpLine") ?? "" }
}
