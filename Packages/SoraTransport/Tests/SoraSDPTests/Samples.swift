/// Descriptions in the shape that real peers write. All ids, keys and addresses are made up.
enum Samples {
  static let fingerprint =
    "sha-256 00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF:00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF"

  static let chromeOffer = crlf(
    """
    v=0
    o=- 4611731400430051336 2 IN IP4 127.0.0.1
    s=-
    t=0 0
    a=group:BUNDLE 0 1 2
    a=extmap-allow-mixed
    a=msid-semantic: WMS d5b0a2a4-stream
    m=audio 9 UDP/TLS/RTP/SAVPF 111 63 9 0 8 13 110 126
    c=IN IP4 0.0.0.0
    a=rtcp:9 IN IP4 0.0.0.0
    a=ice-ufrag:Kx3f
    a=ice-pwd:Zq81bYfVd0lL7cHjT5mWn2Re
    a=ice-options:trickle
    a=fingerprint:\(fingerprint)
    a=setup:actpass
    a=mid:0
    a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level
    a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time
    a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01
    a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid
    a=sendrecv
    a=msid:d5b0a2a4-stream 7f9a-audio
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
    a=ssrc:3735928559 msid:d5b0a2a4-stream 7f9a-audio
    m=video 9 UDP/TLS/RTP/SAVPF 96 97 103 104 45 46
    c=IN IP4 0.0.0.0
    a=rtcp:9 IN IP4 0.0.0.0
    a=ice-ufrag:Kx3f
    a=ice-pwd:Zq81bYfVd0lL7cHjT5mWn2Re
    a=ice-options:trickle
    a=fingerprint:\(fingerprint)
    a=setup:actpass
    a=mid:1
    a=extmap:14 urn:ietf:params:rtp-hdrext:toffset
    a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time
    a=extmap:13 urn:3gpp:video-orientation
    a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01
    a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid
    a=extmap:10 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id
    a=extmap:11 urn:ietf:params:rtp-hdrext:sdes:repaired-rtp-stream-id
    a=sendrecv
    a=msid:d5b0a2a4-stream c0ff-video
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
    a=rtcp-fb:103 nack
    a=fmtp:103 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42001f
    a=rtpmap:104 rtx/90000
    a=fmtp:104 apt=103
    a=rtpmap:45 AV1/90000
    a=fmtp:45 level-idx=5;profile=0;tier=0
    a=rtpmap:46 rtx/90000
    a=fmtp:46 apt=45
    a=ssrc-group:FID 1001 1002
    a=ssrc:1001 cname:pQ7sUbx0Zr1eK2aL
    a=ssrc:1001 msid:d5b0a2a4-stream c0ff-video
    a=ssrc:1002 cname:pQ7sUbx0Zr1eK2aL
    a=ssrc:1002 msid:d5b0a2a4-stream c0ff-video
    m=application 9 UDP/DTLS/SCTP webrtc-datachannel
    c=IN IP4 0.0.0.0
    a=ice-ufrag:Kx3f
    a=ice-pwd:Zq81bYfVd0lL7cHjT5mWn2Re
    a=ice-options:trickle
    a=fingerprint:\(fingerprint)
    a=setup:actpass
    a=mid:2
    a=sctp-port:5000
    a=max-message-size:262144
    """)

