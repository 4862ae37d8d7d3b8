import SoraMedia

/// Where a handshake stands: which message comes next.
enum HandshakeStep {
  case idle
  case clientHello
  case serverHello
  case encryptedExtensions
  case certificate
  case serverKeyExchange
  case certificateRequest
  case serverHelloDone
  case clientKeyExchange
  case certificateVerify
  case finished
  case connected
  case ended

  var isHandshaking: Bool { self != .idle && self != .connected && self != .ended }

  /// The type of the message that comes next.
  var messageType: UInt8? {
    switch self {
    case .idle, .connected, .ended: nil
    case .clientHello: HandshakeType.clientHello
    case .serverHello: HandshakeType.serverHello
    case .encryptedExtensions: HandshakeType.encryptedExtensions
    case .certificate: HandshakeType.certificate
    case .serverKeyExchange: HandshakeType.serverKeyExchange
    case .certificateRequest: HandshakeType.certificateRequest
    case .serverHelloDone: HandshakeType.serverHelloDone
    case .clientKeyExchange: HandshakeType.clientKeyExchange
    case .certificateVerify: HandshakeType.certificateVerify
    case .finished: HandshakeType.finished
    }
  }
}

/// What a handshake knows so far; gone, its secrets zeroed, once it is done.
struct Negotiation {
  var transcript = Transcript()
  /// The client's own hello, which it may have to send again with a cookie or another key share.
  var hello: ClientHello?
  var clientRandom: [UInt8] = []
  var serverRandom: [UInt8] = []
  var retry = HelloRetry()
  var share: KeyAgreement?
  var suite: DTLSCipherSuite?
  var profile: SRTPProfile?
  var peer: PeerCertificate?
  /// What this end signs with, once the peer has said what it takes.
  var scheme: SignatureScheme?

  /// 1.2.
  var usesExtendedMasterSecret = false
  var peerPublicKey: [UInt8] = []
  var master: MasterSecret?

  /// 1.3.
  var requestContext: [UInt8] = []
  var secrets: HandshakeSecrets?
}
