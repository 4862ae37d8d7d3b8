/// One thing to throw bytes at.
struct FuzzTarget {
  var name: String
  /// Bytes of the longest input that is tried; longer inputs cost speed and seldom find more.
  var maximumLength: Int
  /// Takes one input. It may only return: a trap, a leak, an overrun or a hang is what libFuzzer looks for.
  var run: (UnsafeRawBufferPointer) -> Void
  /// Well-formed inputs to start from.
  var seeds: () -> [[UInt8]]

  init(
    _ name: String, maximumLength: Int = 1500, seeds: @autoclosure @escaping () -> [[UInt8]],
    run: @escaping (UnsafeRawBufferPointer) -> Void
  ) {
    self.name = name
    self.maximumLength = maximumLength
    self.run = run
    self.seeds = seeds
  }
}

extension FuzzTarget {
  static var all: [FuzzTarget] {
    [
      stun, candidate, fingerprint, sdp, rtp, retransmission, rtcp, transportFeedback,
      feedbackGenerator, congestionFeedbackGenerator, repairPacket, repairDecoder, vp8Payload,
      vp9Payload, av1Payload,
      h264Payload, h265Payload, redPayload,
      dependencyDescriptor, videoJitterBuffer, videoJitterBufferVP9, videoJitterBufferAV1,
      videoJitterBufferH264, videoJitterBufferH265, audioJitterBuffer, audioJitterBufferOpus, opus,
      g711, telephoneEvents,
      vp8Decoder, vp9Decoder, av1Decoder, h264Parser, h264Decoder, h264AVCodecDecoder, h265Parser,
      h265Decoder, h265AVCodecDecoder, wav, y4m, recordedKeyFrame, encodedSource, signaling, json,
      httpHead, socks5, httpRequest, sdpFragment, settings, srtp,
      dtlsServer,
      dtlsClient, dtlsNativeServer, dtlsNativeClient, dtlsMessages, dtlsRecords, iceAgent,
      turnStream, turnURL, dns, turnClient, turnServer, rtpSession, peerTransport, negotiator,
      peerConnection, wire, sctpPackets, sctpAssociations, dcep, dataChannels,
    ]
  }
}

/// What two ways of doing the same thing must agree on. A difference is a finding, like a trap.
func check(_ condition: Bool, _ message: @autoclosure () -> String) {
  if !condition { fatalError("fuzz: \(message())") }
}
