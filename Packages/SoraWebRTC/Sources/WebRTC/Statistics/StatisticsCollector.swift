import SoraAudio
import SoraClock
import SoraDTLS
import SoraICE
public import SoraMedia
import SoraRTP
import SoraSDP
import SoraSimulcast
import SoraTransport

/// Puts a connection's counters into W3C webrtc-stats objects. Runs on the connection's loop, or in a simulation.
struct StatisticsCollector {
  let core: PeerConnectionCore
  /// Of the transport, at the moment of the collector's making.
  let path: PeerTransportReport
  let media: MediaPipelines?
  /// With what was lost below and above the core.
  let drops: [PacketDrop]
  private let now: Instant
  private let unixNanoseconds: Int64

  /// - Parameter unixNanoseconds: nanoseconds since 1970 at `now`.
  init(core: PeerConnectionCore, now: Instant, unixNanoseconds: Int64) {
    self.core = core
    path = core.transport.report
    media = nil
    drops = core.drops
    self.now = now
    self.unixNanoseconds = unixNanoseconds
  }

  init(driver: PeerConnectionDriver) {
    core = driver.core
    path = driver.core.transport.report
    media = driver.media
    drops = driver.localSockets.sockets.drops + driver.core.drops + driver.media.drops
    now = SystemClock.now
    unixNanoseconds = Int64(SystemClock.realtimeNanoseconds)
  }

  private var timestamp: Double { Double(unixNanoseconds) / 1_000 }

  /// Milliseconds since 1970: W3C's DOMHighResTimeStamp.
  func milliseconds(_ instant: Instant) -> Double {
    Double(unixNanoseconds &- now.nanoseconds(since: instant)) / 1_000_000
  }

  func report() -> RTCStatisticsReport {
    var all: [RTCStatistics] = []
    for section in core.media {
      all += codecs(of: section)
      if section.send != nil {
        all.append(mediaSource(section))
        all += outbound(section)
      }
      if section.receive != nil { all += inbound(section) }
    }
    if let playout = mediaPlayout() { all.append(playout) }
    all += transport() + dataChannels()
    return RTCStatisticsReport(
      timestamp_us: timestamp, statistics: all, packetDrops: drops, timeline: core.timeline)
  }

  func object(
    _ id: String, _ type: String, _ values: [String: RTCStatisticsValue?]
  ) -> RTCStatistics {
    RTCStatistics(
      id: id, type: type, timestamp_us: timestamp, values: values.compactMapValues { $0 })
  }

  private func codecID(_ section: NegotiatedMedia, _ payloadType: UInt8) -> String {
    "codec-\(section.mid)-\(payloadType)"
  }

  private func codecs(of section: NegotiatedMedia) -> [RTCStatistics] {
    var codecs = section.send.map { [$0.codec] } ?? section.receive?.codecs ?? []
    // What comes may have another payload type than what is sent, or be of another codec.
    if section.send != nil, let received = receivedCodec(section),
      !codecs.contains(where: { $0.payloadType == received.payloadType })
    {
      codecs.append(received)
    }
    return codecs.map { codec in
      object(
        codecID(section, codec.payloadType), "codec",
        [
          "payloadType": .integer(Int64(codec.payloadType)),
          "mimeType": .string("\(section.kind.rawValue)/\(codec.name)"),
          "clockRate": .integer(Int64(codec.clockRate)),
          "channels": codec.channels.map { .integer(Int64($0)) },
          "sdpFmtpLine": .string(codec.parameters.description), "transportId": .string("transport"),
        ])
    }
  }

  /// What is received in a section; nil before anything is.
  private func receivedCodec(_ section: NegotiatedMedia) -> NegotiatedCodec? {
    guard let stream = core.receiveStream(transceiverID: section.transceiverID) else { return nil }
    return section.receive?.codecs.first { $0.name == stream.codecName }
  }

