import SoraDTLS
import Testing
import WebRTC

/// What a factory gives before there is a connection: certificates, and an offer that only names codecs.
@Suite struct CapabilityTests {
  /// The lines that are the same in every offer.
  private func lines(_ sdp: String) -> [Substring] {
    let random = [
      "o=", "a=ice-ufrag:", "a=ice-pwd:", "a=fingerprint:", "a=ssrc", "a=msid:", "a=mid:",
    ]
    return sdp.split(whereSeparator: \.isNewline).filter { line in
      !random.contains { line.hasPrefix($0) }
    }
  }

  private func fingerprint(_ sdp: String) -> Substring? {
    sdp.split(whereSeparator: \.isNewline).first { $0.hasPrefix("a=fingerprint:") }?.dropFirst(14)
  }

  @Test func theOfferSaysWhatAConnectionsOwnWould() async throws {
    let factory = RTCPeerConnectionFactory()
    let peer = try factory.makePeerConnection(with: RTCConfiguration())
    defer { peer.close() }
    for kind in [RTCRtpMediaType.video, .audio] {
      try await peer.addTransceiver(of: kind, direction: .sendOnly, streamIds: ["s"])
    }
    let whole = try await peer.offer().sdp
    let capability = try factory.capabilityOffer(
      sending: [.video, .audio], streamId: "s", certificate: .generate())
    #expect(capability.type == .offer)
    #expect(lines(capability.sdp) == lines(whole))
    #expect(lines(capability.sdp).contains { $0.contains("VP8/90000") })
  }

  /// Repair packets, and feedback by source: offered where they are asked for.
  @Test(arguments: [false, true]) func repairAndFeedbackAreOfferedOnRequest(isWanted: Bool)
    async throws
  {
    var configuration = RTCConfiguration()
    configuration.settings.offersRepair = isWanted
    configuration.settings.offersFeedbackBySource = isWanted
    let peer = try RTCPeerConnectionFactory().makePeerConnection(with: configuration)
    defer { peer.close() }
    try await peer.addTransceiver(of: .video, direction: .sendOnly, streamIds: ["s"])
    let sdp = try await peer.offer().sdp
    for line in [" ulpfec/90000", " flexfec-03/90000", " ack ccfb"] {
      #expect(sdp.contains(line) == isWanted, "\(line) in \(sdp)")
    }
    #expect(sdp.contains("rtcp-fb:96 transport-cc") == !isWanted)
  }

  /// Nothing is opened and nothing secured for it: it can be had where a connection can't.
  @Test func theOfferNeedsNoConnection() throws {
    let factory = RTCPeerConnectionFactory(
      videoCodecs: RTCPeerConnectionFactory().videoCodecs,
      endpoints: .failure(.library(reason: "none")))
    let certificate = try RTCCertificate.generate()
    let offer = try factory.capabilityOffer(
      sending: [.audio], streamId: "s", certificate: certificate)
    #expect(offer.sdp.contains("m=audio") && !offer.sdp.contains("m=video"))
    #expect(fingerprint(offer.sdp).map(String.init) == certificate.fingerprint)
  }

  @Test func aConnectionShowsTheCertificateThatItWasGiven() async throws {
    let factory = RTCPeerConnectionFactory()
    var configuration = RTCConfiguration()
    configuration.certificate = try RTCCertificate.generate()
    let peer = try factory.makePeerConnection(with: configuration)
    defer { peer.close() }
    try await peer.addTransceiver(of: .audio)
    let sdp = try await peer.offer().sdp
    #expect(fingerprint(sdp).map(String.init) == configuration.certificate?.fingerprint)
  }

  /// RFC 8827 §6.5: who sees two connections shall not know that they are of one endpoint.
  @Test func connectionsHaveCertificatesOfTheirOwn() async throws {
    let factory = RTCPeerConnectionFactory()
    var seen: Set<Substring> = []
    for _ in 0..<3 {
      let peer = try factory.makePeerConnection(with: RTCConfiguration())
      try await peer.addTransceiver(of: .audio)
      seen.insert(try #require(fingerprint(try await peer.offer().sdp)))
      peer.close()
    }
    #expect(seen.count == 3)
  }

  /// The rehearsal goes all the way, so that nothing is left to be met first; without cryptography it can't.
  @Test func aRehearsalIsConnected() {
    #expect(RTCPeerConnectionFactory().rehearse())
    let without = RTCPeerConnectionFactory(
      videoCodecs: RTCPeerConnectionFactory().videoCodecs,
      endpoints: .failure(.library(reason: "none")))
    #expect(!without.rehearse())
  }
}
