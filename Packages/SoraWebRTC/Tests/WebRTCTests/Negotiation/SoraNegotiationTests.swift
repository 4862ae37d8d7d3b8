import SoraDTLS
import SoraICE
import SoraMedia
import SoraSDP
import Testing
import WebRTC

/// Our client against offers in the shape of Sora's.
@Suite struct SoraNegotiationTests {
  private typealias Section = SoraOffer.Section

  @Test func ownSectionsAreAnsweredSendonly() throws {
    let client = Fixture.negotiator(seed: 1)
    let offer = SoraOffer(sections: [.own("audio"), .own("video")])
    try client.setRemoteDescription(.offer, SessionDescription(parsing: offer.text))
    // Official clients attach their tracks after the offer was applied.
    client.addTrack(.audio, trackID: "mic", streamIDs: ["me"])
    client.addTrack(.video, trackID: "cam", streamIDs: ["me"])
    let answer = try client.createAnswer()
    try client.setLocalDescription(.answer, answer)
    #expect(answer.media.map(\.direction) == [.sendonly, .sendonly])
    #expect(answer.media.map(\.mid) == ["audio_own", "video_own"])
    #expect(answer.bundle == ["audio_own", "video_own"])
    #expect(answer.media.allSatisfy { $0.setup == .active && $0.rtcpMux })
    #expect(answer.media[1].codecs.map(\.payloadType) == [120, 121])
    #expect(answer.media[1].codecs[0].feedback == ["nack", "nack pli", "ccm fir", "transport-cc"])
    // Id 20 would need two-byte headers, so that extension is left out.
    #expect(answer.media[0].extensions.map(\.id) == [1, 2])
    #expect(answer.media[1].sourceGroups.count == 1)
    #expect(answer.media[1].msids == [SDPMsid(stream: "me", track: "cam")])
    #expect(client.trackEvents() == [])

    let session = try #require(client.session)
    let transport = try #require(session.transport)
    #expect(transport.remote.isLite && transport.isControlling)
    #expect(transport.setup == .active)
    #expect(transport.remoteCandidates.count == 1 && transport.endOfRemoteCandidates)
    #expect(transport.remoteFingerprint.description == Fixture.fingerprint.description)
    #expect(session.media[0].send?.codec.parameters["stereo"] == "1")
    #expect(session.media[1].send?.codec.payloadType == 120)
    #expect(session.media[1].receive == nil)
  }

  @Test func tracksAddedBeforeTheOfferAreTakenToo() throws {
    let client = Fixture.negotiator(seed: 2)
    client.addTrack(.audio, trackID: "mic", streamIDs: ["me"])
    client.addTrack(.video, trackID: "cam", streamIDs: ["me"])
    let offer = SoraOffer(sections: [
      .own("audio"), .own("video"), .from("audio", "OTHER", mid: "a1"),
      .from("video", "OTHER", mid: "v1"),
    ])
    let answer = try Fixture.answer(client, offer.text)
    #expect(answer.media.map(\.direction) == [.sendonly, .sendonly, .recvonly, .recvonly])
    #expect(client.transceivers.count == 4)
    #expect(client.trackEvents() == ["+audio 2 in OTHER", "+video 3 in OTHER", "+stream OTHER"])
    #expect(client.session?.media[3].receive?.trackID == "OTHER-video")
    // No ssrc lines where nothing is sent.
    #expect(answer.media[2].sources.isEmpty && answer.media[2].msids.isEmpty)
  }

