import SoraMedia
import SoraSDP
import Testing
import WebRTC

/// That an exchange leaves nothing to negotiate: who offers whenever an offer is wanted would otherwise never come to an end.
@Suite struct NegotiationEndTests {
  /// The peer turns data channels down.
  @Test func refusedDataChannelsAreNotOfferedAgainAndAgain() throws {
    let alice = Fixture.negotiator(seed: 31)
    let bob = Fixture.negotiator(seed: 32)
    alice.addTransceiver(.audio)
    alice.wantsDataChannels = true
    #expect(alice.isNegotiationNeeded)
    try Fixture.exchange(alice, bob)
    #expect(!alice.isNegotiationNeeded)
    // Another exchange, for whatever reason, doesn't lengthen the descriptions.
    for _ in 0..<3 { try Fixture.exchange(alice, bob) }
    #expect(alice.localDescription?.media.count == 2)

    // A new channel is reason to ask once more, in the section that is free.
    bob.configuration.acceptsDataChannels = true
    alice.wantsDataChannels = true
    #expect(alice.isNegotiationNeeded)
    try Fixture.exchange(alice, bob)
    #expect(alice.localDescription?.media.count == 2)
    #expect(alice.session?.data?.index == 1 && bob.session?.data != nil)
    #expect(!alice.isNegotiationNeeded)
  }

  /// A transceiver that is stopped while the offer with its section is under way, which then is taken back.
  @Test func stoppingEndsWithARollback() throws {
    let alice = Fixture.negotiator(seed: 35)
    alice.addTrack(.audio, trackID: "a", streamIDs: ["s"])
    let video = alice.addTransceiver(.video)
    try alice.setLocalDescription(.offer, try alice.createOffer())
    alice.stop(video)
    #expect(!video.isStopped)
    try alice.rollback()
    #expect(video.isStopped && alice.transceivers.count == 1)
    let bob = Fixture.negotiator(seed: 36)
    try Fixture.exchange(alice, bob)
    #expect(alice.localDescription?.media.count == 1)
    #expect(!alice.isNegotiationNeeded)
  }

  /// The same where an offer of the peer crosses ours.
  @Test func stoppingEndsWithACrossingOffer() throws {
    let alice = Fixture.negotiator(seed: 37)
    let bob = Fixture.negotiator(seed: 38)
    let video = alice.addTransceiver(.video)
    bob.addTrack(.audio, trackID: "b", streamIDs: ["bob"])
    try alice.setLocalDescription(.offer, try alice.createOffer())
    alice.stop(video)
    try Fixture.exchange(bob, alice)
    #expect(video.isStopped)
    #expect(!alice.isNegotiationNeeded)
  }

  /// The same where another offer of ours takes the place of the first.
  @Test func stoppingEndsWithAnotherOffer() throws {
    let alice = Fixture.negotiator(seed: 39)
    let bob = Fixture.negotiator(seed: 40)
    alice.addTrack(.audio, trackID: "a", streamIDs: ["s"])
    let video = alice.addTransceiver(.video)
    try alice.setLocalDescription(.offer, try alice.createOffer())
    alice.stop(video)
    try Fixture.exchange(alice, bob)
    #expect(video.isStopped && alice.session?.media.map(\.mid) == ["0"])
    #expect(!alice.isNegotiationNeeded)
  }

  /// A transceiver that is stopped between the making of an offer and its setting: the offer gives it a section, and the next one takes
  /// that back.
  @Test func stoppingBeforeTheOfferIsSet() throws {
    let alice = Fixture.negotiator(seed: 41)
    let bob = Fixture.negotiator(seed: 42)
    alice.addTrack(.audio, trackID: "a", streamIDs: ["s"])
    let video = alice.addTrack(.video, trackID: "v", streamIDs: ["s"])
    let offer = try alice.createOffer()
    alice.stop(video)
    try alice.setLocalDescription(.offer, offer)
    let answer = try Fixture.answer(bob, offer.text)
    try alice.setRemoteDescription(.answer, answer)
    for section in alice.session?.media ?? [] {
      #expect(alice.transceivers.contains { $0.id == section.transceiverID })
    }
    #expect(alice.isNegotiationNeeded)
    try Fixture.exchange(alice, bob)
    #expect(video.isStopped && bob.transceivers.count == 1)
    #expect(!alice.isNegotiationNeeded)
  }

  /// The offer that such a transceiver is in is never set.
  @Test func stoppingBeforeAnOfferThatIsNotSet() throws {
    let alice = Fixture.negotiator(seed: 43)
    let bob = Fixture.negotiator(seed: 44)
    alice.addTrack(.audio, trackID: "a", streamIDs: ["s"])
    let video = alice.addTransceiver(.video)
    _ = try alice.createOffer()
    alice.stop(video)
    try Fixture.exchange(alice, bob)
    #expect(video.isStopped && alice.localDescription?.media.count == 1)
    #expect(!alice.isNegotiationNeeded)
  }

  /// Who has decoders alone can't have what it wants by offering again.
  @Test(arguments: [true, false])
  func codecsThatServeOneDirectionOnly(offers: Bool) throws {
    var decodable = CodecCapability.vp8
    decodable.direction = .recvonly
    let alice = Fixture.negotiator(seed: 45) { $0.videoCodecs = [decodable] }
    let bob = Fixture.negotiator(seed: 46)
    alice.addTrack(.video, trackID: "a", streamIDs: ["alice"])
    bob.addTrack(.video, trackID: "b", streamIDs: ["bob"])
    #expect(alice.isNegotiationNeeded)
    if offers { try Fixture.exchange(alice, bob) } else { try Fixture.exchange(bob, alice) }
    #expect(alice.transceivers[0].currentDirection == .recvonly)
    #expect(!alice.isNegotiationNeeded)
    // What it can still have is negotiated.
    alice.transceivers[0].direction = .inactive
    #expect(alice.isNegotiationNeeded)
  }
}
