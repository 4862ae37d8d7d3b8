import SoraSDP

extension FuzzTarget {
  static var sdp: FuzzTarget {
    FuzzTarget(
      "sdp", maximumLength: 4096,
      seeds: [Descriptions.offer, Descriptions.simulcastOffer, Descriptions.minimal].map(Seeds.text)
    ) { input in
      guard let description = try? SessionDescription(parsing: input) else { return }
      try? description.validate()
      read(description)
      let text = description.text
      let again = try? SessionDescription(parsing: text)
      check(again == description, "a description reads back differently")
      check(again?.text == text, "a description is written differently the second time")
    }
  }

  private static func read(_ sdp: SessionDescription) {
    _ = (sdp.origin, sdp.bundle, sdp.fingerprints, sdp.maximumBitrate, sdp.index(ofMid: "0"))
    _ = (sdp.isICELite, sdp.iceOptions, sdp.candidates, sdp.endOfCandidates)
    for section in sdp.media {
      _ = (section.codecs, section.extensions, section.simulcast, section.rids, section.msids)
      _ = (section.sources, section.sourceGroups, section.direction, section.maximumBitrate)
      _ = (section.candidates, section.sctpPort, section.setup, section.iceOptions)
    }
  }
}

/// Descriptions to start from.
enum Descriptions {
  private static let transport = """
    a=ice-ufrag:abcd
    a=ice-pwd:0123456789abcdef01234567
    a=fingerprint:sha-256 \(Array(repeating: "AB", count: 32).joined(separator: ":"))
    a=setup:actpass

    """

  static let minimal = lines("v=0\no=- 1 1 IN IP4 127.0.0.1\ns=-\nt=0 0\n")

  static let offer = lines(
    """
    v=0
    o=- 4611686018427387904 2 IN IP4 127.0.0.1
    s=-
    t=0 0
    a=group:BUNDLE 0 1 2
    a=extmap-allow-mixed
    a=msid-semantic: WMS stream
    m=audio 9 UDP/TLS/RTP/SAVPF 109 0
    c=IN IP4 0.0.0.0
    \(transport)a=mid:0
    a=sendrecv
    a=rtcp-mux
    a=rtpmap:109 opus/48000/2
    a=fmtp:109 minptime=10;useinbandfec=1
    a=rtpmap:0 PCMU/8000
    a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level
    a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid
    a=msid:stream audio
    a=ssrc:11 cname:peer
    a=candidate:1 1 udp 2130706431 192.0.2.1 5000 typ host
    m=video 9 UDP/TLS/RTP/SAVPF 120 121
    c=IN IP6 ::
    b=AS:2500
    b=TIAS:2500000
    \(transport)a=mid:1
    a=sendonly
    a=rtcp-mux
    a=rtcp-rsize
    a=rtpmap:120 VP8/90000
    a=rtcp-fb:120 nack
    a=rtcp-fb:120 nack pli
    a=rtcp-fb:120 ccm fir
    a=rtcp-fb:120 transport-cc
    a=rtpmap:121 rtx/90000
    a=fmtp:121 apt=120
    a=extmap:3/sendonly http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01
    a=msid:stream video
    a=ssrc-group:FID 21 22
    a=ssrc:21 cname:peer
    a=ssrc:22 cname:peer
    a=end-of-candidates
    m=application 9 UDP/DTLS/SCTP webrtc-datachannel
    c=IN IP4 0.0.0.0
    \(transport)a=mid:2
    a=sctp-port:5000
    a=max-message-size:262144

    """)

  static let simulcastOffer = lines(
    """
    v=0
    o=sora 1 1 IN IP4 127.0.0.1
    s=-
    t=0 0
    a=ice-lite
    a=group:BUNDLE v
    m=video 9 UDP/TLS/RTP/SAVPF 96 97
    c=IN IP4 0.0.0.0
    \(transport)a=mid:v
    a=recvonly
    a=rtcp-mux
    a=rtpmap:96 VP8/90000
    a=rtcp-fb:* ccm fir
    a=rtpmap:97 rtx/90000
    a=fmtp:97 apt=96;rtx-time=3000
    a=extmap:2 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id
    a=rid:l recv max-width=320;pt=96
    a=rid:h recv
    a=simulcast:recv l;~h
    a=candidate:1 1 udp 1 198.51.100.1 9 typ host

    """)

  /// Codecs whose format parameters decide.
  static let codecsOffer = lines(
    """
    v=0
    o=- 1 1 IN IP4 127.0.0.1
    s=-
    t=0 0
    a=group:BUNDLE 0
    m=video 9 UDP/TLS/RTP/SAVPF 103 104 109 39 45 98 100 49 35
    c=IN IP4 0.0.0.0
    \(transport)a=mid:0
    a=sendrecv
    a=rtcp-mux
    a=rtpmap:103 H264/90000
    a=fmtp:103 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f;sprop-parameter-sets=Z0IACpZTBYmI,aMljiA==
    a=rtpmap:104 rtx/90000
    a=fmtp:104 apt=103
    a=rtpmap:109 H264/90000
    a=fmtp:109 profile-level-id=4df00b
    a=rtpmap:39 H264/90000
    a=fmtp:39 packetization-mode=2;profile-level-id=640c1f
    a=rtpmap:45 AV1/90000
    a=fmtp:45 level-idx=5;profile=0;tier=0
    a=rtpmap:98 VP9/90000
    a=fmtp:98 profile-id=0
    a=rtpmap:100 VP9/90000
    a=fmtp:100 profile-id=2
    a=rtpmap:49 H265/90000
    a=fmtp:49 level-id=180;profile-id=1;tier-flag=0;tx-mode=SRST;sprop-vps=QAE=
    a=rtpmap:35 H265/90000

    """)

  static let answer = lines(
    """
    v=0
    o=- 9 1 IN IP4 127.0.0.1
    s=-
    t=0 0
    a=group:BUNDLE 0 1
    m=audio 9 UDP/TLS/RTP/SAVPF 111
    c=IN IP4 0.0.0.0
    \(transport.replacingActpass)a=mid:0
    a=sendrecv
    a=rtcp-mux
    a=rtpmap:111 opus/48000/2
    m=video 9 UDP/TLS/RTP/SAVPF 96
    c=IN IP4 0.0.0.0
    \(transport.replacingActpass)a=mid:1
    a=recvonly
    a=rtcp-mux
    a=rtpmap:96 VP8/90000

    """)

  private static func lines(_ text: String) -> String {
    text.split(separator: "\n").joined(separator: "\r\n") + "\r\n"
  }
}

extension String {
  fileprivate var replacingActpass: String {
    split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0 == "a=setup:actpass" ? "a=setup:active" : String($0) }.joined(separator: "\n")
  }
}
