/// Offers as clients write them, with `UFRAG`, `PASSWORD` and `FINGERPRINT` where their own go.
enum OfferTexts {
  static let head = """
    v=0
    o=- 4611731400430051336 2 IN IP4 127.0.0.1
    s=-
    t=0 0

    """

  static let transport = """
    c=IN IP4 0.0.0.0
    a=ice-ufrag:UFRAG
    a=ice-pwd:PASSWORD
    a=ice-options:trickle
    a=fingerprint:FINGERPRINT
    a=setup:actpass
    a=rtcp-mux
    a=rtcp-rsize

    """

  static let extensions = """
    a=extmap:9 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time
    a=extmap:10 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01
    a=extmap:11 urn:ietf:params:rtp-hdrext:sdes:mid
    a=extmap:12 urn:ietf:params:rtp-hdrext:toffset

    """

  /// - Parameter mid: the section's name.
  static func audio(_ direction: String, mid: String = "0") -> String {
    "m=audio 9 UDP/TLS/RTP/SAVPF 111 63 0\n" + transport + extensions + """
      a=mid:\(mid)
      a=\(direction)
      a=rtpmap:111 opus/48000/2
      a=rtcp-fb:111 transport-cc
      a=fmtp:111 minptime=10;useinbandfec=1
      a=rtpmap:63 red/48000/2
      a=fmtp:63 111/111

      """
  }

  /// VP8, VP9, and H.264 in two modes.
  ///
  /// - Parameters:
  ///   - mid: the section's name.
  ///   - more: lines at the end.
  static func video(
    _ direction: String, mid: String = "1", types: String = "96 97 98 99 102 103 104",
    more: String = ""
  ) -> String {
    "m=video 9 UDP/TLS/RTP/SAVPF \(types)\n" + transport + extensions + """
      a=mid:\(mid)
      a=\(direction)
      a=rtpmap:96 VP8/90000
      a=rtcp-fb:96 goog-remb
      a=rtcp-fb:96 transport-cc
      a=rtcp-fb:96 ccm fir
      a=rtcp-fb:96 nack
      a=rtcp-fb:96 nack pli
      a=rtpmap:97 rtx/90000
      a=fmtp:97 apt=96
      a=rtpmap:98 VP9/90000
      a=rtcp-fb:98 nack
      a=fmtp:98 profile-id=0
      a=rtpmap:99 rtx/90000
      a=fmtp:99 apt=98
      a=rtpmap:102 H264/90000
      a=rtcp-fb:102 nack
      a=fmtp:102 level-asymmetry-allowed=1;packetization-mode=0;profile-level-id=42e01f
      a=rtpmap:103 H264/90000
      a=rtcp-fb:103 nack pli
      a=fmtp:103 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f
      a=rtpmap:104 H264/90000
      a=fmtp:104 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=640c1f
      \(more)
      """
  }

  static func both(
    _ direction: String, types: String = "96 97 98 99 102 103 104", more: String = ""
  )
    -> String
  {
    head + "a=group:BUNDLE 0 1\na=extmap-allow-mixed\n" + audio(direction)
      + video(direction, types: types, more: more)
  }

  static let simulcast = """
    a=extmap:13 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id
    a=extmap:14 urn:ietf:params:rtp-hdrext:sdes:repaired-rtp-stream-id

    """

  /// As OBS names them: the highest first.
  static let obsLayers =
    simulcast + """
      a=rid:0 send
      a=rid:1 send
      a=rid:2 send
      a=simulcast:send 0;1;2

      """
}
