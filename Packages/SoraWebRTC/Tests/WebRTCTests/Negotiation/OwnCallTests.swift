import SoraICE
import SoraMedia
import SoraSDP
import Testing
import WebRTC

/// Two negotiators of ours with each other.
@Suite struct OwnCallTests {
  @Test func audioAndVideoBothWays() throws {
    let alice = Fixture.negotiator(seed: 1)
    let bob = Fixture.negotiator(seed: 2)
    alice.addTrack(.audio, trackID: "a1", streamIDs: ["alice"])
    alice.addTrack(.video, trackID: "v1", streamIDs: ["alice"])
    bob.addTrack(.audio, trackID: "a2", streamIDs: ["bob"])
    bob.addTrack(.video, trackID: "v2", streamIDs: ["bob"])
    alice.localCandidates = ["candidate:1 1 udp 2130706431 192.0.2.1 5000 typ host"]
    #expect(alice.isNegotiationNeeded)
    try Fixture.exchange(alice, bob)
    #expect(!alice.isNegotiationNeeded && !bob.isNegotiationNeeded)

    #expect(
      bob.events() == [
        "state have-remote-offer", "+audio 0 in alice", "+video 1 in alice", "+stream alice",
        "direction 0 sendrecv", "direction 1 sendrecv", "state stable", "negotiated",
      ])
    #expect(
      alice.events() == [
        "state have-local-offer", "direction 0 sendrecv", "direction 1 sendrecv", "state stable",
        "+audio 0 in bob", "+video 1 in bob", "+stream bob", "negotiated",
      ])
    let a = try #require(alice.session)
    let b = try #require(bob.session)
    #expect(a.media.map(\.mid) == ["0", "1"] && b.media.map(\.mid) == ["0", "1"])
    let transportA = try #require(a.transport)
    let transportB = try #require(b.transport)
    #expect(transportA.isControlling && !transportB.isControlling)
    #expect(transportA.setup == .passive && transportB.setup == .active)
    #expect(transportB.remote.ufrag == alice.configuration.iceUfrag)
    #expect(transportB.remoteCandidates == alice.localCandidates)
    #expect(!transportB.endOfRemoteCandidates && transportB.isRemoteTrickling)

    let video = try #require(a.media[1].send)
    let received = try #require(b.media[1].receive)
    #expect(video.codec.name == "VP8" && video.codec.payloadType == 96)
    #expect(video.codec.rtxPayloadType == 97)
    #expect(video.codec.feedback == [.nack, .pli, .fir, .transportCC, .remb])
    #expect(received.codec(payloadType: 97)?.isRetransmission == true)
    #expect(received.codec(payloadType: 96)?.codec.name == "VP8")
    #expect(received.codec(payloadType: 98) == nil)
    #expect(
      received.sources == [
        RemoteSource(
          ssrc: video.encodings[0].ssrc, rtxSSRC: video.encodings[0].rtxSSRC, cname: alice.cname)
      ])
    #expect(received.trackID == "v1" && received.streamIDs == ["alice"])
    #expect(a.media[0].send?.codec.name == "opus")
    #expect(a.media[0].send?.encodings[0].rtxSSRC == nil)
    #expect(a.media[1].extensions == b.media[1].extensions)
    #expect(a.media[1].extensionID(HeaderExtensionURI.mid) != nil)
    // One id means one URI in the whole session.
    #expect(
      a.media[0].extensionID(HeaderExtensionURI.mid)
        == a.media[1].extensionID(HeaderExtensionURI.mid))
  }

  @Test func removingATrackTakesTheStreamAway() throws {
    let alice = Fixture.negotiator(seed: 3)
    let bob = Fixture.negotiator(seed: 4)
    let video = alice.addTrack(.video, trackID: "v", streamIDs: ["s"])
    try Fixture.exchange(alice, bob)
    #expect(video.currentDirection == .sendonly)
    #expect(bob.session?.media[0].direction == .recvonly)
    _ = bob.events()
    alice.removeTrack(of: video)
    #expect(alice.isNegotiationNeeded)
    try Fixture.exchange(alice, bob)
    #expect(bob.trackEvents() == ["-video 0 in s", "-stream s"])
    #expect(alice.session?.media[0].direction == .inactive)
    #expect(alice.session?.media[0].send == nil)
    // The same transceiver sends again when asked to.
    alice.setTrack(of: video, "v2", streamIDs: ["s2"])
    try Fixture.exchange(alice, bob)
    #expect(bob.trackEvents() == ["+video 0 in s2", "+stream s2"])
  }

  @Test func theOtherSideOffersNext() throws {
    let alice = Fixture.negotiator(seed: 5) { $0.videoCodecs[0].preferredPayloadType = 100 }
    let bob = Fixture.negotiator(seed: 6)
    alice.addTrack(.video, trackID: "v", streamIDs: ["a"])
    try Fixture.exchange(alice, bob)
    bob.addTrack(.video, trackID: "w", streamIDs: ["b"])
    bob.addTrack(.audio, trackID: "x", streamIDs: ["b"])
    #expect(bob.isNegotiationNeeded)
    _ = alice.events()
    try Fixture.exchange(bob, alice)
    #expect(alice.trackEvents() == ["+video 0 in b", "+audio 1 in b", "+stream b"])
    // What was settled stays: payload types, header extension ids, roles.
    let session = try #require(bob.session)
    #expect(session.media.map(\.mid) == ["0", "1"])
    #expect(session.media[0].send?.codec.payloadType == 100)
    #expect(session.transport?.setup == .active && alice.session?.transport?.setup == .passive)
    #expect(session.transport?.isControlling == false)
    #expect(session.media[0].direction == .sendrecv)
  }

  /// The numbers of retransmissions that the peer doesn't take are neither used up nor others each time.
  @Test func offersKeepTheirPayloadTypes() throws {
    let alice = Fixture.negotiator(seed: 47)
    let bob = Fixture.negotiator(seed: 48) { $0.videoCodecs[0].usesRetransmission = false }
    bob.addTransceiver(.video)
    try Fixture.exchange(bob, alice)
    let first = try alice.createOffer().media[0]
    for _ in 0..<80 {
      let offer = try alice.createOffer()
      try #require(offer.media[0].formats == first.formats)
      try alice.setLocalDescription(.offer, offer)
      try alice.setRemoteDescription(.answer, try Fixture.answer(bob, offer.text))
    }
    #expect(first.formats.count == 2)
  }

  @Test func stoppedSectionsAreUsedAgain() throws {
    let alice = Fixture.negotiator(seed: 7)
    let bob = Fixture.negotiator(seed: 8)
    alice.addTrack(.audio, trackID: "a", streamIDs: ["s"])
    let video = alice.addTrack(.video, trackID: "v", streamIDs: ["s"])
    try Fixture.exchange(alice, bob)
    _ = (alice.events(), bob.events())
    alice.stop(video)
    #expect(alice.isNegotiationNeeded)
    try Fixture.exchange(alice, bob)
    #expect(video.isStopped && video.mid == nil)
    #expect(
      bob.events().filter { $0.hasPrefix("-") || $0.hasPrefix("stopped") }
        == ["-video 1 in s", "stopped 1"])
    #expect(alice.localDescription?.media[1].port == 0)
    #expect(alice.localDescription?.bundle == ["0"])
    #expect(bob.transceivers.count == 1)

    alice.addTrack(.audio, trackID: "a2", streamIDs: ["t"])
    try Fixture.exchange(alice, bob)
    #expect(alice.localDescription?.media.count == 2)
    #expect(alice.localDescription?.media[1].kind == "audio")
    #expect(alice.session?.media.map(\.mid) == ["0", "2"])
    #expect(bob.trackEvents() == ["+audio 2 in t", "+stream t"])
  }

  @Test func dataChannelsWhenWanted() throws {
    let alice = Fixture.negotiator(seed: 9)
    let bob = Fixture.negotiator(seed: 10) { $0.acceptsDataChannels = true }
    alice.wantsDataChannels = true
    alice.addTransceiver(.audio)
    try Fixture.exchange(alice, bob)
    #expect(bob.session?.data?.mid == "1")
    #expect(alice.session?.data?.remoteSCTPPort == 5000)
    #expect(alice.session?.data?.remoteMaximumMessageSize == 262_144)

    let carol = Fixture.negotiator(seed: 11)
    let dave = Fixture.negotiator(seed: 12)
    carol.wantsDataChannels = true
    carol.addTransceiver(.audio)
    try Fixture.exchange(carol, dave)
    #expect(carol.session?.data == nil)
    #expect(dave.localDescription?.media[1].port == 0)
  }

  @Test func codecsOfSeveralKindsFollowThePreference() throws {
    func all() -> [CodecCapability] {
      [
        .vp8, .video("VP9", parameters: ["profile-id": "0"]), .video("AV1"),
        .video(
          "H264",
          parameters: [
            "level-asymmetry-allowed": "1", "packetization-mode": "1",
            "profile-level-id": "42e01f",
          ]),
      ]
    }
    let alice = Fixture.negotiator(seed: 13) { $0.videoCodecs = all() }
    let bob = Fixture.negotiator(seed: 14) { $0.videoCodecs = all().reversed() }
    alice.addTrack(.video, trackID: "v", streamIDs: [])
    let answerer = bob.addTrack(.video, trackID: "w", streamIDs: [])
    try Fixture.exchange(alice, bob)
    // Without a preference of its own the answer follows the offer.
    #expect(bob.session?.media[0].send?.codec.name == "VP8")
    answerer.codecPreferences = [all()[2], all()[3]]
    try Fixture.exchange(alice, bob)
    #expect(bob.session?.media[0].send?.codecs.map(\.name) == ["AV1", "H264"])
    #expect(alice.session?.media[0].send?.codec.name == "AV1")
    let codecs = try #require(alice.session?.media[0].receive?.codecs)
    let payloadTypes: [UInt8] = codecs.flatMap { codec -> [UInt8] in
      [codec.payloadType, codec.rtxPayloadType ?? 0]
    }
    #expect(Set(payloadTypes).count == 4)
  }

  @Test func h264ProfilesAndLevelsMustFit() throws {
    func h264(_ profile: String, asymmetric: Bool = true, mode: Int = 1) -> [CodecCapability] {
      [
        .video(
          "H264",
          parameters: [
            "level-asymmetry-allowed": asymmetric ? "1" : "0", "packetization-mode": "\(mode)",
            "profile-level-id": profile,
          ])
      ]
    }
    func settled(_ a: [CodecCapability], _ b: [CodecCapability]) throws -> String? {
      let alice = Fixture.negotiator(seed: 15) { $0.videoCodecs = a }
      let bob = Fixture.negotiator(seed: 16) { $0.videoCodecs = b }
      alice.addTransceiver(.video)
      try Fixture.exchange(alice, bob)
      return alice.session?.media[0].receive.map { _ in "" }
        ?? bob.localDescription?.media[0].codecs[0].parameters["profile-level-id"]
    }
    #expect(try settled(h264("42e01f"), h264("42e034")) == "42e034")
    #expect(
      try settled(h264("42e01f", asymmetric: false), h264("42e034", asymmetric: false)) == "42e01f")
    #expect(try settled(h264("4d801f"), h264("42e01f")) == "42e01f")
    #expect(throws: NegotiationError.self) { try settled(h264("64001f"), h264("42e01f")) }
    #expect(throws: NegotiationError.self) { try settled(h264("42e01f"), h264("42e01f", mode: 0)) }
  }

  @Test func bitrateLimitsReachTheSender() throws {
    let alice = Fixture.negotiator(seed: 17)
    let bob = Fixture.negotiator(seed: 18)
    alice.addTrack(.video, trackID: "v", streamIDs: ["s"])
    try Fixture.exchange(alice, bob)
    bob.transceivers[0].receiveBitrateLimit = 300_000
    try Fixture.exchange(alice, bob)
    #expect(alice.session?.media[0].send?.maximumBitrate == 300_000)
    #expect(
      bob.localDescription?.media[0].bandwidths.first == SDPBandwidth(modifier: "AS", value: 300))
  }

  @Test func directionIsTheIntersectionOfBothWishes() throws {
    for offered in MediaDirection.allCases {
      for wanted in MediaDirection.allCases {
        let alice = Fixture.negotiator(seed: 19)
        let bob = Fixture.negotiator(seed: 20)
        alice.addTransceiver(.audio, direction: offered, trackID: "t", streamIDs: ["s"])
        try Fixture.exchange(alice, bob)
        bob.transceivers[0].direction = wanted
        try Fixture.exchange(alice, bob)
        let expected = wanted.intersection(offered.reversed)
        #expect(bob.transceivers[0].currentDirection == expected)
        #expect(alice.transceivers[0].currentDirection == expected.reversed)
        #expect((alice.session?.media[0].send != nil) == expected.receives)
        #expect((bob.session?.media[0].send != nil) == expected.sends)
      }
    }
  }
}