  @Test func joinLeaveJoinJoinLeaveLeave() throws {
    let client = Fixture.negotiator(seed: 3)
    client.addTrack(.audio, trackID: "mic", streamIDs: ["me"])
    var offer = SoraOffer(sections: [.own("audio")])
    var answers = 0
    func step(_ sections: [Section]) throws -> [String] {
      offer.sections = [.own("audio")] + sections
      offer.version += 1
      let answer = try Fixture.answer(client, offer.text)
      answers += 1
      #expect(answer.media.count == offer.sections.count)
      #expect(answer.origin?.version == UInt64(answers + 1))
      for (answered, offered) in zip(answer.media, offer.sections) {
        #expect((answered.port == 0) == (offered.port == 0))
      }
      #expect(client.session?.media.count == offer.sections.filter { $0.port != 0 }.count)
      return client.trackEvents()
    }
    let unusedA = Section.unused("audio", mid: "a1")
    let unusedV = Section.unused("video", mid: "v1")
    #expect(try step([]) == [])
    // Join.
    #expect(
      try step([.from("audio", "B", mid: "a1"), .from("video", "B", mid: "v1")])
        == ["+audio 1 in B", "+video 2 in B", "+stream B"])
    // Leave: the sections are given up.
    #expect(
      try step([unusedA, unusedV]) == ["-audio 1 in B", "-video 2 in B", "-stream B"])
    #expect(client.transceivers.count == 1)
    // Join in the sections that were given up, with the same mids; a second one in new sections.
    #expect(
      try step([.from("audio", "C", mid: "a1"), .from("video", "C", mid: "v1")])
        == ["+audio 3 in C", "+video 4 in C", "+stream C"])
    #expect(
      try step([
        .from("audio", "C", mid: "a1"), .from("video", "C", mid: "v1"),
        .from("audio", "D", mid: "a2"), .from("video", "D", mid: "v2"),
      ]) == ["+audio 5 in D", "+video 6 in D", "+stream D"])
    #expect(
      try step([
        unusedA, unusedV, .from("audio", "D", mid: "a2"), .from("video", "D", mid: "v2"),
      ]) == ["-audio 3 in C", "-video 4 in C", "-stream C"])
    // Gone without port 0: only the direction says so.
    var quietA = Section.from("audio", "D", mid: "a2")
    var quietV = Section.from("video", "D", mid: "v2")
    (quietA.direction, quietA.msid) = ("inactive", nil)
    (quietV.direction, quietV.msid) = ("inactive", nil)
    #expect(
      try step([unusedA, unusedV, quietA, quietV])
        == ["-audio 5 in D", "-video 6 in D", "-stream D"])
    #expect(client.transceivers[0].currentDirection == .sendonly)
  }

  @Test func aSectionMayChangeItsOwnerAtOnce() throws {
    let client = Fixture.negotiator(seed: 4)
    try Fixture.answer(client, SoraOffer(sections: [.from("video", "B", mid: "x")]).text)
    #expect(client.trackEvents() == ["+video 0 in B", "+stream B"])
    // The same mid for another connection.
    try Fixture.answer(client, SoraOffer(sections: [.from("video", "C", mid: "x")]).text)
    #expect(
      client.trackEvents() == ["-video 0 in B", "-stream B", "+video 0 in C", "+stream C"])
    // Another mid in the same section.
    try Fixture.answer(client, SoraOffer(sections: [.from("video", "D", mid: "y")]).text)
    #expect(
      client.trackEvents() == ["-video 0 in C", "-stream C", "+video 1 in D", "+stream D"])
    #expect(client.transceivers.map(\.mid) == ["y"])
    // A new kind after port 0.
    try Fixture.answer(
      client,
      SoraOffer(sections: [.unused("video", mid: "y"), .from("video", "E", mid: "z")]).text)
    let answer = try Fixture.answer(
      client,
      SoraOffer(sections: [.from("audio", "E", mid: "y"), .from("video", "E", mid: "z")]).text)
    #expect(answer.media.map(\.kind) == ["audio", "video"])
    #expect(client.session?.media.map(\.kind) == [.audio, .video])
  }

  @Test func everybodyMayLeave() throws {
    let client = Fixture.negotiator(seed: 5)
    try Fixture.answer(client, SoraOffer(sections: [.from("video", "B", mid: "x")]).text)
    let transport = client.session?.transport
    let answer = try Fixture.answer(client, SoraOffer(sections: [.unused("video", mid: "x")]).text)
    #expect(answer.media[0].port == 0 && answer.bundle == nil)
    #expect(client.session?.media.isEmpty == true)
    #expect(client.session?.transport == transport)
  }

  @Test func simulcastIsAnsweredWithTheOfferedLayers() throws {
    let client = Fixture.negotiator(seed: 6)
    let video = client.addTrack(.video, trackID: "cam", streamIDs: ["me"])
    var section = Section.own("video")
    section.extra = [
      "a=rid:r0 recv", "a=rid:r1 recv max-width=640", "a=rid:r2 recv",
      "a=simulcast:recv r0;r1;~r2", "b=TIAS:900000",
    ]
    try client.setRemoteDescription(
      .offer, SessionDescription(parsing: SoraOffer(sections: [section]).text))
    #expect(video.sender.encodings.map(\.rid) == ["r0", "r1", "r2"])
    video.setEncoding(rid: "r0", isActive: false)
    let answer = try client.createAnswer()
    try client.setLocalDescription(.answer, answer)
    #expect(answer.media[0].attribute("simulcast") == "send ~r0;r1;~r2")
    #expect(answer.media[0].attributes("rid") == ["r0 send", "r1 send", "r2 send"])
    #expect(answer.media[0].sources.isEmpty)
    let send = try #require(client.session?.media[0].send)
    #expect(send.encodings.map(\.rid) == ["r0", "r1", "r2"])
    #expect(send.encodings.map(\.isPausedByPeer) == [false, false, true])
    #expect(send.encodings[1].restrictions["max-width"] == "640")
    #expect(Set(send.encodings.flatMap { [$0.ssrc, $0.rtxSSRC ?? 0] }).count == 6)
    #expect(send.maximumBitrate == 900_000)

    // A re-offer keeps the SSRCs; one without simulcast leaves a single encoding.
    try Fixture.answer(client, SoraOffer(version: 2, sections: [section]).text)
    #expect(client.session?.media[0].send?.encodings.map(\.ssrc) == send.encodings.map(\.ssrc))
    let plain = try Fixture.answer(client, SoraOffer(version: 3, sections: [.own("video")]).text)
    #expect(plain.media[0].sources.first?.ssrc == send.encodings[0].ssrc)
    #expect(client.session?.media[0].send?.encodings.map(\.rid) == [nil])
  }

  @Test func simulcastBetweenOurselves() throws {
    let sender = Fixture.negotiator(seed: 7)
    let server = Fixture.negotiator(seed: 8) { $0.receivesSimulcast = true }
    sender.addTransceiver(.video, trackID: "v", streamIDs: ["s"], rids: ["lo", "hi"])
    try Fixture.exchange(sender, server)
    #expect(sender.session?.media[0].send?.encodings.map(\.rid) == ["lo", "hi"])
    #expect(server.session?.media[0].receive?.rids == ["lo", "hi"])

    let plain = Fixture.negotiator(seed: 9)
    let other = Fixture.negotiator(seed: 10)
    other.addTransceiver(.video, trackID: "v", streamIDs: ["s"], rids: ["lo", "hi"])
    try Fixture.exchange(other, plain)
    #expect(other.session?.media[0].send?.encodings.map(\.rid) == [nil])

    // The server offers to receive.
    let viewer = Fixture.negotiator(seed: 11)
    viewer.addTrack(.video, trackID: "v", streamIDs: ["s"])
    let offering = Fixture.negotiator(seed: 12)
    offering.addTransceiver(.video, direction: .recvonly).receiveRids = ["r0", "r1"]
    try Fixture.exchange(offering, viewer)
    #expect(viewer.session?.media[0].send?.encodings.map(\.rid) == ["r0", "r1"])
    #expect(offering.session?.media[0].receive?.rids == ["r0", "r1"])
  }
}
