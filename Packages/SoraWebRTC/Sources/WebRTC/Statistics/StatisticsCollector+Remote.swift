import SoraMedia
import SoraRTP
import SoraTransport

/// What is known of the other side's sources and of ours before they are encoded.
extension StatisticsCollector {
  /// What the sender of a source says in its reports (W3C `RTCRemoteOutboundRtpStreamStats`); nil before the first.
  func remoteOutbound(
    _ section: NegotiatedMedia, _ stream: RTPReceiveStream, localID: String,
    codecID: RTCStatisticsValue?
  ) -> RTCStatistics? {
    let reports = stream.senderReports
    guard let last = reports.last else { return nil }
    let trips = core.session.referencedRoundTrips
    var values: [String: RTCStatisticsValue?] = [
      "ssrc": .integer(Int64(stream.ssrc)), "kind": .string(section.kind.rawValue),
      "transportId": .string("transport"), "codecId": codecID, "localId": .string(localID),
      "packetsSent": .integer(Int64(last.packetCount)),
      "bytesSent": .integer(Int64(last.octetCount)),
      "remoteTimestamp": .double(Double(last.ntp.unixNanoseconds) / 1_000_000),
      "reportsSent": .integer(reports.count),
      "roundTripTimeMeasurements": .integer(trips.count),
      "totalRoundTripTime": .double(trips.total.inSeconds),
    ]
    values["roundTripTime"] = trips.latest.map { .double($0.inSeconds) }
    return object("remote-outbound-\(stream.ssrc)", "remote-outbound-rtp", values)
  }

  func mediaSourceID(_ section: NegotiatedMedia) -> String { "source-\(section.mid)" }

  /// The track that a section sends, before it is encoded (W3C `RTCMediaSourceStats`).
  func mediaSource(_ section: NegotiatedMedia) -> RTCStatistics {
    var values: [String: RTCStatisticsValue?] = [
      "kind": .string(section.kind.rawValue),
      "trackIdentifier": section.send.map { .string($0.trackID) },
    ]
    addFrames(&values, section)
    return object(mediaSourceID(section), "media-source", values)
  }
}
