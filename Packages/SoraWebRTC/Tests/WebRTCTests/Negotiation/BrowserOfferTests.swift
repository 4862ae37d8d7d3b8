import SoraMedia
import SoraSDP
import Testing
import WebRTC

/// Offers in the shape that browsers and other stacks write, and damaged ones.
@Suite struct BrowserOfferTests {
  static let chromium = Fixture.crlf(
    """
    v=0
    o=- 4611731400430051336 2 IN IP4 127.0.0.1
    s=-
    t=0 0
    a=group:BUNDLE 0 1 2
    a=extmap-allow-mixed
    a=msid-semantic: WMS stream-1
    m=audio 9 UDP/TLS/RTP/SAVPF 111 63 9 0 8 13 110 126
    c=IN IP4 0.0.0.0
    a=rtcp:9 IN IP4 0.0.0.0
    a=ice-ufrag:Kx3f
    a=ice-pwd:Zq81bYfVd0lL7cHjT5mWn2Re
    a=ice-options:trickle
    a=fingerprint:\(Fixture.fingerprint.description)
    a=setup:actpass
    a=mid:0
    a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level
    a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time
    a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01
    a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid
    a=sendrecv
    a=msid:stream-1 audio-track
    a=rtcp-mux
    a=rtcp-rsize
    a=rtpmap:111 opus/48000/2
    a=rtcp-fb:111 transport-cc
    a=fmtp:111 minptime=10;useinbandfec=1
    a=rtpmap:63 red/48000/2
    a=fmtp:63 111/111
    a=rtpmap:9 G722/8000
    a=rtpmap:0 PCMU/8000
    a=rtpmap:8 PCMA/8000
    a=rtpmap:13 CN/8000
    a=rtpmap:110 telephone-event/48000
    a=rtpmap:126 telephone-event/8000
    a=ssrc:3735928559 cname:pQ7sUbx0Zr1eK2aL
    a=ssrc:3735928559 msid:stream-1 audio-track
    m=video 9 UDP/TLS/RTP/SAVPF 96 97 103 104 45 46
    c=IN IP4 0.0.0.0
    a=rtcp:9 IN IP4 0.0.0.0
    a=ice-ufrag:Kx3f
    a=ice-pwd:Zq81bYfVd0lL7cHjT5mWn2Re
    a=ice-options:trickle
    a=fingerprint:\(Fixture.fingerprint.description)
    a=setup:actpass
    a=mid:1
    a=extmap:14 urn:ietf:params:rtp-hdrext:toffset
    a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time
    a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01
    a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid
    a=extmap:10 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id
    a=extmap:11 urn:ietf:params:rtp-hdrext:sdes:repaired-rtp-stream-id
    a=sendrecv
    a=msid:stream-1 video-track
    a=rtcp-mux
    a=rtcp-rsize
    a=rtpmap:96 VP8/90000
    a=rtcp-fb:96 goog-remb
    a=rtcp-fb:96 transport-cc
    a=rtcp-fb:96 ccm fir
    a=rtcp-fb:96 nack
    a=rtcp-fb:96 nack pli
    a=rtpmap:97 rtx/90000
    a=fmtp:97 apt=96
    a=rtpmap:103 H264/90000
    a=fmtp:103 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42001f
    a=rtpmap:104 rtx/90000
    a=fmtp:104 apt=103
    a=rtpmap:45 AV1/90000
    a=fmtp:45 level-idx=5;profile=0;tier=0
    a=rtpmap:46 rtx/90000
    a=fmtp:46 apt=45
    a=ssrc-group:FID 1001 1002
    a=ssrc:1001 cname:pQ7sUbx0Zr1eK2aL
    a=ssrc:1001 msid:stream-1 video-track
    a=ssrc:1002 cname:pQ7sUbx0Zr1eK2aL
    a=ssrc:1002 msid:stream-1 video-track
    m=application 9 UDP/DTLS/SCTP webrtc-datachannel
    c=IN IP4 0.0.0.0
    a=ice-ufrag:Kx3f
    a=ice-pwd:Zq81bYfVd0lL7cHjT5mWn2Re
    a=ice-options:trickle
    a=fingerprint:\(Fixture.fingerprint.description)
    a=setup:actpass
    a=mid:2
    a=sctp-port:5000
    a=max-message-size:262144
    """)