  static let firefoxOffer = crlf(
    """
    v=0
    o=mozilla...THIS_IS_SDPARTA-99.0 7001992337102340913 0 IN IP4 0.0.0.0
    s=-
    t=0 0
    a=sendrecv
    a=fingerprint:\(fingerprint)
    a=group:BUNDLE 0
    a=ice-options:trickle
    a=msid-semantic:WMS *
    m=video 54321 UDP/TLS/RTP/SAVPF 120 124
    c=IN IP4 192.0.2.7
    b=TIAS:1500000
    a=candidate:0 1 UDP 2122252543 192.0.2.7 54321 typ host
    a=candidate:1 1 TCP 2105524479 192.0.2.7 9 typ host tcptype active
    a=recvonly
    a=end-of-candidates
    a=extmap:3 urn:ietf:params:rtp-hdrext:sdes:mid
    a=extmap:5/recvonly urn:ietf:params:rtp-hdrext:toffset
    a=fmtp:120 max-fs=12288;max-fr=60
    a=fmtp:124 apt=120
    a=ice-pwd:0123456789abcdef0123456789abcdef
    a=ice-ufrag:1a2b3c4d
    a=mid:0
    a=rtcp-fb:* nack
    a=rtcp-fb:120 nack pli
    a=rtcp-mux
    a=rtpmap:120 VP8/90000
    a=rtpmap:124 rtx/90000
    a=rid:hi recv pt=120;max-width=1280
    a=rid:mid recv
    a=rid:lo recv
    a=simulcast:recv hi,mid;~lo
    a=setup:actpass
    a=ssrc:77 cname:{8f1c2f2e-0000-4000-8000-000000000000}
    """)

  /// The skeleton of an offer by Sora: own sections first and recvonly, then one forwarded connection.
  static let soraOffer = crlf(
    """
    v=0
    o=- 7462871 1 IN IP4 127.0.0.1
    s=-
    t=0 0
    a=group:BUNDLE audio_AbCd video_AbCd audio_EfGh video_EfGh
    a=msid-semantic:WMS *
    a=ice-lite
    a=fingerprint:\(fingerprint)
    a=extmap-allow-mixed
    m=audio 9 UDP/TLS/RTP/SAVPF 109
    c=IN IP4 0.0.0.0
    b=AS:64
    a=mid:audio_AbCd
    a=recvonly
    a=ice-ufrag:soraUfrag123
    a=ice-pwd:soraPassword0123456789soraPassword01
    a=setup:actpass
    a=rtcp-mux
    a=rtpmap:109 opus/48000/2
    a=fmtp:109 minptime=10;useinbandfec=1;stereo=1
    a=rtcp-fb:109 transport-cc
    a=candidate:0 1 udp 2114002687 192.0.2.10 40000 typ host
    a=end-of-candidates
    m=video 9 UDP/TLS/RTP/SAVPF 120 121
    c=IN IP4 0.0.0.0
    b=AS:2500
    a=mid:video_AbCd
    a=recvonly
    a=ice-ufrag:soraUfrag123
    a=ice-pwd:soraPassword0123456789soraPassword01
    a=setup:actpass
    a=rtcp-mux
    a=rtcp-rsize
    a=rtpmap:120 VP8/90000
    a=rtpmap:121 rtx/90000
    a=fmtp:121 apt=120
    a=rtcp-fb:120 nack
    a=rtcp-fb:120 nack pli
    a=rid:r0 recv
    a=rid:r1 recv
    a=rid:r2 recv
    a=simulcast:recv r0;r1;~r2
    m=audio 9 UDP/TLS/RTP/SAVPF 109
    c=IN IP4 0.0.0.0
    a=mid:audio_EfGh
    a=sendonly
    a=msid:EFGH0123456789ABCDEFGHIJKL a-track
    a=ice-ufrag:soraUfrag123
    a=ice-pwd:soraPassword0123456789soraPassword01
    a=setup:actpass
    a=rtcp-mux
    a=rtpmap:109 opus/48000/2
    a=x-not-known-to-anyone:with:colons and words
    y=a line type of the future
    m=video 9 UDP/TLS/RTP/SAVPF 120 121
    c=IN IP4 0.0.0.0
    a=mid:video_EfGh
    a=sendonly
    a=msid:EFGH0123456789ABCDEFGHIJKL v-track
    a=ice-ufrag:soraUfrag123
    a=ice-pwd:soraPassword0123456789soraPassword01
    a=setup:actpass
    a=rtcp-mux
    a=rtpmap:120 VP8/90000
    a=rtpmap:121 rtx/90000
    a=fmtp:121 apt=120
    """)

  static let all = [chromeOffer, firefoxOffer, soraOffer]

  static func crlf(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { $0 + "\r\n" }.joined()
  }
}
