import SoraDTLS
import SoraICE
import SoraMedia
import SoraSDP
import Testing
import WebRTC

/// Bad input gets one typed error that names what is wrong, and changes nothing.
@Suite struct NegotiationErrorTests {
  private func failure(_ negotiator: JSEPNegotiator, offer: String) -> NegotiationError? {
    do throws(NegotiationError) {
      guard let parsed = try? SessionDescription(parsing: offer) else { return nil }
      try negotiator.setRemoteDescription(.offer, parsed)
      return nil
    } catch {
      #expect(negotiator.signalingState == .stable)
      #expect(negotiator.events().isEmpty)
      #expect(negotiator.transceivers.isEmpty)
      return error
    }
  }

  @Test func noCommonCodecNamesBothSides() {
    var section = SoraOffer.Section.own("video")
    section.codec = "H265"
    let error = failure(Fixture.negotiator(seed: 1), offer: SoraOffer(sections: [section]).text)
    guard case .nothingAcceptable(let rejected)? = error else {
      Issue.record("unexpected \(String(describing: error))")
      return
    }
    #expect(rejected.count == 1 && rejected[0].kind == "video")
    #expect(
      rejected[0].reason
        == .noCommonCodec(offered: ["H265/90000", "rtx/90000"], supported: ["VP8/90000"]))
    #expect(error?.description.contains("H265/90000") == true)
    #expect(error?.description.contains("VP8/90000") == true)
  }

  @Test func oneUnusableSectionIsRejectedAlone() throws {
    var video = SoraOffer.Section.own("video")
    video.codec = "H265"
    let client = Fixture.negotiator(seed: 2)
    let text = SoraOffer(sections: [video, .own("audio")]).text
    let answer = try Fixture.answer(client, text)
    #expect(answer.media.map(\.port) == [0, 9])
    #expect(answer.bundle == ["audio_own"])
    #expect(answer.media[0].formats == ["120"])
    #expect(client.session?.media.map(\.mid) == ["audio_own"])
    #expect(client.rejectedSections.map(\.mid) == ["video_own"])
    #expect(client.session?.transport?.remote.ufrag == "soraUfrag123")
  }

  @Test func midsMustBeThereAndDiffer() {
    let text = SoraOffer(sections: [.own("audio"), .own("video")]).text
    let withoutMid = text.replacing("a=mid:video_own\r\n", with: "")
    let error = failure(Fixture.negotiator(seed: 3), offer: withoutMid)
    guard case .missingMid(1, "video", let line)? = error else {
      Issue.record("unexpected \(String(describing: error))")
      return
    }
    #expect(withoutMid.split(separator: "\r\n")[line - 1].hasPrefix("m=video"))
    let twice = text.replacing("a=mid:video_own", with: "a=mid:audio_own")
    #expect(failure(Fixture.negotiator(seed: 4), offer: twice) == .duplicateMid("audio_own"))
  }

  @Test func transportParametersMustBeThere() {
    let text = SoraOffer(sections: [.own("audio")]).text
    let cases = [
      ("a=ice-ufrag:soraUfrag123\r\n", "ice-ufrag"),
      ("a=ice-pwd:soraPassword0123456789soraPassword01\r\n", "ice-pwd"),
      ("a=fingerprint:\(Fixture.fingerprint.description)\r\n", "fingerprint"),
    ]
    for (line, name) in cases {
      #expect(
        failure(Fixture.negotiator(seed: 5), offer: text.replacing(line, with: ""))
          == .missingTransportParameter(name))
    }
    #expect(
      failure(
        Fixture.negotiator(seed: 6), offer: text.replacing("setup:actpass", with: "setup:holdconn"))
        == .unusableSetup("holdconn"))
  }

  /// Taken, they would end in a call that never connects and doesn't say why.
  @Test func transportParametersMustBeUsable() throws {
    let text = SoraOffer(sections: [.own("audio")]).text
    let fingerprint = Fixture.fingerprint.description
    let cases = [
      ("soraUfrag123", "sora_ufrag", "ice-ufrag or ice-pwd"),
      ("soraPassword0123456789soraPassword01", "sora-password-0123456789", "ice-ufrag or ice-pwd"),
      (fingerprint, fingerprint + ":00", "fingerprint"),
      (fingerprint, fingerprint.replacing("sha-256", with: "sha-3"), "fingerprint"),
    ]
    for (usual, odd, name) in cases {
      let client = Fixture.negotiator(seed: 5)
      let error = failure(client, offer: text.replacing(usual, with: odd))
      guard case .unusableTransportParameter(name, _)? = error else {
        Issue.record("\(odd): \(String(describing: error))")
        continue
      }
      #expect(client.signalingState == .stable && client.session == nil)
    }
    // One that can be used is enough, wherever it stands, and the longer hash is looked at.
    let line = "a=fingerprint:\(fingerprint)\r\n"
    let longer = "sha-512 " + Array(repeating: "AB", count: 64).joined(separator: ":")
    let several = text.replacing(
      line,
      with: "a=fingerprint:sha-3 \(fingerprint.suffix(95))\r\n\(line)a=fingerprint:\(longer)\r\n")
    let client = Fixture.negotiator(seed: 5)
    _ = try Fixture.answer(client, several)
    #expect(client.session?.transport?.remoteFingerprint.description == longer)
  }

  @Test func rtcpMuxAndBundleAreRequired() {
    let text = SoraOffer(sections: [.own("audio")]).text
    let noMux = failure(
      Fixture.negotiator(seed: 7), offer: text.replacing("a=rtcp-mux\r\n", with: ""))
    #expect(
      noMux
        == .nothingAcceptable([
          .init(index: 0, kind: "audio", mid: "audio_own", reason: .noRTCPMux)
        ]))
    let both = SoraOffer(sections: [.own("audio"), .own("video")]).text
    let split = both.replacing("a=group:BUNDLE audio_own video_own\r\n", with: "")
    guard
      case .nothingAcceptable(let rejected)? = failure(Fixture.negotiator(seed: 8), offer: split)
    else {
      Issue.record("sections without BUNDLE were accepted")
      return
    }
    #expect(rejected.map(\.reason) == [.notBundled, .notBundled])
    // A single section needs no group.
    let alone = text.replacing("a=group:BUNDLE audio_own\r\n", with: "")
    #expect(throws: Never.self) { try Fixture.answer(Fixture.negotiator(seed: 9), alone) }
  }

  @Test func unknownKindsAndDataAreRejected() throws {
    let text =
      SoraOffer(sections: [.own("audio")]).text
      .replacing("BUNDLE audio_own", with: "BUNDLE audio_own t d")
      + "m=text 9 UDP/TLS/RTP/SAVPF 98\r\na=mid:t\r\na=rtpmap:98 t140/1000\r\n"
      + "m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\na=mid:d\r\na=sctp-port:5000\r\n"
    let client = Fixture.negotiator(seed: 10)
    let answer = try Fixture.answer(client, text)
    #expect(answer.media.map(\.port) == [9, 0, 0])
    #expect(
      answer.media.map(\.proto) == ["UDP/TLS/RTP/SAVPF", "UDP/TLS/RTP/SAVPF", "UDP/DTLS/SCTP"])
    #expect(answer.media[2].formats == ["webrtc-datachannel"])
    let other = Fixture.negotiator(seed: 11) { $0.acceptsDataChannels = true }
    #expect(try Fixture.answer(other, text).media.map(\.port) == [9, 0, 9])
    #expect(other.session?.data?.mid == "d")
  }

  @Test func malformedAttributesNameTheirLine() {
    let text = SoraOffer(sections: [.own("audio")]).text
      .replacing("a=rtpmap:109 opus/48000/2", with: "a=rtpmap:109 opus")
    guard case .malformed(let error)? = failure(Fixture.negotiator(seed: 12), offer: text) else {
      Issue.record("a malformed rtpmap was accepted")
      return
    }
    #expect(error.reason == .malformedAttribute("a=rtpmap"))
    #expect(text.split(separator: "\r\n")[error.line - 1] == "a=rtpmap:109 opus")
  }

  @Test func sectionsMayNotVanishOrChangeKind() throws {
    let client = Fixture.negotiator(seed: 13)
    try Fixture.answer(client, SoraOffer(sections: [.own("audio"), .own("video")]).text)
    _ = client.events()
    let session = client.session
    #expect(throws: NegotiationError.self) {
      try Fixture.answer(client, SoraOffer(sections: [.own("audio")]).text)
    }
    var changed = SoraOffer.Section.own("audio")
    changed.mid = "video_own"
    #expect(throws: NegotiationError.self) {
      try Fixture.answer(client, SoraOffer(sections: [.own("audio"), changed]).text)
    }
    #expect(client.session == session && client.events().isEmpty)
  }

  @Test func statesAreGuarded() throws {
    let negotiator = Fixture.negotiator(seed: 14)
    negotiator.addTransceiver(.audio)
    #expect(throws: NegotiationError.invalidState(operation: "createAnswer", state: .stable)) {
      try negotiator.createAnswer()
    }
    #expect(throws: NegotiationError.self) { try negotiator.rollback() }
    let offer = try negotiator.createOffer()
    #expect(throws: NegotiationError.self) {
      try negotiator.setRemoteDescription(.answer, offer)
    }
    var changed = offer
    changed.media[0].mid = "other"
    #expect(throws: NegotiationError.self) { try negotiator.setLocalDescription(.offer, changed) }
    try negotiator.setLocalDescription(.offer, offer)
    #expect(throws: NegotiationError.self) {
      try negotiator.setRemoteDescription(.answer, SessionDescription(lines: offer.lines))
    }
    #expect(negotiator.signalingState == .haveLocalOffer)
    negotiator.close()
    #expect(throws: NegotiationError.invalidState(operation: "createOffer", state: .closed)) {
      try negotiator.createOffer()
    }
  }

  @Test func answersMustFitTheOffer() throws {
    let alice = Fixture.negotiator(seed: 15)
    let bob = Fixture.negotiator(seed: 16)
    alice.addTransceiver(.audio)
    alice.addTransceiver(.video)
    let offer = try alice.createOffer()
    try alice.setLocalDescription(.offer, offer)
    try bob.setRemoteDescription(.offer, offer)
    let answer = try bob.createAnswer()
    func expectFailure(_ change: (inout SessionDescription) -> Void) {
      var changed = answer
      change(&changed)
      #expect(throws: NegotiationError.self) { try alice.setRemoteDescription(.answer, changed) }
      #expect(alice.signalingState == .haveLocalOffer)
    }
    expectFailure { $0.media.removeLast() }
    expectFailure { $0.bundle = ["0"] }
    expectFailure { $0.media[0].setup = .actpass }
    expectFailure { $0.media[0].mid = "9" }
    expectFailure { $0.media[0].rtcpMux = false }
    expectFailure { $0.media[1].rtpMaps = [SDPRTPMap(payloadType: 96, name: "X", clockRate: 1)] }
    expectFailure {
      for index in $0.media.indices { $0.media[index].fingerprints = [] }
    }
    try alice.setRemoteDescription(.answer, answer)
    #expect(alice.signalingState == .stable)
  }
}