  @Test func chromiumOffer() throws {
    let client = Fixture.negotiator(seed: 1)
    client.addTrack(.video, trackID: "mine", streamIDs: ["me"])
    let answer = try Fixture.answer(client, Self.chromium)
    #expect(answer.media.map(\.port) == [9, 9, 0])
    #expect(answer.media.map(\.direction) == [.recvonly, .sendrecv, .inactive])
    #expect(answer.media[0].codecs.map(\.description) == ["opus/48000/2", "red/48000/2"])
    #expect(answer.media[1].formats == ["96", "97"])
    #expect(answer.allowsMixedExtensions)
    #expect(answer.media[1].extensions.map(\.id) == [2, 3, 4, 10, 11])
    let session = try #require(client.session)
    #expect(session.transport?.isControlling == false)
    #expect(
      session.media[1].receive?.sources == [
        RemoteSource(ssrc: 1001, rtxSSRC: 1002, cname: "pQ7sUbx0Zr1eK2aL")
      ])
    #expect(
      client.trackEvents() == ["+audio 1 in stream-1", "+video 0 in stream-1", "+stream stream-1"])
  }

  @Test func sessionLevelTransportAndNoMsid() throws {
    // A small stack: credentials and fingerprint in the session part, no msid, no feedback lines.
    let offer = Fixture.crlf(
      """
      v=0
      o=- 1 1 IN IP4 0.0.0.0
      s=-
      t=0 0
      a=group:BUNDLE v
      a=ice-ufrag:abcd
      a=ice-pwd:0123456789012345678901
      a=fingerprint:\(Fixture.fingerprint.description)
      a=setup:passive
      m=video 40000 RTP/SAVPF 100
      c=IN IP4 192.0.2.5
      a=mid:v
      a=sendonly
      a=rtcp-mux
      a=rtpmap:100 vp8/90000
      a=candidate:1 1 UDP 1 192.0.2.5 40000 typ host
      """)
    let client = Fixture.negotiator(seed: 2)
    let answer = try Fixture.answer(client, offer)
    #expect(answer.media[0].proto == "RTP/SAVPF")
    #expect(answer.media[0].setup == .active)
    #expect(!answer.media[0].rtcpReducedSize)
    #expect(client.trackEvents() == ["+video 0 in default", "+stream default"])
    let receive = try #require(client.session?.media[0].receive)
    #expect(receive.codecs.map(\.payloadType) == [100])
    #expect(receive.codecs[0].rtxPayloadType == nil && receive.codecs[0].feedback == [])
    #expect(receive.sources.isEmpty)
    #expect(client.session?.transport?.isRemoteTrickling == false)
  }

  @Test func bundleOnlySectionsAreInUse() throws {
    let offer = Self.chromium.replacing(
      "m=video 9 UDP/TLS/RTP/SAVPF 96 97 103 104 45 46\r\n",
      with: "m=video 0 UDP/TLS/RTP/SAVPF 96 97 103 104 45 46\r\na=bundle-only\r\n")
    let answer = try Fixture.answer(Fixture.negotiator(seed: 3), offer)
    #expect(answer.media.map(\.port) == [9, 9, 0])
  }

  @Test func trackWithoutStreamAndMovedTrack() throws {
    let client = Fixture.negotiator(seed: 4)
    var section = SoraOffer.Section.from("audio", "B", mid: "x")
    section.msid = "- t"
    try Fixture.answer(client, SoraOffer(sections: [section]).text)
    #expect(client.trackEvents() == ["+audio 0 in "])
    section.msid = "s1 t"
    try Fixture.answer(client, SoraOffer(sections: [section]).text)
    #expect(client.trackEvents() == ["+audio 0 in s1", "+stream s1"])
    section.extra = ["a=msid:s2 t"]
    try Fixture.answer(client, SoraOffer(sections: [section]).text)
    #expect(client.trackEvents() == ["+audio 0 in s2", "+stream s2"])
    section.extra = []
    try Fixture.answer(client, SoraOffer(sections: [section]).text)
    #expect(client.trackEvents() == ["-audio 0 in s2", "-stream s2"])
  }

  @Test func payloadTypesOfTheOfferStayFreeOfOurs() throws {
    // The peer uses 96 for something else; a later offer of ours must not give it to VP8 in a new section.
    let client = Fixture.negotiator(seed: 5)
    let offer = SoraOffer(sections: [.own("audio")]).text
      .replacing("SAVPF 109\r\n", with: "SAVPF 109 96 97\r\n")
    try Fixture.answer(client, offer + "a=rtpmap:96 CN/8000\r\na=rtpmap:97 CN/16000\r\n")
    client.addTransceiver(.video)
    let next = try client.createOffer()
    #expect(next.media[0].formats == ["109", "63"])
    #expect(Set(next.media[1].formats).isDisjoint(with: ["96", "97", "109"]))
    #expect(next.media[1].formats.count == 2)
  }

  @Test func damagedOffersNeverTrapAndKeepTheStateSound() throws {
    let random = RandomSource(seed: 99)
    let originals = [
      Self.chromium, SoraOffer(sections: [.own("video"), .from("audio", "B", mid: "b")]).text,
    ].map { Array($0.utf8) }
    var negotiator = Fixture.negotiator(seed: 6)
    var applied = 0
    for round in 0..<4_000 {
      if round % 50 == 0 { negotiator = Fixture.negotiator(seed: UInt64(round)) }
      var bytes = originals[(round / 50) % 2]
      for _ in 0..<Int(random.next() % 3) {
        let place = Int(random.next() % UInt64(bytes.count))
        switch random.next() % 4 {
        case 0: bytes[place] = UInt8(truncatingIfNeeded: 32 + random.next() % 90)
        case 1: bytes.removeSubrange(place..<min(bytes.count, place + 12))
        case 2: bytes.insert(contentsOf: bytes[place..<min(bytes.count, place + 90)], at: place)
        default: bytes.insert(UInt8(ascii: "9"), at: place)
        }
      }
      guard let offer = bytes.withUnsafeBytes({ try? SessionDescription(parsing: $0) }) else {
        continue
      }
      if (try? negotiator.setRemoteDescription(.offer, offer)) != nil {
        let answer = try negotiator.createAnswer()
        if random.next() % 8 == 0 {
          try negotiator.rollback()
        } else {
          try negotiator.setLocalDescription(.answer, answer)
          applied += 1
        }
      }
      #expect(negotiator.signalingState == .stable)
      while negotiator.nextEvent() != nil {}
    }
    #expect(applied > 800)
  }
}
