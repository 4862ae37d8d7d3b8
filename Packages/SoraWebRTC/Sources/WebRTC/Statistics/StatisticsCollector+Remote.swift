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
    switch section.kind {
    case .video:
      guard let source = media?.videoSourceStatistics(section.transceiverID) else { break }
      values["frames"] = .integer(source.frames)
      values["framesPerSecond"] = .double(source.framesPerSecond)
      values["width"] = source.width > 0 ? .integer(Int64(source.width)) : nil
      values["height"] = source.height > 0 ? .integer(Int64(source.height)) : nil
    case .audio:
      guard let source = media?.audioSourceStatistics(section.transceiverID) else { break }
      values["audioLevel"] = .double(source.level)
      values["totalAudioEnergy"] = .double(source.energy)
      values["totalSamplesDuration"] = .double(source.duration)
    }
    return object(mediaSourceID(section), "media-source", values)
  }

  static var playoutID: String { "playout" }

  /// How the call's received audio is played (W3C `RTCAudioPlayoutStats`): one for all its tracks; nil before there is any.
  func mediaPlayout() -> RTCStatistics? {
    guard let playout = media?.playoutStatistics, playout.samples > 0 else { return nil }
    return object(
      Self.playoutID, "media-playout",
      [
        "kind": .string(MediaKind.audio.rawValue),
        "totalSamplesCount": .integer(playout.samples),
        "totalSamplesDuration": .double(Double(playout.samples) / 48_000),
        "totalPlayoutDelay": .double(playout.totalDelay),
        "synthesizedSamplesEvents": .integer(playout.synthesizedEvents),
        "synthesizedSamplesDuration": .double(playout.synthesized.inSeconds),
      ])
  }
}
