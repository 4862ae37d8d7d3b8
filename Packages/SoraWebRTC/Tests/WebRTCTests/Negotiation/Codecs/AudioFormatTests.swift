import SoraMedia
import SoraSDP
import Testing
import WebRTC

/// What descriptions say about Opus and its redundancy (RFC 7587 §7, RFC 2198 §5).
@Suite struct AudioFormatTests {
  private func section(_ extra: [String], formats: String = "109") -> String {
    var section = SoraOffer.Section.own("audio")
    section.extra = extra
    return SoraOffer(sections: [section]).text.replacing("SAVPF 109", with: "SAVPF \(formats)")
  }

  private let red = ["a=rtpmap:63 red/48000/2", "a=fmtp:63 109/109"]

  private func client() -> JSEPNegotiator {
    let client = Fixture.negotiator(seed: 9)
    client.addTrack(.audio, trackID: "mine", streamIDs: ["me"])
    return client
  }

  @Test func weOfferRedundancyBehindOpusWithItsPayloadType() throws {
    let section = try client().createOffer().media[0]
    #expect(section.codecs.map(\.description) == ["opus/48000/2", "red/48000/2"])
    #expect(section.formats == ["111", "63"])
    #expect(section.codecs[1].parameters.description == "111/111")
  }

  @Test func bothSidesOfOursAgreeOnRedundancy() throws {
    let (alice, bob) = (Fixture.negotiator(seed: 1), client())
    alice.addTrack(.audio, trackID: "a", streamIDs: ["a"])
    try Fixture.exchange(alice, bob)
    for party in [alice, bob] {
      let media = try #require(party.session?.media.first)
      #expect(media.send?.codec.name == "opus")
      #expect(media.send?.codec.payloadType == 111)
      #expect(media.send?.redundancy == NegotiatedRedundancy(payloadType: 63, isPreferred: false))
      #expect(media.receive?.codec(payloadType: 63)?.codec.name == "red")
    }
  }

  @Test func aPeerThatListsItFirstPrefersIt() throws {
    let client = client()
    let answer = try Fixture.answer(client, section(red, formats: "63 109"))
    #expect(answer.media[0].formats == ["63", "109"])
    #expect(answer.media[0].codecs[0].parameters.description == "109/109")
    let send = try #require(client.session?.media[0].send)
    #expect(send.codec.name == "opus" && send.codec.payloadType == 109)
    #expect(send.redundancy?.isPreferred == true)
    #expect(send.redundancy?.copies(setting: nil) == 1)
    #expect(send.redundancy?.copies(setting: 0) == 0)
    #expect(send.redundancy?.copies(setting: 99) == 4)
  }

  @Test(arguments: [
    ["a=rtpmap:63 red/48000/2"], ["a=rtpmap:63 red/48000/2", "a=fmtp:63 109/9"],
    ["a=rtpmap:63 red/48000/2", "a=fmtp:63 9/9"], ["a=rtpmap:63 red/48000/2", "a=fmtp:63 63/63"],
    ["a=rtpmap:63 red/48000/2", "a=fmtp:63 /"],
    ["a=rtpmap:63 red/48000/2", "a=fmtp:63 109/109/300"],
    ["a=rtpmap:63 red/8000", "a=fmtp:63 109/109"],
    ["a=rtpmap:63 red/48000/2", "a=fmtp:63 109=109"],
  ])
  func redundancyOfAnythingElseIsTurnedDown(_ lines: [String]) throws {
    let client = client()
    let answer = try Fixture.answer(client, section(lines, formats: "109 63"))
    #expect(answer.media[0].formats == ["109"])
    #expect(client.session?.media[0].send?.redundancy == nil)
  }

  @Test func stereoIsAskedForWhereItIsWantedOrComes() throws {
    func answered(_ parameters: String) throws -> FormatParameters {
      let offer = section([]).replacing("minptime=10;useinbandfec=1;stereo=1", with: parameters)
      return try Fixture.answer(client(), offer).media[0].codecs[0].parameters
    }
    let both = try answered("stereo=1")
    #expect(both["stereo"] == "1" && both["sprop-stereo"] == "1")
    #expect(both["useinbandfec"] == "1" && both["minptime"] == "10")
    let theirs = try answered("stereo=0;sprop-stereo=1")
    #expect(theirs["stereo"] == "1" && theirs["sprop-stereo"] == nil)
    let mono = try answered("useinbandfec=1")
    #expect(mono["stereo"] == nil && mono["sprop-stereo"] == nil)
  }

  /// G.711 is offered under the numbers that it has for good (RFC 3551 §6), and taken without an rtpmap then.
  @Test func codecsWithNumbersOfTheirOwnKeepThem() throws {
    let alice = Fixture.negotiator(seed: 51) { $0.audioCodecs = CodecCapability.audio }
    alice.addTransceiver(.audio)
    alice.addTransceiver(.video)
    let offer = try alice.createOffer()
    #expect(offer.media[0].formats == ["111", "63", "0", "8", "110", "126"])
    #expect(offer.media[1].formats == ["96", "97"])
    try alice.setLocalDescription(.offer, offer)
    let bob = Fixture.negotiator(seed: 52) { $0.audioCodecs = [.g711(.pcma)] }
    var answer = try Fixture.answer(bob, offer.text)
    #expect(answer.media[0].formats == ["8"])
    answer.media[0].lines.removeAll { $0.name == "rtpmap" }
    try alice.setRemoteDescription(.answer, answer)
    let send = try #require(alice.session?.media[0].send)
    #expect(send.codec.name == "PCMA" && send.codec.payloadType == 8)
  }

  /// What we ask of a peer that has stereo to send isn't what it asks of us (RFC 7587 §7.1).
  @Test(arguments: [
    ("stereo=0;sprop-stereo=1", "0"), ("sprop-stereo=1", nil), ("stereo=1;sprop-stereo=1", "1"),
    ("useinbandfec=1", nil),
  ])
  func stereoIsSentWhereItIsWanted(parameters: String, stereo: String?) throws {
    let client = client()
    try Fixture.answer(
      client, section([]).replacing("minptime=10;useinbandfec=1;stereo=1", with: parameters))
    let send = try #require(client.session?.media[0].send)
    #expect(send.codec.parameters["stereo"] == stereo)
    #expect(send.codec.parameters["sprop-stereo"] == nil || parameters.contains("sprop"))
  }

  @Test func packetTimesOfTheSectionReachTheSender() throws {
    let client = client()
    try Fixture.answer(client, section(["a=ptime:40", "a=maxptime:60"]))
    let send = try #require(client.session?.media[0].send)
    #expect(send.codec.parameters["ptime"] == "40")
    #expect(send.codec.parameters["maxptime"] == "60")
    #expect(send.codec.parameters["stereo"] == "1")
    // What fmtp itself says comes first.
    let other = self.client()
    let offer = section(["a=ptime:40"]).replacing("minptime=10;", with: "ptime=60;")
    try Fixture.answer(other, offer)
    #expect(other.session?.media[0].send?.codec.parameters["ptime"] == "60")
  }
}
