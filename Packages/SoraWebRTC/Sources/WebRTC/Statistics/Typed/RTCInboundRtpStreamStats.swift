public import Foundation
public import SoraCongestion
public import SoraMedia

/// One source that is received (W3C `RTCInboundRtpStreamStats`).
public struct RTCInboundRtpStreamStats: RTCStats {
  public let statistics: RTCStatistics
  public init(_ statistics: RTCStatistics) { self.statistics = statistics }

  // MARK: Which

  public var ssrc: UInt32 { UInt32(clamping: statistics.count("ssrc")) }
  public var kind: MediaKind { statistics.word("kind") ?? .video }
  public var mid: String? { statistics.text("mid") }
  /// The id of the track in SDP.
  public var trackIdentifier: String? { statistics.text("trackIdentifier") }
  /// Which of the report's `codecs`; nil before the first packet.
  public var codecId: String? { statistics.text("codecId") }
  /// Which of the report's `remoteOutboundRTP`; nil before the sender's first report.
  public var remoteId: String? { statistics.text("remoteId") }

  /// Of audio, the id of the report's `mediaPlayout`; nil of video.
  public var playoutId: String? { statistics.text("playoutId") }

  /// The sender's time of capture of what is played now, in milliseconds since 1900 (NTP): of a stream's audio and video the
  /// difference shows how far they are out of step. nil before a sender report has come.
  public var estimatedPlayoutTimestamp: Double? { statistics.number("estimatedPlayoutTimestamp") }

  // MARK: Packets

  public var packetsReceived: Int { statistics.count("packetsReceived") }
  /// Those whose IP header said that they are L4S's (RFC 9331), and those that it said had met congestion (RFC 3168).
  public var packetsReceivedWithEct1: Int { statistics.count("packetsReceivedWithEct1") }
  public var packetsReceivedWithCe: Int { statistics.count("packetsReceivedWithCe") }
  /// Payload without headers and padding.
  public var bytesReceived: Int { statistics.count("bytesReceived") }
  public var headerBytesReceived: Int { statistics.count("headerBytesReceived") }
  public var retransmittedPacketsReceived: Int { statistics.count("retransmittedPacketsReceived") }
  /// Below zero where packets came twice (RFC 3550).
  public var packetsLost: Int { statistics.count("packetsLost") }
  /// Received and not used: too late, mostly.
  public var packetsDiscarded: Int { statistics.count("packetsDiscarded") }
  /// How unevenly packets arrive (RFC 3550 §6.4.1).
  public var jitter: Duration { statistics.duration("jitter") ?? .zero }
  /// Requests for packets to be sent again.
  public var nackCount: Int { statistics.count("nackCount") }
  /// Requests for a key frame.
  public var pliCount: Int { statistics.count("pliCount") }

  /// The rate of the payload between an earlier report and this; nil for another stream, or where no time has passed.
  public func bitrate(since earlier: RTCInboundRtpStreamStats) -> Bitrate? {
    statistics.bitrate("bytesReceived", since: earlier.statistics)
  }

  // MARK: The jitter buffer

  /// Sum of the time that frames or samples waited, over `jitterBufferEmittedCount`.
  public var jitterBufferDelay: Duration { statistics.duration("jitterBufferDelay") ?? .zero }
  /// Sum of the delay that was aimed at, over `jitterBufferEmittedCount`.
  public var jitterBufferTargetDelay: Duration {
    statistics.duration("jitterBufferTargetDelay") ?? .zero
  }
  /// Frames of video, samples of audio.
  public var jitterBufferEmittedCount: Int { statistics.count("jitterBufferEmittedCount") }

  // MARK: Video

