import SoraMedia
import SoraDTLS
import SoraRTP
import SoraSDP
import SoraTransport

// From the words of descriptions to those of RTP streams and of DTLS.

extension RTPSendParameters {
  /// - Parameter audioRedundancy: as in `PeerConnectionCore.Configuration`.
  init(
    _ section: NegotiatedMedia, _ send: SendParameters, _ encoding: NegotiatedEncoding,
    audioRedundancy: Int?
  ) {
    var rtx: (ssrc: UInt32, payloadType: UInt8)?
    if let ssrc = encoding.rtxSSRC, let type = send.codec.rtxPayloadType { rtx = (ssrc, type) }
    let redundancy = send.redundancy.flatMap { redundancy -> RTPRedundancy? in
      let copies = redundancy.copies(setting: audioRedundancy)
      return copies == 0
        ? nil : RTPRedundancy(payloadType: redundancy.payloadType, copies: copies)
    }
    self.init(
      mid: section.mid, rid: encoding.rid, kind: section.kind, ssrc: encoding.ssrc,
      payloadType: send.codec.payloadType, codecName: send.codec.name,
      formatParameters: send.codec.parameters.dictionary, clockRate: send.codec.clockRate, rtx: rtx,
      redundancy: redundancy,
      extensions: section.extensionMap,
      acceptsNack: send.codec.feedback.contains(.nack))
    feedback = send.feedbackBySource ? .bySource : .transportWide
    telephoneEvents = send.telephoneEvents
    // One stream is protected; of layers, lower ones stand in for what higher ones lose.
    guard section.kind == .video, send.encodings.count == 1 else { return }
    if let type = send.repair?.flexible, let ssrc = encoding.repairSSRC {
      repair = .flexible(ssrc: ssrc, payloadType: type)
    } else if let uneven = send.repair?.uneven, rtx == nil || uneven.rtx != nil {
      // Packets inside RED are sent again inside RED, or not at all.
      repair = .uneven(red: uneven.red, payloadType: uneven.payloadType, rtx: uneven.rtx)
    }
  }
}

extension RTPReceiveParameters {
  init(_ section: NegotiatedMedia, _ receive: ReceiveParameters) {
    var payloads: [Payload] = []
    for codec in receive.codecs {
      payloads.append(
        Payload(
          type: codec.payloadType, codecName: codec.name,
          formatParameters: codec.parameters.dictionary, clockRate: codec.clockRate))
      if let rtx = codec.rtxPayloadType {
        payloads.append(
          Payload(
            type: rtx, codecName: "rtx", clockRate: codec.clockRate,
            associatedType: codec.payloadType))
      }
    }
    if let uneven = receive.repair?.uneven {
      payloads.append(Payload(type: uneven.red, codecName: "red", clockRate: 90_000))
      payloads.append(Payload(type: uneven.payloadType, codecName: "ulpfec", clockRate: 90_000))
      if let rtx = uneven.rtx {
        payloads.append(
          Payload(type: rtx, codecName: "rtx", clockRate: 90_000, associatedType: uneven.red))
      }
    }
    if let flexible = receive.repair?.flexible {
      payloads.append(Payload(type: flexible, codecName: "flexfec-03", clockRate: 90_000))
    }
    self.init(
      mid: section.mid, kind: section.kind, payloads: payloads, extensions: section.extensionMap,
      signalledSSRCs: receive.sources.map(\.ssrc),
      retransmissionPairs: receive.sources.compactMap { source in
        source.rtxSSRC.map { (source.ssrc, $0) }
      },
      sendsNack: receive.codecs.contains { $0.feedback.contains(.nack) })
    repairPairs = receive.sources.compactMap { source in
      source.repairSSRC.map { (source.ssrc, $0) }
    }
    rids = receive.rids
    sendsReferenceTime = receive.referenceTimes
    feedback = receive.congestionFeedback(
      hasNumbers: extensions.transportSequenceNumber != nil)
  }
}

extension ReceiveParameters {
  /// The one way in which the peer is told what becomes of its packets. Without numbers there is nothing to tell of them.
  fileprivate func congestionFeedback(hasNumbers: Bool) -> CongestionFeedbackKind {
    CongestionFeedbackKind(
      bySource: feedbackBySource,
      transportWide: hasNumbers && codecs.contains { $0.feedback.contains(.transportCC) },
      receiverEstimate: codecs.contains { $0.feedback.contains(.remb) }) ?? .transportWide
  }
}

extension NegotiatedMedia {
  /// The header extensions by what they mean.
  var extensionMap: RTPHeaderExtensionMap {
    RTPHeaderExtensionMap(extensions.map { (id: Int($0.id), uri: $0.uri) })
  }
}

extension SDPFingerprint {
  init(_ fingerprint: DTLSFingerprint) {
    self.init(algorithm: fingerprint.algorithm, bytes: fingerprint.bytes)
  }
}
