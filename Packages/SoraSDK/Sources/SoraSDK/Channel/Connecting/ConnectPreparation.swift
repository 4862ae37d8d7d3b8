package import WebRTC

/// What a connection needs before it has an offer, and what no WebSocket has to be waited for to make.
package struct ConnectPreparation: Sendable {
  /// Of the peer connection that is to come.
  package var certificate: RTCCertificate
  /// An offer that says which codecs this side has; nil for roles that don't send.
  package var capability: String?

  /// Takes some milliseconds of the processor, more for the first connection of a process.
  ///
  /// - Throws: why there can't be a connection, in one line that begins with the stage.
  package init(for role: Role, factory: RTCPeerConnectionFactory) throws(Failure) {
    do throws(RTCSetupError) {
      certificate = try RTCCertificate.generate()
      try factory.prepare()
    } catch {
      throw Failure(reason: "setup: \(error)")
    }
    guard role.sends else { return }
    do {
      capability = try factory.capabilityOffer(
        sending: [.video, .audio], streamId: "offer", certificate: certificate
      ).sdp
    } catch {
      throw Failure(reason: "setup: the offer that names our codecs can't be made: \(error)")
    }
  }

  package struct Failure: Error {
    package let reason: String
  }
}