  private func outbound(_ section: NegotiatedMedia) -> [RTCStatistics] {
    var result: [RTCStatistics] = []
    for stream in core.sendStreams(transceiverID: section.transceiverID) {
      let s = stream.statistics
      let id = "outbound-\(stream.parameters.ssrc)"
      let remoteID = "remote-inbound-\(stream.parameters.ssrc)"
      var values: [String: RTCStatisticsValue?] = [
        "ssrc": .integer(Int64(stream.parameters.ssrc)), "kind": .string(section.kind.rawValue),
        "mid": .string(section.mid), "rid": stream.parameters.rid.map { .string($0) },
        "transportId": .string("transport"),
        "codecId": .string(codecID(section, stream.parameters.payloadType)),
        "packetsSent": .integer(s.packetsSent), "bytesSent": .integer(s.bytesSent),
        "headerBytesSent": .integer(s.headerBytesSent),
        "packetsSentWithEct1": .integer(s.packetsSentWithECT1),
        "retransmittedPacketsSent": .integer(s.retransmittedPacketsSent),
        "retransmittedBytesSent": .integer(s.retransmittedBytesSent),
        "nackCount": .integer(s.nackCount),
        "remoteId": stream.remote.reports > 0 ? .string(remoteID) : nil,
        "totalPacketSendDelay": .double(s.totalPacketSendDelay.inSeconds),
        "mediaSourceId": .string(mediaSourceID(section)),
      ]
      if section.kind == .video {
        values["framesSent"] = .integer(s.framesSent)
        values["pliCount"] = .integer(s.pliCount)
        values["firCount"] = .integer(s.firCount)
        values["targetBitrate"] = .integer(
          Int64(core.videoBitrate(transceiverID: section.transceiverID)))
        addEncoding(&values, section, rid: stream.parameters.rid)
      } else if let audio = media?.audioSendSettings(section.transceiverID) {
        values["targetBitrate"] = audio.bitsPerSecond.map { .integer(Int64($0)) }
      }
      result.append(object(id, "outbound-rtp", values))
      guard stream.remote.reports > 0 else { continue }
      result.append(
        object(
          remoteID, "remote-inbound-rtp",
          [
            "ssrc": .integer(Int64(stream.parameters.ssrc)), "kind": .string(section.kind.rawValue),
            "transportId": .string("transport"),
            "codecId": .string(codecID(section, stream.parameters.payloadType)),
            "localId": .string(id), "fractionLost": .double(stream.remote.fractionLost),
            "packetsLost": .integer(stream.remote.packetsLost),
            "jitter": .double(stream.remote.jitter),
            "roundTripTime": stream.remote.roundTrip.map { .double($0.inSeconds) },
          ]))
    }
    return result
  }

  private func addEncoding(
    _ values: inout [String: RTCStatisticsValue?], _ section: NegotiatedMedia, rid: String?
  ) {
    guard
      let (video, index) = media?.videoSendStatistics(section.transceiverID, rid: rid),
      video.layers.indices.contains(index)
    else { return }
    values["scalabilityMode"] = media?.videoSendConfiguration(section.transceiverID)?
      .layers[safe: index].map { .string("\($0.scalabilityMode)") }
    let layer = video.layers[index]
    values["framesEncoded"] = .integer(layer.framesEncoded)
    values["keyFramesEncoded"] = .integer(layer.keyFramesEncoded)
    values["totalEncodeTime"] = .double(layer.totalEncodeTime.inSeconds)
    values["frameWidth"] = .integer(Int64(layer.width))
    values["frameHeight"] = .integer(Int64(layer.height))
    values["framesPerSecond"] = .double(layer.framesPerSecond)
    values["active"] = .boolean(layer.state.bitsPerSecond > 0)
    if layer.state.bitsPerSecond > 0 {
      values["targetBitrate"] = .integer(Int64(layer.state.bitsPerSecond))
    }
    values["encoderImplementation"] = layer.state.implementationName.map {
      RTCStatisticsValue.string($0)
    }
    values["qualityLimitationReason"] = .string(video.limitation.reason.rawValue)
    values["qualityLimitationDurations"] = .record(
      video.limitation.durations(at: now))
    values["qualityLimitationResolutionChanges"] = .integer(video.limitation.resolutionChanges)
  }

  private func inbound(_ section: NegotiatedMedia) -> [RTCStatistics] {
    guard let stream = core.receiveStream(transceiverID: section.transceiverID) else {
      return []
    }
    let received = stream.received
    var values: [String: RTCStatisticsValue?] = [
      "ssrc": .integer(Int64(stream.ssrc)), "kind": .string(section.kind.rawValue),
      "mid": .string(section.mid), "transportId": .string("transport"),
      "trackIdentifier": section.receive.map { .string($0.trackID) },
      "codecId": receivedCodec(section).map { .string(codecID(section, $0.payloadType)) },
      "packetsReceived": .integer(received.packetsReceived),
      "packetsReceivedWithEct1": .integer(stream.statistics.packetsReceivedWithECT1),
      "packetsReceivedWithCe": .integer(stream.statistics.packetsReceivedWithCE),
      "bytesReceived": .integer(received.payloadBytesReceived),
      "headerBytesReceived": .integer(received.headerBytesReceived),
      "retransmittedPacketsReceived": .integer(received.retransmittedPacketsReceived),
      "packetsLost": .integer(received.packetsLost), "jitter": .double(received.jitter),
      "nackCount": .integer(stream.statistics.nackCount),
    ]
    values["estimatedPlayoutTimestamp"] = estimatedPlayout(
      stream,
      section.kind == .video
        ? media?.videoPlayed(section.transceiverID) : media?.audioPlayed(section.transceiverID)
    ).map { .double($0) }
    switch section.kind {
    case .video: addVideo(&values, stream, section.transceiverID)
    case .audio: addAudio(&values, stream, section.transceiverID)
    }
    let id = "inbound-\(stream.ssrc)"
    let remote = remoteOutbound(section, stream, localID: id, codecID: values["codecId"] ?? nil)
    values["remoteId"] = remote.map { .string($0.id) }
    return [object(id, "inbound-rtp", values)] + (remote.map { [$0] } ?? [])
  }

