import SoraMedia
import SoraSDP
import Testing
import WebRTC

/// Format parameters in offers and answers (RFC 6184 §8.2.2, RFC 7798 §7.2.2, RFC 9628 §6, AV1 RTP §7.2).
@Suite struct FormatNegotiationTests {
  static let everything: [CodecCapability] =
    [.vp8, .vp9, .av1] + CodecCapability.h264 + [.h265]

  /// An offer of one video section with these lines about its codecs.
  static func offer(_ codecs: [String], direction: String = "sendrecv") -> String {
    let types = codecs.compactMap { line in
      line.hasPrefix("a=rtpmap:") ? line.dropFirst(9).split(separator: " ").first : nil
    }
    let lines =
      [
        "v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0",
        "m=video 9 UDP/TLS/RTP/SAVPF \(types.joined(separator: " "))", "c=IN IP4 0.0.0.0",
        "a=ice-ufrag:abcd", "a=ice-pwd:0123456789012345678901",
        "a=fingerprint:\(Fixture.fingerprint.description)", "a=setup:actpass", "a=mid:0",
        "a=\(direction)", "a=rtcp-mux",
      ] + codecs
    return lines.map { $0 + "\r\n" }.joined()
  }

  static func h264(_ type: Int, _ profile: String, mode: Int? = 1, more: String = "") -> [String] {
    let mode = mode.map { "packetization-mode=\($0);" } ?? ""
    return [
      "a=rtpmap:\(type) H264/90000",
      "a=fmtp:\(type) level-asymmetry-allowed=1;\(mode)profile-level-id=\(profile)\(more)",
    ]
  }

  static func negotiator(_ codecs: [CodecCapability] = everything) -> JSEPNegotiator {
    let negotiator = Fixture.negotiator(seed: 5) { $0.videoCodecs = codecs }
    negotiator.addTrack(.video, trackID: "v", streamIDs: ["s"])
    return negotiator
  }

  /// What a current Chromium offers for video, in its order.
  static let chromium: [String] =
    [
      "a=rtpmap:96 VP8/90000", "a=rtpmap:97 rtx/90000", "a=fmtp:97 apt=96",
    ]
    + h264(103, "42001f") + ["a=rtpmap:104 rtx/90000", "a=fmtp:104 apt=103"]
    + h264(107, "42001f", mode: 0) + ["a=rtpmap:108 rtx/90000", "a=fmtp:108 apt=107"]
    + h264(109, "42e01f") + ["a=rtpmap:114 rtx/90000", "a=fmtp:114 apt=109"]
    + h264(115, "42e01f", mode: 0) + ["a=rtpmap:116 rtx/90000", "a=fmtp:116 apt=115"]
    + h264(117, "4d001f") + ["a=rtpmap:118 rtx/90000", "a=fmtp:118 apt=117"]
    + h264(39, "4d001f", mode: 0) + ["a=rtpmap:40 rtx/90000", "a=fmtp:40 apt=39"]
    + [
      "a=rtpmap:45 AV1/90000", "a=fmtp:45 level-idx=5;profile=0;tier=0",
      "a=rtpmap:46 rtx/90000", "a=fmtp:46 apt=45",
      "a=rtpmap:98 VP9/90000", "a=fmtp:98 profile-id=0",
      "a=rtpmap:99 rtx/90000", "a=fmtp:99 apt=98",
      "a=rtpmap:100 VP9/90000", "a=fmtp:100 profile-id=2",
      "a=rtpmap:101 rtx/90000", "a=fmtp:101 apt=100",
      "a=rtpmap:35 VP9/90000", "a=fmtp:35 profile-id=1",
      "a=rtpmap:37 VP9/90000", "a=fmtp:37 profile-id=3",
    ]
    + h264(119, "f4001f") + h264(121, "f4001f", mode: 0)
    + [
      "a=rtpmap:49 H265/90000", "a=fmtp:49 level-id=180;profile-id=1;tier-flag=0;tx-mode=SRST",
      "a=rtpmap:50 rtx/90000", "a=fmtp:50 apt=49",
      "a=rtpmap:123 red/90000", "a=rtpmap:125 ulpfec/90000",
    ]

