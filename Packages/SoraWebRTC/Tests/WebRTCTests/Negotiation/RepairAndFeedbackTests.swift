import SoraMedia
import SoraSDP
import Testing
import WebRTC

/// Feedback and repair beside the codecs: reference times, feedback by source, NACK of audio, ULPFEC and FlexFEC.
@Suite struct RepairAndFeedbackTests {
  /// An offer of one section each, with the lines that a test wants.
  private func offer(audio: [String] = [], video: [String] = [], videoTypes: String = "96 97")
    -> String
  {
    let common = [
      "c=IN IP4 0.0.0.0", "a=ice-ufrag:Kx3f", "a=ice-pwd:Zq81bYfVd0lL7cHjT5mWn2Re",
      "a=fingerprint:\(Fixture.fingerprint.description)", "a=setup:actpass", "a=rtcp-mux",
      "a=sendrecv", "a=extmap:3 \(HeaderExtensionURI.transportCC)",
    ]
    let lines =
      ["v=0", "o=- 1 1 IN IP4 0.0.0.0", "s=-", "t=0 0", "a=group:BUNDLE 0 1"]
      + ["m=audio 9 UDP/TLS/RTP/SAVPF 111"] + common + ["a=mid:0", "a=rtpmap:111 opus/48000/2"]
      + audio + ["m=video 9 UDP/TLS/RTP/SAVPF \(videoTypes)"] + common
      + [
        "a=mid:1", "a=rtpmap:96 VP8/90000", "a=rtcp-fb:96 transport-cc", "a=rtcp-fb:96 goog-remb",
        "a=rtcp-fb:96 nack", "a=rtpmap:97 rtx/90000", "a=fmtp:97 apt=96",
      ] + video
    return lines.map { $0 + "\r\n" }.joined()
  }