  /// The sender's time of capture of what is played now, in milliseconds since 1900: that of what was played last, moved on by the
  /// time since. nil before a sender report.
  private func estimatedPlayout(_ stream: RTPReceiveStream, _ played: PlayedMedia?) -> Double? {
    guard let played, let captured = stream.senderReports.captureTime(of: played.rtpTimestamp)
    else { return nil }
    let since1900 = Double(captured.rawValue) / 4_294_967_296 * 1000
    return since1900 + (now - played.time).inMilliseconds
  }

  private func addVideo(
    _ values: inout [String: RTCStatisticsValue?], _ stream: RTPReceiveStream, _ id: Int
  ) {
    values["framesReceived"] = .integer(stream.statistics.framesReceived)
    let fec = stream.statistics.fec
    values["fecPacketsReceived"] = .integer(fec.fecPacketsReceived)
    values["fecPacketsDiscarded"] = .integer(fec.fecPacketsDiscarded)
    values["fecBytesReceived"] = .integer(fec.fecBytesReceived)
    values["pliCount"] = .integer(stream.statistics.pliCount)
    if let buffer = stream.jitterBuffer {
      // Duplicates don't count (RFC 7002 §3), nor what could never have been used.
      let discarded = buffer.statistics.packetsDiscarded
      values["packetsDiscarded"] = .integer(discarded.late + discarded.overflow + discarded.jump)
      values["jitterBufferDelay"] = .double(buffer.statistics.jitterBufferDelay.inSeconds)
      values["jitterBufferEmittedCount"] = .integer(buffer.statistics.framesEmitted)
      values["jitterBufferTargetDelay"] = .double(
        buffer.statistics.jitterBufferTargetDelay.inSeconds)
    }
    guard let decoder = media?.videoReceiveStatistics(id) else { return }
    values["framesDecoded"] = .integer(decoder.framesDecoded)
    values["keyFramesDecoded"] = .integer(decoder.keyFramesDecoded)
    values["framesDropped"] = .integer(decoder.framesDropped)
    values["decoderImplementation"] = decoder.implementationName.map { .string($0) }
    values["totalDecodeTime"] = .double(decoder.totalDecodeTime.inSeconds)
    values["freezeCount"] = .integer(decoder.freezeCount)
    values["totalFreezesDuration"] = .double(decoder.totalFreezesDuration.inSeconds)
    values["pauseCount"] = .integer(decoder.pauseCount)
    values["totalPausesDuration"] = .double(decoder.totalPausesDuration.inSeconds)
    values["totalInterFrameDelay"] = .double(decoder.totalInterFrameDelay.inSeconds)
    values["totalSquaredInterFrameDelay"] = .double(decoder.totalSquaredInterFrameDelay)
    values["framesPerSecond"] = media?.videoFramesPerSecond(id, at: now).map {
      .double(Double($0))
    }
    values["frameWidth"] = .integer(Int64(decoder.width))
    values["frameHeight"] = .integer(Int64(decoder.height))
  }

  private func addAudio(
    _ values: inout [String: RTCStatisticsValue?], _ stream: RTPReceiveStream, _ id: Int
  ) {
    values["audioLevel"] = stream.lastAudioLevel.map { .double(pow(10, -Double($0.level) / 20)) }
    guard let audio = media?.audioReceiveStatistics(id) else { return }
    values["playoutId"] = .string(Self.playoutID)
    values["packetsDiscarded"] = .integer(audio.packetsDiscarded)
    values["totalSamplesReceived"] = .integer(audio.totalSamplesReceived)
    values["concealedSamples"] = .integer(audio.concealedSamples)
    values["silentConcealedSamples"] = .integer(audio.silentConcealedSamples)
    values["concealmentEvents"] = .integer(audio.concealmentEvents)
    values["insertedSamplesForDeceleration"] = .integer(audio.insertedSamplesForDeceleration)
    values["removedSamplesForAcceleration"] = .integer(audio.removedSamplesForAcceleration)
    values["jitterBufferDelay"] = .double(audio.jitterBufferDelay)
    values["jitterBufferTargetDelay"] = .double(audio.jitterBufferTargetDelay)
    values["jitterBufferEmittedCount"] = .integer(audio.jitterBufferEmittedCount)
    values["totalAudioEnergy"] = .double(audio.totalAudioEnergy)
    values["totalSamplesDuration"] = .double(audio.totalSamplesDuration)
    values["fecPacketsReceived"] = .integer(audio.fecPacketsReceived)
    values["fecPacketsDiscarded"] = .integer(audio.fecPacketsDiscarded)
  }
}

extension RTCStatisticsValue {
  static func integer(_ value: UInt64) -> RTCStatisticsValue {
    .integer(Int64(clamping: value))
  }
}

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

extension PeerConnectionCore {
  /// What `RTCPeerConnection.statistics()` has, of a core that an application or a simulation drives itself. Of what lies above a core, sources,
  /// pipelines and playout, and of sockets, it knows nothing.
  ///
  /// - Parameters:
  ///   - now: by the clock that drives the core.
  ///   - unixNanoseconds: nanoseconds since 1970 at `now`.
  public func statistics(at now: Instant, unixNanoseconds: Int64) -> RTCStatisticsReport {
    StatisticsCollector(core: self, now: now, unixNanoseconds: unixNanoseconds).report()
  }
}