  @Test func whatChromiumOffersIsAnsweredFormatByFormat() throws {
    let client = Self.negotiator()
    let answer = try Fixture.answer(client, Self.offer(Self.chromium))
    let codecs = answer.media[0].codecs.filter { $0.name != "rtx" }
    #expect(codecs.map(\.payloadType) == [96, 103, 107, 109, 115, 117, 39, 45, 98, 49])
    // Each with the payload type that repeats it.
    #expect(answer.media[0].codecs.count == 2 * codecs.count)
    let profiles = codecs.filter { $0.name == "H264" }.map {
      "\($0.parameters["profile-level-id"] ?? "") \($0.parameters["packetization-mode"] ?? "")"
    }
    // What we receive: full HD and more, whatever level the peer is at.
    #expect(
      profiles == ["420034 1", "420034 0", "42e034 1", "42e034 0", "4d0034 1", "4d0034 0"])
    #expect(codecs.last?.parameters["level-id"] == "156")
    let send = try #require(client.session?.media[0].send)
    let receive = try #require(client.session?.media[0].receive)
    // What we send: what the peer declares.
    #expect(send.codecs[1].parameters["profile-level-id"] == "42001f")
    #expect(send.codecs[2].parameters["packetization-mode"] == "0")
    #expect(receive.codecs[1].parameters["profile-level-id"] == "420034")
    #expect(send.codecs[9].parameters["level-id"] == "156")
    #expect(send.codecs[7].parameters["level-idx"] == "5")
    #expect(receive.codecs[7].parameters["level-idx"] == "5")
    let rtx = send.codecs.map(\.rtxPayloadType)
    #expect(rtx == [97, 104, 108, 114, 116, 118, 40, 46, 99, 50])
  }

  @Test func whatAiortcOffersIsAnswered() throws {
    let client = Self.negotiator(CodecCapability.h264)
    let codecs = [
      "a=rtpmap:97 VP8/90000", "a=rtpmap:99 H264/90000",
      "a=fmtp:99 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42001f",
      "a=rtpmap:100 rtx/90000", "a=fmtp:100 apt=99", "a=rtpmap:101 H264/90000",
      "a=fmtp:101 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f",
    ]
    let answer = try Fixture.answer(client, Self.offer(codecs))
    #expect(answer.media[0].formats == ["99", "100", "101"])
  }

  @Test func withoutLeaveToDifferBothLevelsAreTheLower() throws {
    func levels(_ profile: String, ours: String) throws -> [String?] {
      let client = Self.negotiator(
        CodecCapability.h264(encodable: [ours], decodable: [ours]))
      let offer = Self.offer([
        "a=rtpmap:102 H264/90000", "a=fmtp:102 packetization-mode=1;profile-level-id=\(profile)",
      ])
      let answer = try Fixture.answer(client, offer)
      let codec = answer.media[0].codecs[0]
      #expect(codec.parameters["level-asymmetry-allowed"] == nil)
      let media = client.session?.media[0]
      return [
        codec.parameters["profile-level-id"],
        media?.send?.codec.parameters["profile-level-id"],
        media?.receive?.codecs[0].parameters["profile-level-id"],
      ]
    }
    #expect(try levels("42e01f", ours: "42e034") == ["42e01f", "42e01f", "42e01f"])
    #expect(try levels("42e034", ours: "42e01f") == ["42e01f", "42e01f", "42e01f"])
    // The same profile, written by other flags.
    #expect(try levels("4d8028", ours: "42e01f") == ["42e01f", "42e01f", "42e01f"])
    // Level 1b is 11 with a flag, between 1 and 1.1 (ITU-T H.264 table A-1).
    #expect(try levels("42f00b", ours: "42e01f") == ["42f00b", "42f00b", "42f00b"])
    #expect(try levels("42f00b", ours: "42e00a") == ["42e00a", "42e00a", "42e00a"])
    #expect(try levels("42e00b", ours: "42f00b") == ["42f00b", "42f00b", "42f00b"])
  }

  @Test func absentParametersMeanWhatTheRFCsSay() throws {
    // H.264: Baseline at level 1, single units.
    var client = Self.negotiator()
    var answer = try Fixture.answer(client, Self.offer(["a=rtpmap:102 H264/90000"]))
    #expect(answer.media[0].codecs[0].parameters["packetization-mode"] == "0")
    #expect(answer.media[0].codecs[0].parameters["profile-level-id"] == "42000a")
    // H.265: Main at level 3.1; VP9 and AV1: profile 0.
    client = Self.negotiator()
    let names = ["H265", "VP9", "AV1"].enumerated().map { "a=rtpmap:\(100 + $0) \($1)/90000" }
    answer = try Fixture.answer(client, Self.offer(names))
    #expect(answer.media[0].formats == ["100", "101", "102"])
    #expect(answer.media[0].codecs[0].parameters["level-id"] == "93")
    #expect(client.session?.media[0].send?.codec.parameters["level-id"] == "93")
  }

  @Test func formatsThatCannotBeDoneAreLeftOut() throws {
    let client = Self.negotiator()
    let codecs =
      Self.h264(101, "42e01f", mode: 2) + Self.h264(102, "f4001f") + Self.h264(103, "7a001f")
      + Self.h264(104, "x2e01f") + Self.h264(105, "42e01") + [
        "a=rtpmap:106 H265/90000", "a=fmtp:106 profile-id=2",
        "a=rtpmap:107 H265/90000", "a=fmtp:107 tx-mode=MRST",
        "a=rtpmap:108 H265/90000", "a=fmtp:108 tier-flag=1",
        "a=rtpmap:109 VP9/90000", "a=fmtp:109 profile-id=2",
        "a=rtpmap:110 AV1/90000", "a=fmtp:110 profile=1", "a=rtpmap:96 VP8/90000",
      ]
    let answer = try Fixture.answer(client, Self.offer(codecs))
    #expect(answer.media[0].formats == ["96"])
  }

  @Test func everyFormatHasPayloadTypesOfItsOwn() throws {
    let alice = Self.negotiator()
    let bob = Self.negotiator()
    let offer = try alice.createOffer()
    let codecs = offer.media[0].codecs
    #expect(codecs.count == 2 * Self.everything.count)
    #expect(Set(codecs.map(\.payloadType)).count == codecs.count)
    #expect(codecs.filter { $0.name == "H264" }.count == 10)
    #expect(codecs.allSatisfy { $0.name == "rtx" || (35...127).contains($0.payloadType) })
    try Fixture.exchange(alice, bob)
    let send = try #require(alice.session?.media[0].send)
    #expect(send.codecs.count == Self.everything.count)
    #expect(
      zip(send.codecs, Self.everything).allSatisfy {
        $0.name == $1.name && $0.parameters["profile-level-id"] == $1.parameters["profile-level-id"]
          && $0.parameters["packetization-mode"] == $1.parameters["packetization-mode"]
      })
  }

  @Test func aCodecThatIsOnlyDecodedIsOfferedWhereNothingIsSent() throws {
    var h265 = CodecCapability.h265
    h265.direction = .recvonly
    let alice = Fixture.negotiator(seed: 7) { $0.videoCodecs = [h265, .vp8] }
    alice.addTransceiver(.video, direction: .sendrecv, trackID: "a", streamIDs: [])
    alice.addTransceiver(.video, direction: .recvonly, trackID: "b", streamIDs: [])
    alice.addTransceiver(.video, direction: .sendonly, trackID: "c", streamIDs: [])
    let offer = try alice.createOffer()
    #expect(
      offer.media.map { $0.codecs.map(\.name) } == [
        ["VP8", "rtx"], ["H265", "rtx", "VP8", "rtx"], ["VP8", "rtx"],
      ])
    // A peer that offers nothing else gets an answer that receives.
    let bob = Self.negotiator([h265])
    let answer = try Fixture.answer(bob, Self.offer(["a=rtpmap:100 H265/90000"]))
    #expect(answer.media[0].direction == .recvonly)
    #expect(bob.session?.media[0].send == nil)
    #expect(bob.session?.media[0].receive?.codecs.map(\.name) == ["H265"])
    // Where there is a choice, the section stays as it was wished.
    let carol = Self.negotiator([h265, .vp8])
    let both = try Fixture.answer(
      carol, Self.offer(["a=rtpmap:100 H265/90000", "a=rtpmap:101 VP8/90000"]))
    #expect(both.media[0].direction == .sendrecv && both.media[0].formats == ["101"])
    // And where the peer only sends, what it sends can be chosen freely.
    let dave = Self.negotiator([h265, .vp8])
    let receiving = try Fixture.answer(
      dave,
      Self.offer(["a=rtpmap:100 H265/90000", "a=rtpmap:101 VP8/90000"], direction: "sendonly"))
    #expect(receiving.media[0].formats == ["100", "101"])
  }

  @Test func profilesFollowEncodersAndDecoders() {
    let all = CodecCapability.h264(
      encodable: ["42e034"], decodable: ["42e01f", "42e028", "640028", "nonsense"])
    #expect(
      all.map { $0.parameters["profile-level-id"] } == ["42e028", "42e028", "640028", "640028"])
    #expect(all.map(\.direction) == [.sendrecv, .sendrecv, .recvonly, .recvonly])
    #expect(all.map { $0.parameters["packetization-mode"] } == ["1", "0", "1", "0"])
    #expect(CodecCapability.h264(encodable: [], decodable: []).isEmpty)
  }

  @Test func profilesOfVP9FollowEncodersAndDecoders() throws {
    let all = CodecCapability.vp9(encodable: ["0"], decodable: ["0", "2", "1"])
    #expect(all.map { $0.parameters["profile-id"] } == ["0", "2"])
    #expect(all.map(\.direction) == [.sendrecv, .recvonly])
    #expect(all.map(\.preferredPayloadType) == [98, 100])
    #expect(CodecCapability.vp9(encodable: [], decodable: []).isEmpty)
    // RFC 9628 §6: absent is 0. Of 1 and 3 there is none.
    func answered(_ lines: [String]) throws -> String? {
      let client = Self.negotiator(
        CodecCapability.vp9(encodable: ["0", "2"], decodable: ["0", "2"]))
      let answer = try Fixture.answer(client, Self.offer(["a=rtpmap:98 VP9/90000"] + lines))
      return answer.media[0].codecs[0].parameters["profile-id"]
    }
    #expect(try answered(["a=fmtp:98 profile-id=2"]) == "2")
    #expect(try answered(["a=fmtp:98 profile-id=0"]) == "0")
    #expect(try answered([]) == "0")
    #expect(throws: (any Error).self) { try answered(["a=fmtp:98 profile-id=1"]) }
  }

  @Test func parameterSetsOfTheDescriptionReachTheReceiver() throws {
    let client = Self.negotiator()
    let codecs = Self.h264(102, "42e01f", more: ";sprop-parameter-sets=Z0IACpZTBYmI,aMljiA==")
    let answer = try Fixture.answer(client, Self.offer(codecs))
    let media = try #require(client.session?.media[0])
    #expect(
      media.receive?.codecs[0].parameters["sprop-parameter-sets"] == "Z0IACpZTBYmI,aMljiA==")
    // They describe the peer's stream, not ours.
    #expect(answer.media[0].codecs[0].parameters["sprop-parameter-sets"] == nil)
  }
}