  private func answered(
    _ offer: String, _ change: (inout NegotiationConfiguration) -> Void = { _ in }
  ) throws -> (answer: SessionDescription, session: NegotiatedSession) {
    let client = Fixture.negotiator(seed: 5, change)
    client.addTrack(.audio, trackID: "a", streamIDs: ["s"])
    client.addTrack(.video, trackID: "v", streamIDs: ["s"])
    let answer = try Fixture.answer(client, offer)
    return (answer, try #require(client.session))
  }

  /// Either way of writing it is understood, and both are answered.
  @Test(arguments: [
    "a=rtcp-xr:rcvr-rtt=all", "a=rtcp-xr:stat-summary=loss rcvr-rtt=all:10000", "a=rtcp-fb:* rrtr",
    "a=rtcp-fb:96 rrtr",
  ])
  func referenceTimesAreAgreedOn(_ line: String) throws {
    let (answer, session) = try answered(offer(video: [line]))
    #expect(answer.media[1].attribute("rtcp-xr") == "rcvr-rtt=all")
    #expect(answer.media[1].codecs[0].feedback.contains("rrtr"))
    #expect(answer.media[0].attribute("rtcp-xr") == nil)
    #expect(session.media[1].receive?.referenceTimes == true)
    #expect(session.media[0].receive?.referenceTimes == false)
    let refused = try answered(offer(video: [line])) { $0.usesReferenceTimes = false }
    #expect(refused.answer.media[1].attribute("rtcp-xr") == nil)
    #expect(refused.session.media[1].receive?.referenceTimes == false)
  }

  @Test func otherExtendedReportsAreNotAnswered() throws {
    for line in ["a=rtcp-xr:rcvr-rtt=sender", "a=rtcp-xr:voip-metrics"] {
      let (answer, session) = try answered(offer(video: [line]))
      #expect(answer.media[1].attribute("rtcp-xr") == nil)
      #expect(session.media[1].receive?.referenceTimes == false)
    }
  }

  /// Feedback by source takes the place of all other congestion feedback.
  @Test func feedbackBySourceIsTheOnlyOne() throws {
    let (answer, session) = try answered(
      offer(audio: ["a=rtcp-fb:111 transport-cc"], video: ["a=rtcp-fb:* ack ccfb"]))
    let feedback = answer.media[1].codecs[0].feedback
    #expect(feedback.contains("ack ccfb") && feedback.contains("nack"))
    #expect(!feedback.contains("transport-cc") && !feedback.contains("goog-remb"))
    let video = session.media[1]
    #expect(video.send?.feedbackBySource == true && video.receive?.feedbackBySource == true)
    #expect(video.send?.codec.feedback == [.nack])
    #expect(session.media[0].send?.feedbackBySource == false)
    #expect(session.media[0].send?.codec.feedback == [.transportCC])
  }

  @Test func audioIsRepairedWhereThePeerOffersIt() throws {
    let (answer, session) = try answered(offer(audio: ["a=rtcp-fb:111 nack"]))
    #expect(answer.media[0].codecs[0].feedback == ["nack"])
    #expect(session.media[0].send?.codec.feedback == [.nack])
    #expect(session.media[0].receive?.codecs[0].feedback == [.nack])
    let plain = try answered(offer())
    #expect(plain.session.media[0].send?.codec.feedback == [])
    let ours = try Fixture.negotiator(seed: 1).withTracks().createOffer()
    #expect(ours.media[0].codecs[0].feedback.contains("nack") == false)
  }

  private static let repairLines = [
    "a=rtpmap:98 red/90000", "a=rtpmap:99 rtx/90000", "a=fmtp:99 apt=98",
    "a=rtpmap:100 ulpfec/90000", "a=rtpmap:35 flexfec-03/90000", "a=rtcp-fb:35 transport-cc",
    "a=fmtp:35 repair-window=10000000", "a=ssrc-group:FID 1001 1002",
    "a=ssrc-group:FEC-FR 1001 1003", "a=ssrc:1001 cname:c", "a=ssrc:1002 cname:c",
    "a=ssrc:1003 cname:c",
  ]

  @Test func repairIsAcceptedWithItsPayloadTypes() throws {
    let (answer, session) = try answered(
      offer(video: Self.repairLines, videoTypes: "96 97 98 99 100 35"))
    #expect(answer.media[1].formats == ["96", "97", "98", "99", "100", "35"])
    let send = try #require(session.media[1].send)
    let receive = try #require(session.media[1].receive)
    for repair in [send.repair, receive.repair] {
      #expect(repair?.uneven?.red == 98 && repair?.uneven?.payloadType == 100)
      #expect(repair?.uneven?.rtx == 99 && repair?.flexible == 35)
    }
    #expect(send.codec.name == "VP8" && send.codecs.count == 1)
    #expect(
      receive.sources == [RemoteSource(ssrc: 1001, rtxSSRC: 1002, repairSSRC: 1003, cname: "c")])
    // Our own repair packets' source is described, too.
    let encoding = send.encodings[0]
    let group = try #require(
      answer.media[1].sourceGroups.first { $0.semantics == "FEC-FR" })
    #expect(group.ssrcs == [encoding.ssrc, try #require(encoding.repairSSRC)])
    #expect(answer.media[1].sources.contains { $0.ssrc == encoding.repairSSRC })
  }

  @Test func repairIsLeftOutWhereItIsHalfOrUnwanted() throws {
    let half = try answered(
      offer(video: ["a=rtpmap:98 red/90000"], videoTypes: "96 97 98"))
    #expect(half.answer.media[1].formats == ["96", "97"])
    #expect(half.session.media[1].send?.repair == nil)
    // Without retransmissions of RED, where the codec has some.
    let unrepeated = try answered(
      offer(
        video: ["a=rtpmap:98 red/90000", "a=rtpmap:100 ulpfec/90000"], videoTypes: "96 97 98 100"))
    #expect(unrepeated.answer.media[1].formats == ["96", "97"])
    let unwanted = try answered(
      offer(video: Self.repairLines, videoTypes: "96 97 98 99 100 35")
    ) { $0.acceptsRepair = false }
    #expect(unwanted.answer.media[1].formats == ["96", "97"])
    #expect(unwanted.session.media[1].receive?.repair == nil)
  }

  /// Two ends of this stack: nothing of repair unless it is asked for, then all of it.
  @Test(arguments: [false, true])
  func ourOwnOffersAgree(isOffered: Bool) throws {
    let one = Fixture.negotiator(seed: 1) {
      $0.offersRepair = isOffered
      $0.offersFeedbackBySource = isOffered
    }.withTracks()
    let two = Fixture.negotiator(seed: 2).withTracks()
    try Fixture.exchange(one, two)
    for negotiator in [one, two] {
      let video = try #require(negotiator.session?.media.first { $0.kind == .video })
      #expect(video.receive?.referenceTimes == true)
      #expect(video.send?.feedbackBySource == isOffered)
      #expect((video.send?.repair != nil) == isOffered)
      #expect((video.receive?.repair?.flexible != nil) == isOffered)
      #expect((video.receive?.sources.first?.repairSSRC != nil) == isOffered)
      #expect((video.send?.encodings.first?.repairSSRC != nil) == isOffered)
      if isOffered { #expect(video.send?.repair?.uneven?.rtx != nil) }
    }
    // A second exchange keeps the numbers.
    let before = one.session?.media.first { $0.kind == .video }?.send?.repair
    try Fixture.exchange(two, one)
    let after = one.session?.media.first { $0.kind == .video }?.send?.repair
    if isOffered { #expect(after == nil || after == before) } else { #expect(after == nil) }
  }
}

extension JSEPNegotiator {
  /// With a track of each kind.
  fileprivate func withTracks() -> JSEPNegotiator {
    addTrack(.audio, trackID: "a", streamIDs: ["s"])
    addTrack(.video, trackID: "v", streamIDs: ["s"])
    return self
  }
}
