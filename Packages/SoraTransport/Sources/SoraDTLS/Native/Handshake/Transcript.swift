/// The handshake messages so far, as both ends hash and sign them.
///
/// They are kept rather than hashed as they come: a mutual handshake has some two kilobytes, and neither the hash nor the
/// form of the first message is known before the server has answered.
struct Transcript {
  private var first: [HandshakeMessage] = []
  private var version: DTLSVersion?
  private(set) var bytes: [UInt8] = []

  mutating func add(_ message: HandshakeMessage) {
    if let version { bytes += message.transcriptBytes(version) } else { first.append(message) }
  }

  /// Settles the form of the messages.
  mutating func settle(_ version: DTLSVersion) {
    guard self.version == nil else { return }
    self.version = version
    for message in first { bytes += message.transcriptBytes(version) }
    first = []
  }

  /// Forgets a hello that was answered with a HelloVerifyRequest (RFC 6347 §4.2.1).
  mutating func restart() {
    first = []
    bytes = []
  }

  /// Puts the hash of the first hello in its place, as a HelloRetryRequest wants it (RFC 8446 §4.4.1).
  mutating func retry(_ hash: DTLSHash) throws(HandshakeFailure) {
    let digest = try hash(bytes)
    bytes = HandshakeMessage(type: HandshakeType.messageHash, sequence: 0, body: digest)
      .transcriptBytes(.v13)
  }
}
