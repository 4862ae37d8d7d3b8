import SoraWire

/// The credentials of a client, and what its server's challenge made of them (RFC 8489 §9.2).
struct TURNAuthentication {
  private struct Challenge {
    var realm: [UInt8]
    var nonce: [UInt8]
    var key: [UInt8]
    var integrity: STUNIntegrity
    var offered: [STUNPasswordAlgorithm]
    var algorithm: STUNPasswordAlgorithm?
    var hidesUsername: Bool
  }

  private let credentials: LongTermCredentials?
  private var challenge: Challenge?

  init(credentials: LongTermCredentials?) { self.credentials = credentials }

  var hasCredentials: Bool { credentials != nil }

  /// Whether requests are signed.
  var isChallenged: Bool { challenge != nil }

  var realm: [UInt8]? { challenge?.realm }

  /// What goes into the integrity attribute of a request; nil where it isn't signed.
  var key: [UInt8]? { challenge?.key }

  var integrity: STUNIntegrity { challenge?.integrity ?? .sha1 }

  /// What a request says about who sends it (§9.2.3.2).
  var attributes: [STUNAttribute] {
    guard let challenge, let credentials else { return [] }
    var attributes: [STUNAttribute] = [
      challenge.hidesUsername
        ? .userhash(credentials.userhash(realm: challenge.realm))
        : .username(Array(credentials.username.utf8)),
      .realm(challenge.realm), .nonce(challenge.nonce),
    ]
    if let algorithm = challenge.algorithm {
      // Both go back, so that nobody between can take the better one off the list unseen.
      attributes += [.passwordAlgorithms(challenge.offered), .passwordAlgorithm(algorithm)]
    }
    return attributes
  }

  /// Whether an answer to a signed request comes from the server.
  func isAuthentic(_ message: STUNMessage, _ bytes: RawSpan) -> Bool {
    guard let challenge else { return true }
    // Some errors can't be signed: the server doesn't know the key (401, 438), or can't say for whom it is. They take the
    // request's secret transaction identifier to make.
    let isSigned = message.hasIntegrity || message.hasIntegritySHA256
    if message.messageClass == .error, !isSigned { return true }
    return switch challenge.integrity {
    case .sha1: message.isAuthentic(bytes, key: challenge.key)
    // §9.2.4: a server may still answer with the older attribute.
    case .sha256:
      message.hasIntegritySHA256
        ? message.isAuthenticSHA256(bytes, key: challenge.key)
        : message.isAuthentic(bytes, key: challenge.key)
    }
  }

  /// Takes over the challenge of a 401 or 438. Returns whether it has what it must have.
  mutating func accept(_ message: STUNMessage) -> Bool {
    guard let credentials, let nonce = message.nonce, let realm = message.realm ?? realm
    else { return false }
    let features = STUNSecurityFeatures(nonce: nonce)
    let offered = message.passwordAlgorithms ?? []
    // §9.2.5: the bit without the list means that somebody took the list away.
    if features.contains(.passwordAlgorithms), offered.isEmpty { return false }
    var algorithm: STUNPasswordAlgorithm?
    if features.contains(.passwordAlgorithms) {
      algorithm = offered.contains(.sha256) ? .sha256 : offered.first { $0.isKnown }
      if algorithm == nil { return false }
    }
    challenge = Challenge(
      realm: realm, nonce: nonce, key: credentials.key(realm: realm, algorithm: algorithm ?? .md5),
      integrity: algorithm == nil ? .sha1 : .sha256, offered: offered, algorithm: algorithm,
      hidesUsername: features.contains(.usernameAnonymity))
    return true
  }

  /// Another server gives a challenge of its own.
  mutating func forgetChallenge() { challenge = nil }
}
