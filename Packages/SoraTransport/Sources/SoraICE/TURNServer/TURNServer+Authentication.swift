import SoraMedia
import SoraWire

extension TURNServer {
  /// Who signed a request, and how to sign the answer.
  struct Signer {
    let username: [UInt8]
    let key: [UInt8]
    let integrity: STUNIntegrity
  }

  /// RFC 8489 §9.2.4. Answers what isn't signed as it must be, and returns nil then.
  func authenticate(
    _ message: STUNMessage, _ bytes: RawSpan, from client: Client, at now: Instant
  ) -> Signer? {
    guard message.hasIntegrity || message.hasIntegritySHA256 else {
      challenge(message, 401, "Unauthorized", client, at: now)
      return nil
    }
    guard let realm = message.realm, let nonce = message.nonce,
      message.username != nil || message.userhash != nil
    else {
      refuse(message, 400, "Bad Request", client, at: now)
      return nil
    }
    guard isFresh(nonce, client, at: now) else {
      challenge(message, 438, "Stale Nonce", client, at: now)
      return nil
    }
    guard let algorithm = algorithm(of: message) else {
      refuse(message, 400, "Bad Request", client, at: now)
      return nil
    }
    guard realm == Array(configuration.realm.utf8),
      let credentials = credentials(of: message, realm: realm)
    else {
      challenge(message, 401, "Unauthorized", client, at: now)
      return nil
    }
    let key = credentials.key(realm: realm, algorithm: algorithm)
    let isAuthentic =
      message.hasIntegritySHA256
      ? message.isAuthenticSHA256(bytes, key: key) : message.isAuthentic(bytes, key: key)
    guard isAuthentic else {
      challenge(message, 401, "Unauthorized", client, at: now)
      return nil
    }
    return Signer(
      username: Array(credentials.username.utf8), key: key,
      integrity: message.hasIntegritySHA256 ? .sha256 : .sha1)
  }

  private var offered: [STUNPasswordAlgorithm] { [.sha256, .md5] }

  /// The algorithm that the client chose; nil where its choice isn't one of ours, or the list isn't the one it was sent.
  private func algorithm(of message: STUNMessage) -> STUNPasswordAlgorithm? {
    let chosen = message.passwordAlgorithm
    let list = message.passwordAlgorithms
    if chosen == nil, list == nil { return .md5 }
    guard configuration.offersSHA256, list == offered, let chosen, offered.contains(chosen) else {
      return nil
    }
    return chosen
  }

  private func credentials(of message: STUNMessage, realm: [UInt8]) -> LongTermCredentials? {
    switch configuration.credentials {
    case .users(let users):
      if let bytes = message.username {
        let name = String(decoding: bytes, as: UTF8.self)
        return users[name].map { LongTermCredentials(username: name, password: $0) }
      }
      // The feature isn't announced, so this is rare, and a search is good enough.
      return users.lazy.map { LongTermCredentials(username: $0.key, password: $0.value) }
        .first { $0.userhash(realm: realm) == message.userhash }
    case .secret(let secret):
      guard let bytes = message.username else { return nil }
      let name = String(decoding: bytes, as: UTF8.self)
      return LongTermCredentials(
        username: name, password: LongTermCredentials.password(for: name, secret: secret))
    }
  }

  // MARK: Nonces

  // The second it was made in, and a code over that and the client's address: nothing needs to be remembered, and one client's nonce
  // is no use to another.
  private func makeNonce(for client: Client, at now: Instant) -> [UInt8] {
    let second = UInt64(bitPattern: now.milliseconds / 1000)
    let features: STUNSecurityFeatures = configuration.offersSHA256 ? .passwordAlgorithms : []
    return features.noncePrefix + hexadecimal([UInt8](bigEndian: second))
      + nonceCode(second, client)
  }

  private func nonceCode(_ second: UInt64, _ client: Client) -> [UInt8] {
    let covered =
      [UInt8](bigEndian: second) + client.remote.ip.bytes + [UInt8](bigEndian: client.remote.port)
      + [client.isStream ? 1 : 0]
    return hexadecimal(Array(hmacSHA256(covered, key: nonceSecret).prefix(8)))
  }

  private func isFresh(_ nonce: [UInt8], _ client: Client, at now: Instant) -> Bool {
    guard nonce.count == 13 + 16 + 16 else { return false }
    let digits = String(decoding: nonce[13..<29], as: UTF8.self)
    guard let second = UInt64(digits, radix: 16) else { return false }
    let matches = constantTimeEqual(
      nonceCode(second, client).rawSpan, nonce.rawSpan.part(from: 29))
    let (age, overflow) = (now.milliseconds / 1000).subtractingReportingOverflow(
      Int64(bitPattern: second))
    return matches && !overflow && age >= 0 && age <= configuration.nonceLifetime.components.seconds
  }

  private func hexadecimal(_ bytes: [UInt8]) -> [UInt8] {
    let digits = Array("0123456789abcdef".utf8)
    return bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
  }

  // MARK: Answers to what isn't signed

  private func challenge(
    _ message: STUNMessage, _ code: Int, _ reason: String, _ client: Client, at now: Instant
  ) {
    var attributes: [STUNAttribute] = [
      .errorCode(code, reason: reason), .realm(Array(configuration.realm.utf8)),
      .nonce(makeNonce(for: client, at: now)),
    ]
    if configuration.offersSHA256 { attributes.append(.passwordAlgorithms(offered)) }
    refuse(message, attributes, client, at: now)
  }

  /// Answers a request that nobody signed with an error.
  func refuse(
    _ message: STUNMessage, _ code: Int, _ reason: String, _ client: Client, at now: Instant
  ) {
    refuse(message, [.errorCode(code, reason: reason)], client, at: now)
  }

  private func refuse(
    _ message: STUNMessage, _ attributes: [STUNAttribute], _ client: Client, at now: Instant
  ) {
    guard grantsUnsignedAnswer(at: now) else { return }
    statistics.errorResponses += 1
    let response = STUNMessage(
      .error, method: message.method, transactionID: message.transactionID,
      attributes: attributes + [.software(configuration.software)])
    send(response.encoded(key: nil), to: client)
  }
}