  public var framesReceived: Int { statistics.count("framesReceived") }
  public var framesDecoded: Int { statistics.count("framesDecoded") }
  public var keyFramesDecoded: Int { statistics.count("keyFramesDecoded") }
  public var framesDropped: Int { statistics.count("framesDropped") }
  /// In pixels; nil before the first frame.
  public var frameWidth: Int? { statistics.pixels("frameWidth") }
  /// In pixels; nil before the first frame.
  public var frameHeight: Int? { statistics.pixels("frameHeight") }
  public var totalDecodeTime: Duration { statistics.duration("totalDecodeTime") ?? .zero }
  /// The library that decodes.
  public var decoderImplementation: String? { statistics.text("decoderImplementation") }
  public var freezeCount: Int { statistics.count("freezeCount") }
  public var totalFreezesDuration: Duration { statistics.duration("totalFreezesDuration") ?? .zero }
  /// Pauses of five seconds or more.
  public var pauseCount: Int { statistics.count("pauseCount") }
  public var totalPausesDuration: Duration { statistics.duration("totalPausesDuration") ?? .zero }
  /// Sum of the time between shown frames; `totalSquaredInterFrameDelay` of its squares, in seconds.
  public var totalInterFrameDelay: Duration { statistics.duration("totalInterFrameDelay") ?? .zero }
  public var totalSquaredInterFrameDelay: Double {
    statistics.number("totalSquaredInterFrameDelay") ?? 0
  }
  /// Frames that were decoded within the last second; nil of audio.
  public var framesPerSecond: Double? { statistics.number("framesPerSecond") }

  // MARK: Audio

  /// 0 to 1, as the sender's last packet says; nil where it doesn't say.
  public var audioLevel: Double? { statistics.number("audioLevel") }
  /// Samples that were played, made up ones among them.
  public var totalSamplesReceived: Int { statistics.count("totalSamplesReceived") }
  /// Samples that were made up in place of lost ones.
  public var concealedSamples: Int { statistics.count("concealedSamples") }
  public var silentConcealedSamples: Int { statistics.count("silentConcealedSamples") }
  public var concealmentEvents: Int { statistics.count("concealmentEvents") }
  public var insertedSamplesForDeceleration: Int {
    statistics.count("insertedSamplesForDeceleration")
  }
  public var removedSamplesForAcceleration: Int {
    statistics.count("removedSamplesForAcceleration")
  }
  public var totalAudioEnergy: Double { statistics.number("totalAudioEnergy") ?? 0 }
  public var totalSamplesDuration: Duration { statistics.duration("totalSamplesDuration") ?? .zero }
  /// Of audio copies inside later packets (RFC 2198), of video repair packets (ULPFEC, FlexFEC).
  public var fecPacketsReceived: Int { statistics.count("fecPacketsReceived") }
  public var fecPacketsDiscarded: Int { statistics.count("fecPacketsDiscarded") }
  /// Of video only.
  public var fecBytesReceived: Int { statistics.count("fecBytesReceived") }
}

/// What the other side says of a source that is received (W3C `RTCRemoteOutboundRtpStreamStats`).
public struct RTCRemoteOutboundRtpStreamStats: RTCStats {
  public let statistics: RTCStatistics
  public init(_ statistics: RTCStatistics) { self.statistics = statistics }

  public var ssrc: UInt32 { UInt32(clamping: statistics.count("ssrc")) }
  public var kind: MediaKind { statistics.word("kind") ?? .video }
  public var codecId: String? { statistics.text("codecId") }
  /// Which of the report's `inboundRTP`.
  public var localId: String? { statistics.text("localId") }
  public var packetsSent: Int { statistics.count("packetsSent") }
  public var bytesSent: Int { statistics.count("bytesSent") }
  public var reportsSent: Int { statistics.count("reportsSent") }
  /// The sender's wall clock at its last report.
  public var remoteTimestamp: Date? { statistics.date("remoteTimestamp") }
  /// As who sends nothing measures it (RFC 3611 §4.4); nil before, and where the sender doesn't answer.
  public var roundTripTime: Duration? { statistics.duration("roundTripTime") }
  public var totalRoundTripTime: Duration { statistics.duration("totalRoundTripTime") ?? .zero }
  public var roundTripTimeMeasurements: Int { statistics.count("roundTripTimeMeasurements") }
}
