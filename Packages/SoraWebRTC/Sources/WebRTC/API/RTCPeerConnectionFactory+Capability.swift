import SoraClock
import SoraDTLS
import SoraMedia
import SoraSDP
import SoraTransport

/// What can be had without a connection.
extension RTCPeerConnectionFactory {
  /// An offer that says what this side could send: its codecs, in order of preference. Nothing is opened for it, and no answer
  /// to it can be applied. Not libwebrtc's.
  ///
  /// - Parameters:
  ///   - kinds: a section that sends for each, in this order.
  ///   - streamId: the stream that all sections name.
  ///   - certificate: that of the connection that is to come.
  /// - Throws: `NegotiationError`.
  public func capabilityOffer(
    sending kinds: [RTCRtpMediaType], streamId: String, certificate: RTCCertificate
  ) throws(NegotiationError) -> RTCSessionDescription {
    let random = RandomSource.system()
    // RFC 8839 §5.4: at least 24 and 128 random bits; a character has 6.
    var configuration = NegotiationConfiguration(
      iceUfrag: random.iceString(8), icePassword: random.iceString(24),
      fingerprints: [SDPFingerprint(certificate.native.fingerprint)])
    configuration.audioCodecs = CodecCapability.audio
    configuration.videoCodecs = videoCapabilities
    let negotiator = JSEPNegotiator(configuration: configuration, random: random)
    for kind in kinds {
      negotiator.addTransceiver(
        kind == .audio ? .audio : .video, direction: .sendonly, streamIDs: [streamId])
    }
    return RTCSessionDescription(type: .offer, sdp: try negotiator.createOffer().text)
  }

  /// Starts what the connections of a process share, so that the first one needn't wait for it: a network loop, and the library
  /// behind DTLS. From any thread; takes some milliseconds the first time, and nothing after that. Not libwebrtc's.
  ///
  /// - Throws: why no connection could be made.
  public func prepare() throws(RTCSetupError) {
    _ = try dtlsEndpoints.get()
    try Self.library.get()
    do {
      try NetworkLoopGroup.shared.prepare()
    } catch {
      throw .noNetworkLoop(error)
    }
  }

  /// Goes once through a whole connection, with itself and in memory: whatever is used first takes Swift's runtime ten times as long. It
  /// takes some ten milliseconds of a thread on which nothing waits, after `prepare`. Not libwebrtc's.
  ///
  /// - Returns: whether both of its ends were connected; why they weren't, the next connection tells.
  @discardableResult
  public func rehearse() -> Bool {
    guard let dtls = try? dtlsEndpoints.get(), let certificate = try? RTCCertificate.generate()
    else {
      return false
    }
    return ConnectionRehearsal.run(
      dtls: dtls, certificate: certificate.native, videoCodecs: videoCapabilities)
  }

  /// libcrypto reads its configuration and lists its algorithms with the first key that it makes: whoever needs one next has it at
  /// once.
  private static let library = Result { () throws(RTCSetupError) in
    _ = try RTCCertificate.generate()
  }
}
