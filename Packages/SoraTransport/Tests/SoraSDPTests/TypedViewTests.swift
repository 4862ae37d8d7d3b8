import SoraMedia
import SoraSDP
import Testing

@Suite struct TypedViewTests {
  @Test func sessionViewsOfASoraOffer() throws {
    let sdp = try SessionDescription(parsing: Samples.soraOffer)
    #expect(sdp.origin == SDPOrigin(sessionID: "7462871", version: 1))
    #expect(sdp.sessionName == "-")
    #expect(sdp.bundle == ["audio_AbCd", "video_AbCd", "audio_EfGh", "video_EfGh"])
    #expect(sdp.msidSemantic == "WMS *")
    #expect(sdp.isICELite)
    #expect(sdp.allowsMixedExtensions)
    #expect(sdp.fingerprints.first?.description == Samples.fingerprint)
    #expect(sdp.index(ofMid: "audio_EfGh") == 2)
    #expect(sdp.index(ofMid: "nobody") == nil)
  }

  @Test func mediaViewsOfASoraOffer() throws {
    let sdp = try SessionDescription(parsing: Samples.soraOffer)
    let audio = sdp.media[0]
    #expect(audio.mediaKind == .audio)
    #expect(audio.port == 9)
    #expect(audio.mid == "audio_AbCd")
    #expect(audio.direction == .recvonly)
    #expect(audio.maximumBitrate == 64_000)
    #expect(audio.setup == .actpass)
    #expect(audio.rtcpMux && !audio.rtcpReducedSize)
    #expect(
      audio.candidates == ["candidate:0 1 udp 2114002687 192.0.2.10 40000 typ host"])
    #expect(audio.endOfCandidates)
    let opus = try #require(audio.codecs.first)
    #expect(opus.description == "opus/48000/2")
    #expect(opus.parameters["useinbandfec"] == "1")
    #expect(opus.parameters.entries.map(\.key) == ["minptime", "useinbandfec", "stereo"])
    #expect(opus.feedback == ["transport-cc"])
    let video = sdp.media[1]
    #expect(video.rids.map(\.id) == ["r0", "r1", "r2"])
    #expect(video.simulcast?.receive.map { $0[0].isPaused } == [false, false, true])
    #expect(video.codecs[1].associatedPayloadType == 120)
    #expect(sdp.media[3].msids.first?.stream == "EFGH0123456789ABCDEFGHIJKL")
  }

  @Test func viewsOfBrowserOffers() throws {
    let chrome = try SessionDescription(parsing: Samples.chromeOffer)
    #expect(
      chrome.media[1].sourceGroups == [SDPSourceGroup(semantics: "FID", ssrcs: [1001, 1002])])
    #expect(chrome.media[1].sources.count == 4)
    #expect(chrome.media[1].sources[0].value == "pQ7sUbx0Zr1eK2aL")
    #expect(chrome.media[0].codecs.count == 8)
    #expect(chrome.media[0].extensions.map(\.id) == [1, 2, 3, 4])
    #expect(chrome.media[2].sctpPort == 5000)
    #expect(chrome.media[2].maximumMessageSize == 262144)
    #expect(chrome.media[2].formats == ["webrtc-datachannel"])
    #expect(chrome.media[0].iceOptions == ["trickle"])

    let firefox = try SessionDescription(parsing: Samples.firefoxOffer)
    let video = firefox.media[0]
    #expect(video.maximumBitrate == 1_500_000)
    #expect(video.codecs[0].feedback == ["nack", "nack pli"])
    #expect(video.codecs[1].feedback == ["nack"])
    #expect(video.extensions[1].direction == .recvonly)
    #expect(video.simulcast?.receive[0].map(\.rid) == ["hi", "mid"])
    #expect(video.rids[0].payloadTypes == [120])
    #expect(firefox.explicitDirection == .sendrecv)
    #expect(video.candidates.count == 2)
  }

  @Test func settersTouchTheirOwnLinesOnly() throws {
    var sdp = try SessionDescription(parsing: Samples.soraOffer)
    sdp.media[1].direction = .inactive
    sdp.media[1].setBandwidth("AS", 300)
    sdp.media[1].setBandwidth("TIAS", 300_000)
    sdp.media[1].port = 0
    sdp.media[2].mid = "renamed"
    sdp.bundle = ["a"]
    sdp.isICELite = false
    let expected = Samples.soraOffer
      .replacing("a=group:BUNDLE audio_AbCd video_AbCd audio_EfGh video_EfGh\r\n", with: "")
      .replacing("a=extmap-allow-mixed\r\n", with: "a=extmap-allow-mixed\r\na=group:BUNDLE a\r\n")
      .replacing("a=ice-lite\r\n", with: "")
      .replacing("b=AS:2500\r\n", with: "b=AS:300\r\nb=TIAS:300000\r\n")
      .replacing(
        "m=video 9 UDP/TLS/RTP/SAVPF 120 121\r\nc=IN IP4 0.0.0.0\r\nb",
        with: "m=video 0 UDP/TLS/RTP/SAVPF 120 121\r\nc=IN IP4 0.0.0.0\r\nb"
      )
      .replacing("a=mid:video_AbCd\r\na=recvonly", with: "a=mid:video_AbCd\r\na=inactive")
      .replacing("a=mid:audio_EfGh", with: "a=mid:renamed")
    #expect(sdp.text == expected)
  }

  @Test func everySetterIsReadBack() throws {
    var section = MediaDescription(kind: "video", formats: ["96", "97"])
    section.iceUfrag = "abcd"
    section.icePassword = "0123456789012345678901"
    section.iceOptions = ["trickle", "renomination"]
    section.fingerprints = [SDPFingerprint(algorithm: "sha-256", bytes: Array(0..<32))]
    section.setup = .passive
    section.candidates = ["candidate:1 1 udp 1 192.0.2.1 9 typ host", "2 1 udp 1 ::1 9 typ host"]
    section.endOfCandidates = true
    section.rtcpMux = true
    section.rtcpReducedSize = true
    section.rtpMaps = [SDPRTPMap(payloadType: 96, name: "VP8", clockRate: 90000)]
    section.formatParameters = [SDPFormatParameters(format: "97", parameters: ["apt": "96"])]
    section.feedback = [SDPFeedback(payloadType: nil, kind: "nack")]
    section.extensions = [SDPExtension(id: 3, direction: .sendonly, uri: "urn:x")]
    section.msids = [SDPMsid(stream: "s", track: "t")]
    section.sources = [SDPSource(ssrc: 5, name: "cname", value: "c")]
    section.sourceGroups = [SDPSourceGroup(semantics: "FID", ssrcs: [5, 6])]
    section.rids = [SDPRid(id: "hi", direction: .send, restrictions: ["pt": "96"])]
    section.simulcast = SDPSimulcast(send: [[.init(rid: "hi"), .init(rid: "lo", isPaused: true)]])
    section.packetTime = 20
    section.maximumPacketTime = 120
    section.sctpPort = 5000
    section.maximumMessageSize = 1 << 40
    let text = SessionDescription(lines: [SDPLine(type: "v", value: "0")], media: [section]).text
    let copy = try SessionDescription(parsing: text)
    try copy.validate()
    #expect(copy.media == [section])
    #expect(copy.media[0].iceOptions == ["trickle", "renomination"])
    #expect(copy.media[0].simulcast?.send[0][1].isPaused == true)
    #expect(copy.media[0].candidates[1] == "candidate:2 1 udp 1 ::1 9 typ host")
    section.iceUfrag = nil
    section.simulcast = nil
    #expect(section.iceUfrag == nil && section.simulcast == nil)
  }

  @Test func valuesCannotSmuggleLines() throws {
    var section = MediaDescription(kind: "audio", formats: ["0"])
    section.mid = "0\r\na=evil"
    let text = SessionDescription(lines: [SDPLine(type: "v", value: "0")], media: [section]).text
    #expect(try SessionDescription(parsing: text).media[0].lines.count == 1)
  }

  @Test func malformedValuesAreSkippedByViews() throws {
    let text = "v=0\r\nm=audio 9 X 300 0 0 111\r\na=rtpmap:x\r\na=rtpmap:111 opus/48000/2\r\n"
    let section = try SessionDescription(parsing: text).media[0]
    #expect(section.codecs.map(\.payloadType) == [0, 111])
    #expect(SDPFingerprint(parsing: "sha-256 +1:22") == nil)
    #expect(SDPSimulcast(parsing: "send a;") == nil)
    #expect(SDPSimulcast(parsing: "send a send b") == nil)
    #expect(SDPExtension(parsing: "99999 urn:x") == nil)
    #expect(SDPBandwidth(parsing: "AS:-1") == nil)
  }
}
