import SoraICE
import SoraMedia
import SoraSDP
import Testing
import WebRTC

@Suite struct RollbackAndCandidateTests {
  @Test func rollbackOfALocalOffer() throws {
    let alice = Fixture.negotiator(seed: 1)
    let audio = alice.addTrack(.audio, trackID: "a", streamIDs: ["s"])
    try alice.setLocalDescription(.offer, try alice.createOffer())
    #expect(audio.mid == "0")
    try alice.rollback()
    #expect(audio.mid == nil && alice.signalingState == .stable)
    #expect(alice.localDescription == nil && alice.isNegotiationNeeded)
    let bob = Fixture.negotiator(seed: 2)
    try Fixture.exchange(alice, bob)
    #expect(bob.session?.media[0].receive?.streamIDs == ["s"])
  }

  @Test func rollbackOfARemoteOffer() throws {
    let alice = Fixture.negotiator(seed: 3)
    alice.addTrack(.audio, trackID: "a", streamIDs: ["s"])
    alice.addTrack(.video, trackID: "v", streamIDs: ["s"])
    let bob = Fixture.negotiator(seed: 4)
    try bob.setRemoteDescription(.offer, try alice.createOffer())
    // A track given to one of the offered transceivers keeps it alive.
    let kept = bob.addTrack(.audio, trackID: "mine", streamIDs: ["b"])
    _ = bob.events()
    try bob.rollback()
    #expect(
      bob.events() == [
        "stopped 1", "state stable", "rolled back", "-audio 0 in s", "-video 1 in s", "-stream s",
      ])
    #expect(bob.transceivers.map(\.id) == [kept.id])
    #expect(kept.mid == nil && kept.sender.hasTrack)
    try Fixture.exchange(bob, alice)
    #expect(alice.session?.media[0].receive?.streamIDs == ["b"])
  }

  @Test func rollbackRestoresARecycledSection() throws {
    let client = Fixture.negotiator(seed: 5)
    try Fixture.answer(client, SoraOffer(sections: [.from("video", "B", mid: "x")]).text)
    _ = client.events()
    let session = client.session
    try client.setRemoteDescription(
      .offer,
      SessionDescription(
        parsing: SoraOffer(sections: [.from("video", "C", mid: "y")]).text))
    #expect(client.trackEvents() == ["-video 0 in B", "-stream B", "+video 1 in C", "+stream C"])
    try client.rollback()
    #expect(client.trackEvents() == ["-video 1 in C", "-stream C", "+video 0 in B", "+stream B"])
    #expect(client.session == session)
    #expect(client.transceivers.map(\.mid) == ["x"])
  }

  @Test func crossingOffersYieldToThePeer() throws {
    let alice = Fixture.negotiator(seed: 6)
    let bob = Fixture.negotiator(seed: 7)
    let mine = alice.addTrack(.audio, trackID: "a", streamIDs: ["alice"])
    bob.addTrack(.audio, trackID: "b", streamIDs: ["bob"])
    try alice.setLocalDescription(.offer, try alice.createOffer())
    let offer = try bob.createOffer()
    try bob.setLocalDescription(.offer, offer)
    try alice.setRemoteDescription(.offer, offer)
    #expect(alice.signalingState == .haveRemoteOffer && mine.mid == "0")
    let answer = try alice.createAnswer()
    try alice.setLocalDescription(.answer, answer)
    try bob.setRemoteDescription(.answer, answer)
    #expect(bob.session?.media[0].direction == .sendrecv)
    #expect(!alice.isNegotiationNeeded)
  }

  @Test func candidatesJoinTheRemoteDescription() throws {
    let client = Fixture.negotiator(seed: 8)
    let candidate = "candidate:9 1 udp 1 192.0.2.99 1 typ host"
    #expect(throws: NegotiationError.self) { try client.addRemoteCandidate(candidate) }
    try Fixture.answer(client, SoraOffer(sections: [.own("audio"), .own("video")]).text)
    #expect(try client.addRemoteCandidate(candidate, mid: "video_own"))
    #expect(try client.addRemoteCandidate("a=" + candidate, mLineIndex: 1))
    #expect(client.remoteDescription?.media[1].candidates.last == candidate)
    #expect(client.remoteDescription?.media[1].candidates.count == 2)
    #expect(throws: NegotiationError.unknownSection("\"nobody\"")) {
      try client.addRemoteCandidate(candidate, mid: "nobody")
    }
    #expect(throws: NegotiationError.self) {
      try client.addRemoteCandidate(candidate, mLineIndex: -1)
    }
    #expect(try client.addRemoteCandidate("", mid: "audio_own"))
  }

  @Test func localCandidatesAppearInTheLocalDescription() throws {
    let client = Fixture.negotiator(seed: 9)
    try Fixture.answer(client, SoraOffer(sections: [.own("audio")]).text)
    client.localCandidates = ["candidate:1 1 udp 2130706431 192.0.2.1 5000 typ host"]
    client.endOfLocalCandidates = true
    #expect(client.localDescription?.media[0].candidates == client.localCandidates)
    #expect(client.localDescription?.media[0].endOfCandidates == true)
  }

  @Test func newCredentialsOfThePeerRestartICE() throws {
    let client = Fixture.negotiator(seed: 10)
    let text = SoraOffer(sections: [.own("audio")]).text
    try Fixture.answer(client, text)
    #expect(!client.events().contains("ice restart"))
    try Fixture.answer(client, text.replacing("soraUfrag123", with: "another1"))
    #expect(client.events().contains("ice restart"))
    #expect(client.session?.transport?.remote.ufrag == "another1")
    #expect(client.session?.transport?.setup == .active)
  }
}
