import SoraDTLS
import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraRTP
import SoraSDP
import SoraTransport
import WebRTC

extension FuzzTarget {
  private static func negotiationSeeds() -> [[UInt8]] {
    let zero: [UInt8] = [0]
    return [
      [0] + Seeds.text(Descriptions.offer), [2] + Seeds.text(Descriptions.simulcastOffer),
      [1] + Seeds.text(Descriptions.answer), [2] + Seeds.text(Descriptions.codecsOffer),
      [4] + Seeds.text(Descriptions.offer) + zero + Seeds.text(Descriptions.simulcastOffer),
      [0] + Seeds.text(Descriptions.offer) + zero + Seeds.text(Descriptions.offer),
    ]
  }

  /// The descriptions of an input, which zero bytes separate.
  private static func texts(_ bytes: UnsafeRawBufferPointer) -> [String] {
    bytes.dropFirst().split(separator: 0, omittingEmptySubsequences: false).prefix(3)
      .map { String(decoding: $0, as: UTF8.self) }
  }

  static var negotiator: FuzzTarget {
    FuzzTarget("negotiator", maximumLength: 5000, seeds: negotiationSeeds()) { bytes in
      guard let choice = bytes.first else { return }
      var configuration = NegotiationConfiguration(
        iceUfrag: "wxyz", icePassword: "0123456789abcdef01234567",
        fingerprints: [SDPFingerprint(algorithm: "sha-256", bytes: Array(repeating: 1, count: 32))])
      configuration.acceptsDataChannels = choice & 8 != 0
      configuration.receivesSimulcast = choice & 16 != 0
      var received = CodecCapability.h265
      received.direction = .recvonly
      configuration.videoCodecs = [.vp8, .vp9, .av1] + CodecCapability.h264 + [received]
      let negotiator = JSEPNegotiator(configuration: configuration, random: RandomSource(seed: 6))
      if choice & 3 != 0 {
        negotiator.addTransceiver(.audio, trackID: "a", streamIDs: ["s"])
        negotiator.addTransceiver(.video, trackID: "v", rids: choice & 2 != 0 ? ["l", "h"] : [])
      }
      for text in texts(bytes) {
        guard let description = try? SessionDescription(parsing: text) else { continue }
        try? exchange(
          negotiator, description, isAnswer: choice & 1 != 0, rollsBack: choice & 32 != 0)
        while negotiator.nextEvent() != nil {}
        _ = (negotiator.session, negotiator.isNegotiationNeeded, negotiator.localDescription?.text)
        for section in negotiator.session?.media ?? [] {
          for codec in section.receive?.codecs ?? [] {
            _ = RTPPayloadFormats.named(codec.name, parameters: codec.parameters.dictionary)
          }
        }
        if let line = text.split(separator: "\n").first(where: { $0.hasPrefix("a=candidate") }) {
          _ = try? negotiator.addRemoteCandidate(String(line), mLineIndex: Int(choice >> 6))
        }
        if choice & 4 != 0, let first = negotiator.transceivers.first { negotiator.stop(first) }
      }
      if negotiator.signalingState == .stable, let offer = try? negotiator.createOffer() {
        check((try? SessionDescription(parsing: offer.text)) != nil, "our own offer doesn't parse")
      }
      negotiator.close()
    }
  }

  private static func exchange(
    _ negotiator: JSEPNegotiator, _ description: SessionDescription, isAnswer: Bool, rollsBack: Bool
  ) throws(NegotiationError) {
    if isAnswer, negotiator.signalingState == .stable {
      let offer = try negotiator.createOffer()
      try negotiator.setLocalDescription(.offer, offer)
      try negotiator.setRemoteDescription(.answer, description)
      return
    }
    try negotiator.setRemoteDescription(.offer, description)
    let answer = try negotiator.createAnswer()
    if rollsBack { return }
    try negotiator.setLocalDescription(.answer, answer)
    check((try? SessionDescription(parsing: answer.text)) != nil, "our own answer doesn't parse")
  }

  /// Descriptions all the way to streams and candidates.
  static var peerConnection: FuzzTarget {
    let certificate = try? SimulationCertificate.make(1)
    return FuzzTarget("peer-connection", maximumLength: 5000, seeds: negotiationSeeds()) { bytes in
      guard let choice = bytes.first, let certificate else { return }
      let core = PeerConnectionCore(
        configuration: PeerConnectionCore.Configuration(
          certificate: certificate, dtls: StandInDTLSFactory(),
          wallClock: WallClock(unixNanoseconds: 0, at: .zero)),
        random: RandomSource(seed: 7), sink: DiscardingSink())
      if choice & 3 != 0 {
        core.negotiator.addTransceiver(.audio, trackID: "a", streamIDs: ["s"])
        core.negotiator.addTransceiver(
          .video, trackID: "v", rids: choice & 2 != 0 ? ["l", "h"] : [])
      }
      var now = Instant.zero
      for text in texts(bytes) {
        do throws(NegotiationError) {
          if choice & 1 != 0 {
            let offer = try core.createOffer()
            try core.setLocalDescription(.offer, offer, addresses: [FuzzAddresses.local], at: now)
            try core.setRemoteDescription(.answer, text, at: now)
          } else {
            try core.setRemoteDescription(.offer, text, at: now)
            let answer = try core.createAnswer()
            try core.setLocalDescription(.answer, answer, addresses: [FuzzAddresses.local], at: now)
          }
        } catch {}
        for transceiver in core.negotiator.transceivers {
          _ = core.videoBitrate(transceiverID: transceiver.id)
          _ = core.sendStreams(transceiverID: transceiver.id)
        }
        let end = now + .milliseconds(500)
        drive(until: end, from: now, deadline: core.nextDeadline) { core.poll(at: $0) }
        now = end
      }
      core.close(at: now)
    }
  }
}

private final class DiscardingSink: DatagramSink {
  func send(
    from local: TransportAddress, to remote: TransportAddress, capacity: Int,
    _ write: (UnsafeMutableRawBufferPointer) -> Int
  ) {
    lendExactly([UInt8](repeating: 0, count: capacity)) { check(write($0) <= capacity, "overrun") }
  }
}
