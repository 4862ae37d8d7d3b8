import SoraDTLS
import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraRTP
import SoraSDP
import SoraTransport
import SoraWire
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

  /// Exchanges that are given up first: ours, with a restart; the peer's, before the second of two; offers that cross.
  private static func rollbackSeeds() -> [[UInt8]] {
    let twice = Seeds.text(Descriptions.offer) + [0] + Seeds.text(Descriptions.offer)
    return [
      [4 + 8 + 16 + 2] + twice, [4 + 32] + twice, [4 + 8 + 16 + 32 + 2] + twice,
      [4 + 16 + 1] + Seeds.text(Descriptions.answer),
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

  /// What a rollback leaves as it was.
  private struct Settled {
    let local: [Substring]?
    let remote: String?
    let session: NegotiatedSession?
    let credentials: ICEParameters
    let isPaired: Bool
    let mids: [Int: String]

    init(_ core: PeerConnectionCore) {
      // Candidates are gathered all the while.
      local = core.localDescription?.split(whereSeparator: \.isNewline)
        .filter { !$0.hasPrefix("a=candidate") && $0 != "a=end-of-candidates" }
      remote = core.remoteDescription
      session = core.negotiator.session
      credentials = core.transport.ice.localParameters
      isPaired = core.transport.ice.remoteParameters != nil
      mids = Dictionary(
        uniqueKeysWithValues: core.negotiator.transceivers.compactMap { transceiver in
          transceiver.mid.map { (transceiver.id, $0) }
        })
    }
  }

  /// Begins an exchange, by our offer, the peer's or both, maybe with a restart of ICE, and gives it up.
  private static func rollBack(
    _ core: PeerConnectionCore, _ text: String, choice: UInt8, at now: Instant
  ) {
    // The exchange before may have stopped halfway.
    try? core.rollback(at: now)
    let before = Settled(core)
    if choice & 8 != 0 { core.restartICE(at: now) }
    if choice & 16 != 0 {
      do throws(NegotiationError) {
        try core.setLocalDescription(
          .offer, try core.createOffer(), addresses: [FuzzAddresses.local], at: now)
      } catch {}
    }
    let state = core.negotiator.signalingState
    if choice & 32 != 0 {
      do throws(NegotiationError) {
        try core.setRemoteDescription(.offer, text, at: now)
        _ = try core.createAnswer()
      } catch {
        check(
          core.negotiator.signalingState == state
            || core.negotiator.signalingState == .haveRemoteOffer, "an error changed the state")
      }
    }
    let isUnderWay = core.negotiator.signalingState != .stable
    check((try? core.rollback(at: now)) != nil || !isUnderWay, "an exchange can't be given up")
    check(core.negotiator.signalingState == .stable, "given up and not stable")
    let after = Settled(core)
    check(after.local == before.local, "a rollback changed our description")
    check(after.remote == before.remote, "a rollback changed the peer's description")
    check(after.session == before.session, "a rollback changed the session")
    // Before ICE knows the peer's, ours bind nobody: the next description has whichever there are.
    check(
      !before.isPaired || after.credentials == before.credentials,
      "a rollback changed ICE's credentials")
    check(after.mids == before.mids, "a rollback changed mids")
    check((try? core.rollback(at: now)) == nil, "a rollback of nothing")
  }

  /// Descriptions all the way to streams and candidates, and back.
  static var peerConnection: FuzzTarget {
    let certificate = try? SimulationCertificate.make(1)
    return FuzzTarget(
      "peer-connection", maximumLength: 5000, seeds: negotiationSeeds() + rollbackSeeds()
    ) { bytes in
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
        if choice & 4 != 0 { rollBack(core, text, choice: choice, at: now) }
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
    from local: TransportAddress, to remote: TransportAddress, ecn: ECNCodepoint, capacity: Int,
    _ write: (UnsafeMutableRawBufferPointer) -> Int
  ) {
    lendExactly([UInt8](repeating: 0, count: capacity)) { check(write($0) <= capacity, "overrun") }
  }
}
