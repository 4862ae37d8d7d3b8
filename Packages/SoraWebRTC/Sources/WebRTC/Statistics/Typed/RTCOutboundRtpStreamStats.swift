public import SoraCongestion
public import SoraMedia

/// One source that is sent (W3C `RTCOutboundRtpStreamStats`).
public struct RTCOutboundRtpStreamStats: RTCStats {
  public let statistics: RTCStatistics
  public init(_ statistics: RTCStatistics) { self.statistics = statistics }

  // MARK: Which

  public var ssrc: UInt32 { UInt32(clamping: statistics.count("ssrc")) }
  public var kind: MediaKind { statistics.word("kind") ?? .video }
  public var mid: String? { statistics.text("mid") }
  /// The name of a simulcast layer.
  public var rid: String? { statistics.text("rid") }
  /// Which of the report's `codecs`.
  public var codecId: String? { statistics.text("codecId") }
  /// Which of the report's `mediaSources`.
  public var mediaSourceId: String? { statistics.text("mediaSourceId") }
  /// What the other side says of it, in the report's `remoteInboundRTP`; nil before it has said anything.
  public var remoteId: String? { statistics.text("remoteId") }

  // MARK: Packets

  public var packetsSent: Int { statistics.count("packetsSent") }
  /// Those whose IP header said that they are L4S's (RFC 9331).
  public var packetsSentWithEct1: Int { statistics.count("packetsSentWithEct1") }
  /// Payload without headers and padding.
  public var bytesSent: Int { statistics.count("bytesSent") }
  public var headerBytesSent: Int { statistics.count("headerBytesSent") }
  public var retransmittedPacketsSent: Int { statistics.count("retransmittedPacketsSent") }
  public var retransmittedBytesSent: Int { statistics.count("retransmittedBytesSent") }
  /// Requests of the other side for packets to be sent again.
  public var nackCount: Int { statistics.count("nackCount") }
  /// Requests of the other side for a key frame.
  public var pliCount: Int { statistics.count("pliCount") }
  public var firCount: Int { statistics.count("firCount") }
  /// Sum of the time that packets waited to be paced.
  public var totalPacketSendDelay: Duration { statistics.duration("totalPacketSendDelay") ?? .zero }

  /// The rate of the payload between an earlier report and this; nil for another stream, or where no time has passed.
  public func bitrate(since earlier: RTCOutboundRtpStreamStats) -> Bitrate? {
    statistics.bitrate("bytesSent", since: earlier.statistics)
  }

  // MARK: The encoder

  /// What the encoder aims at; nil where it chooses by itself.
  public var targetBitrate: Bitrate? { statistics.bitrate("targetBitrate") }
  /// Whether this layer is encoded now; nil before the first frame, and of audio.
  public var active: Bool? { statistics.flag("active") }
  public var framesSent: Int { statistics.count("framesSent") }
  public var framesEncoded: Int { statistics.count("framesEncoded") }
  public var keyFramesEncoded: Int { statistics.count("keyFramesEncoded") }
  public var framesPerSecond: Double? { statistics.number("framesPerSecond") }
  /// In pixels; nil before the first frame.
  public var frameWidth: Int? { statistics.pixels("frameWidth") }
  /// In pixels; nil before the first frame.
  public var frameHeight: Int? { statistics.pixels("frameHeight") }
  public var totalEncodeTime: Duration { statistics.duration("totalEncodeTime") ?? .zero }
  /// The library that encodes.
  public var encoderImplementation: String? { statistics.text("encoderImplementation") }
  /// A name of W3C webrtc-svc such as `L1T2`.
  public var scalabilityMode: String? { statistics.text("scalabilityMode") }
  /// Why less is sent than could be; nil of audio.
  public var qualityLimitationReason: QualityLimitationReason? {
    statistics.word("qualityLimitationReason")
  }
  /// How long each reason was in force.
  public var qualityLimitationDurations: [QualityLimitationReason: Duration] {
    let named = statistics.durations("qualityLimitationDurations")
    return Dictionary(
      named.compactMap { name, time in
        QualityLimitationReason(rawValue: name).map { ($0, time) }
      }, uniquingKeysWith: +)
  }
  public var qualityLimitationResolutionChanges: Int {
    statistics.count("qualityLimitationResolutionChanges")
  }
}

/// What the other side says of a source that is sent (W3C `RTCRemoteInboundRtpStreamStats`).
public struct RTCRemoteInboundRtpStreamStats: RTCStats {
  public let statistics: RTCStatistics
  public init(_ statistics: RTCStatistics) { self.statistics = statistics }

  public var ssrc: UInt32 { UInt32(clamping: statistics.count("ssrc")) }
  public var kind: MediaKind { statistics.word("kind") ?? .video }
  public var codecId: String? { statistics.text("codecId") }
  /// Which of the report's `outboundRTP`.
  public var localId: String? { statistics.text("localId") }
  /// 0 to 1, since the report before.
  public var fractionLost: Double { statistics.number("fractionLost") ?? 0 }
  public var packetsLost: Int { statistics.count("packetsLost") }
  public var jitter: Duration { statistics.duration("jitter") ?? .zero }
  /// nil before one could be measured.
  public var roundTripTime: Duration? { statistics.duration("roundTripTime") }
}

/// A track that is sent, before it is encoded (W3C `RTCMediaSourceStats`).
public struct RTCMediaSourceStats: RTCStats {
  public let statistics: RTCStatistics
  public init(_ statistics: RTCStatistics) { self.statistics = statistics }

  public var kind: MediaKind { statistics.word("kind") ?? .video }
  /// The id of the track in SDP.
  public var trackIdentifier: String? { statistics.text("trackIdentifier") }

  // MARK: Video

  /// Frames that the source gave; nil of audio, and while nothing is sent.
  public var frames: Int? { statistics.integer("frames") }
  public var framesPerSecond: Double? { statistics.number("framesPerSecond") }
  /// In pixels; nil before the first frame.
  public var width: Int? { statistics.pixels("width") }
  /// In pixels; nil before the first frame.
  public var height: Int? { statistics.pixels("height") }

  // MARK: Audio

  /// 0 to 1, relative to full scale; nil of video, and while nothing is sent.
  public var audioLevel: Double? { statistics.number("audioLevel") }
  /// The integral of the squared level.
  public var totalAudioEnergy: Double? { statistics.number("totalAudioEnergy") }
  public var totalSamplesDuration: Duration? { statistics.duration("totalSamplesDuration") }
}

/// How received audio is played (W3C `RTCAudioPlayoutStats`). A sample is counted once for all tracks.
public struct RTCAudioPlayoutStats: RTCStats {
  public let statistics: RTCStatistics
  public init(_ statistics: RTCStatistics) { self.statistics = statistics }

  public var totalSamplesCount: Int { statistics.count("totalSamplesCount") }
  public var totalSamplesDuration: Duration {
    statistics.duration("totalSamplesDuration") ?? .zero
  }
  /// The sum over all samples of their delay to the loudspeaker; zero without one.
  public var totalPlayoutDelay: Duration { statistics.duration("totalPlayoutDelay") ?? .zero }
  /// Time for which there was nothing to play because this machine was too late.
  public var synthesizedSamplesDuration: Duration {
    statistics.duration("synthesizedSamplesDuration") ?? .zero
  }
  public var synthesizedSamplesEvents: Int { statistics.count("synthesizedSamplesEvents") }
}
