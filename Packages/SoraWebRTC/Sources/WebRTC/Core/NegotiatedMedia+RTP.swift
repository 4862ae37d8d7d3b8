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
    self.init(
      mid: section.mid, kind: section.kind, payloads: payloads, extensions: section.extensionMap,
      signalledSSRCs: receive.sources.map(\.ssrc),
      retransmissionPairs: receive.sources.compactMap { source in
        source.rtxSSRC.map { (source.ssrc, $0) }
      },
      sendsNack: receive.codecs.contains { $0.feedback.contains(.nack) })
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
