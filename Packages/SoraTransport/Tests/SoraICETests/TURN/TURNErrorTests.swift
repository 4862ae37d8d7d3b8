import SoraICE
import SoraMedia
import Testing

private let server = TransportAddress("192.0.2.1:3478")!
private let peer = TransportAddress("203.0.113.9:5000")!

/// A server that answers as the test says.
private final class Script {
  let client: TURNClient
  var now = Instant.zero
  private(set) var request: STUNMessage
  private(set) var requestBytes: [UInt8]
  static let credentials = LongTermCredentials(username: "ann", password: "secret")
  static let realm = Array("r.test".utf8)

  init(credentials: LongTermCredentials? = Script.credentials, isStream: Bool = false) throws {
    var configuration = TURNClient.Configuration(credentials: credentials)
    configuration.isStream = isStream
    client = TURNClient(
      server: server, configuration: configuration, random: RandomSource(seed: 1))
    client.start(at: now)
    requestBytes = try #require(client.nextTransmit())
    request = try parse(requestBytes)
  }

  /// Takes the next request; it must be there.
  @discardableResult
  func next() throws -> STUNMessage {
    requestBytes = try #require(client.nextTransmit())
    request = try parse(requestBytes)
    return request
  }

  func answer(
    _ messageClass: STUNClass, _ attributes: [STUNAttribute], key: [UInt8]? = nil,
    to message: STUNMessage? = nil
  ) {
    let to = message ?? request
    var bytes = STUNMessage(
      messageClass, method: to.method, transactionID: to.transactionID, attributes: attributes
    ).encoded(key: key)
    bytes.withUnsafeMutableBytes { _ = client.receive($0, at: now) }
  }

  func challenge(_ code: Int = 401, nonce: String = "n1") throws {
    answer(
      .error,
      [.errorCode(code, reason: "no"), .realm(Script.realm), .nonce(Array(nonce.utf8))])
  }

  var key: [UInt8] { Script.credentials.key(realm: Script.realm) }

  static let granted: [STUNAttribute] = [
    .xorRelayedAddress(TransportAddress("192.0.2.1:50000")!), .lifetime(600),
    .xorMappedAddress(TransportAddress("198.51.100.1:999")!),
  ]

  /// Through the challenge to an allocation.
  func allocate() throws {
    try challenge()
    try next()
    answer(.success, Script.granted, key: key)
    #expect(client.relayedAddress != nil)
    _ = client.nextEvent()
  }

  func fails(with error: TURNError) {
    #expect(client.state == .failed(error))
    #expect(client.nextEvent() == .failed(error))
    #expect(client.nextEvent() == nil)
    #expect(client.nextDeadline == nil)
    #expect(client.nextTransmit() == nil)
  }
}

@Suite struct TURNErrorTests {
  @Test func theFirstRequestIsUnsignedAndTheSecondIsSigned() throws {
    let script = try Script()
    #expect(!script.request.hasIntegrity)
    #expect(script.request.attributes.contains(.requestedTransport(17)))
    try script.challenge()
    try script.next()
    #expect(script.request.username == Array("ann".utf8))
    #expect(script.request.attributes.contains(.nonce(Array("n1".utf8))))
    #expect(try isAuthentic(script.requestBytes, key: script.key))
  }

  @Test func withoutCredentialsAChallengeIsTheEnd() throws {
    let script = try Script(credentials: nil)
    try script.challenge()
    script.fails(with: .credentialsMissing)
  }

  @Test func aSecond401MeansWrongCredentials() throws {
    let script = try Script()
    try script.challenge()
    try script.next()
    try script.challenge(nonce: "n2")
    script.fails(with: .wrongCredentials)
  }

  @Test func a441MeansWrongCredentials() throws {
    let script = try Script()
    try script.challenge()
    try script.next()
    script.answer(.error, [.errorCode(441, reason: "Wrong Credentials")], key: script.key)
    script.fails(with: .wrongCredentials)
  }

  @Test func aStaleNonceIsReplacedAndNotForEver() throws {
    let script = try Script()
    try script.challenge()
    for round in 0..<3 {
      try script.next()
      try script.challenge(438, nonce: "m\(round)")
    }
    try script.next()
    #expect(script.request.attributes.contains(.nonce(Array("m2".utf8))))
    try script.challenge(438, nonce: "m3")
    script.fails(with: .refused(code: 438, reason: "no"))
  }

  @Test(arguments: [403, 420, 440, 442, 486, 508, 699])
  func otherErrorsEndTheAllocationWithTheirCode(code: Int) throws {
    let script = try Script()
    try script.challenge()
    try script.next()
    script.answer(.error, [.errorCode(code, reason: "why")], key: script.key)
    script.fails(with: .refused(code: code, reason: "why"))
  }

  @Test func anErrorWithoutACodeIsTheEndToo() throws {
    let script = try Script()
    script.answer(.error, [])
    script.fails(with: .refused(code: 0, reason: ""))
  }

  @Test func aBusyServerIsAskedAgain() throws {
    let script = try Script()
    for _ in 0..<3 {
      script.answer(.error, [.errorCode(500, reason: "busy")])
      #expect(script.client.nextTransmit() == nil)
      script.now += .seconds(1)
      script.client.poll(at: script.now)
      try script.next()
    }
    script.answer(.error, [.errorCode(500, reason: "busy")])
    script.fails(with: .refused(code: 500, reason: "busy"))
  }

  @Test func whatAnEarlierClientLeftBehindIsGivenBackFirst() throws {
    let script = try Script()
    try script.challenge()
    try script.next()
    script.answer(.error, [.errorCode(437, reason: "mismatch")], key: script.key)
    try script.next()
    #expect(script.request.method == 4)
    #expect(script.request.attributes.contains(.lifetime(0)))
    script.answer(.success, [.lifetime(0)], key: script.key)
    try script.next()
    #expect(script.request.method == 3)
    script.answer(.success, Script.granted, key: script.key)
    #expect(script.client.relayedAddress != nil)
  }

  @Test func aRedirectionIsFollowedOnceEach() throws {
    let script = try Script()
    let others = (2...5).map { TransportAddress("192.0.2.\($0):3478")! }
    for other in others.prefix(3) {
      script.answer(.error, [.errorCode(300, reason: ""), .alternateServer(other)])
      #expect(script.client.server == other)
      try script.next()
      #expect(!script.request.hasIntegrity)
    }
    script.answer(.error, [.errorCode(300, reason: ""), .alternateServer(others[3])])
    script.fails(with: .refused(code: 300, reason: "the alternate server can't be used"))

    let loop = try Script()
    loop.answer(.error, [.errorCode(300, reason: ""), .alternateServer(server)])
    loop.fails(with: .refused(code: 300, reason: "the alternate server can't be used"))

    let stream = try Script(isStream: true)
    stream.answer(.error, [.errorCode(300, reason: ""), .alternateServer(others[0])])
    stream.fails(with: .redirected(others[0]))
  }

  @Test func silenceIsGivenUp() throws {
    let script = try Script()
    var transmissions = 1
    var steps = 0
    while let deadline = script.client.nextDeadline, steps < 100 {
      steps += 1
      script.now = deadline
      script.client.poll(at: deadline)
      while script.client.nextTransmit() != nil { transmissions += 1 }
    }
    #expect(transmissions == 7)
    #expect(script.now == Instant.zero + .milliseconds(9750))
    script.fails(with: .timedOut)

    // Nothing is sent twice where nothing gets lost.
    let stream = try Script(isStream: true)
    stream.now = try #require(stream.client.nextDeadline)
    stream.client.poll(at: stream.now)
    stream.fails(with: .timedOut)
  }

  @Test func answersThatTheServerDidNotSignAreIgnored() throws {
    let script = try Script()
    try script.challenge()
    try script.next()
    script.answer(.success, Script.granted)
    script.answer(.success, Script.granted, key: Array("guess".utf8))
    #expect(script.client.state == .allocating)
    #expect(script.client.statistics.unauthentic == 2)
    script.answer(.success, Script.granted, key: script.key)
    #expect(script.client.relayedAddress != nil)
  }

  @Test func anAllocationWithoutItsAddressIsNone() throws {
    for attributes in [
      [.lifetime(600)], [.xorRelayedAddress(peer)], [.xorRelayedAddress(peer), .lifetime(0)],
      [.xorRelayedAddress(TransportAddress("[::1]:9")!), .lifetime(600)],
    ] as [[STUNAttribute]] {
      let script = try Script()
      script.answer(.success, attributes)
      script.fails(with: .malformedResponse)
    }
  }

  @Test func aPermissionRefusedSaysForWhom() throws {
    let script = try Script()
    try script.allocate()
    script.client.permit(peer.ip, at: script.now)
    try script.next()
    script.answer(.error, [.errorCode(403, reason: "Forbidden")], key: script.key)
    #expect(script.client.nextEvent() == .permissionRefused(peer.ip, code: 403))
    var buffer = [UInt8](repeating: 0, count: 200)
    let count = buffer.withUnsafeMutableBytes {
      script.client.write(to: peer, into: $0) { _ in 10 }
    }
    #expect(count == 0)
    #expect(script.client.relayedAddress != nil)
  }

  @Test func aRefusedChannelLeavesIndications() throws {
    let script = try Script()
    try script.allocate()
    script.client.permit(peer.ip, at: script.now)
    let permission = try script.next()
    script.client.bindChannel(peer, at: script.now)
    try script.next()
    script.answer(.error, [.errorCode(508, reason: "full")], key: script.key)
    script.answer(.success, [], key: script.key, to: permission)
    var buffer = [UInt8](repeating: 0, count: 200)
    let count = buffer.withUnsafeMutableBytes {
      script.client.write(to: peer, into: $0) { _ in 10 }
    }
    #expect(count == 20 + 12 + 4 + 12)
    #expect(buffer[0] == 0 && buffer[1] == 0x16)
  }

  @Test func anAllocationThatTheServerForgotIsLost() throws {
    let script = try Script()
    try script.allocate()
    script.now = Instant.zero + .seconds(540)
    script.client.poll(at: script.now)
    try script.next()
    #expect(script.request.method == 4)
    script.answer(.error, [.errorCode(437, reason: "mismatch")], key: script.key)
    script.fails(with: .allocationLost)
  }
}

@Suite struct TURNCredentialTests {
  /// RFC 8489 appendix B.1 as erratum 6268 puts it right.
  static let sample = Vectors.hex(
    """
    00010090 2112a442 78ad3433c6ad72c029da412e
    001e0020 4a3cf38fef6992bda952c67804 17da0f24819415569e60b205c46e41407f1704
    00150029 6f624d61744a6f733241414143 662f2f3439396b39353464364f4c33346f4c394653547679363473 41000000
    0014000b 6578616d706c652e6f726700
    001d0004 00020000
    001c0020 b5c7bf005b6c52a21c51c5e892f81924 136296cb927c43149309278cc6518e65
    """)

  @Test func theSampleOfRFC8489IsReadAndProven() throws {
    let credentials = LongTermCredentials(username: "マトリックス", password: "TheMatrIX")
    let realm = Array("example.org".utf8)
    let message = try parse(Self.sample)
    #expect(message.hasIntegritySHA256)
    #expect(!message.hasIntegrity)
    #expect(message.attributes.contains(.userhash(credentials.userhash(realm: realm))))
    let nonce = Array("obMatJos2AAACf//499k954d6OL34oL9FSTvy64sA".utf8)
    #expect(message.attributes.contains(.nonce(nonce)))
    #expect(STUNSecurityFeatures(nonce: nonce) == .usernameAnonymity)
    #expect(message.attributes.contains(.passwordAlgorithm(.sha256)))
    let key = credentials.key(realm: realm, algorithm: .sha256)
    #expect(Self.sample.withUnsafeBytes { message.isAuthenticSHA256($0, key: key) })
    #expect(Self.sample.withUnsafeBytes { !message.isAuthenticSHA256($0, key: [1]) })
    #expect(message.encoded(key: key, fingerprint: false, integrity: .sha256) == Self.sample)
  }

  @Test func theKeyOfRFC5769IsMade() {
    let credentials = LongTermCredentials(username: "マトリックス", password: "TheMatrIX")
    #expect(
      credentials.key(realm: Array("example.org".utf8))
        == Vectors.hex("e8ca7ad59d5eb0518e312911d2dab2a9"))
  }

  @Test func aNonceSaysWhatTheServerCan() {
    let features = { (text: String) in STUNSecurityFeatures(nonce: Array(text.utf8)) }
    #expect(features("obMatJos2AAABx") == .passwordAlgorithms)
    #expect(features("obMatJos2AAADx") == [.passwordAlgorithms, .usernameAnonymity])
    #expect(features("obMatJos2AAA") == [])
    #expect(features("obMatJos2AA-Bx") == [])
    #expect(features("xbMatJos2AAABx") == [])
  }

  /// Somebody between took the list of algorithms away: no key is made for a weaker one (RFC 8489 §9.2.5).
  @Test func aBidDownIsNotFollowed() {
    let client = TURNClient(
      server: server,
      configuration: .init(credentials: .init(username: "ann", password: "secret")),
      random: RandomSource(seed: 2))
    client.start(at: .zero)
    guard let bytes = client.nextTransmit(), let request = try? parse(bytes) else {
      Issue.record("no request")
      return
    }
    var answer = STUNMessage(
      .error, method: request.method, transactionID: request.transactionID,
      attributes: [
        .errorCode(401, reason: ""), .realm([65]), .nonce(Array("obMatJos2AAABxyz".utf8)),
      ]
    ).encoded(key: nil)
    answer.withUnsafeMutableBytes { _ = client.receive($0, at: .zero) }
    #expect(client.state == .failed(.malformedResponse))
  }

  @Test func aServerTakesWhatItsSecretSigned() {
    let secret = Array("between us".utf8)
    let world = TURNWorld(seed: 30) { $0.credentials = .secret(secret) }
    let good = world.add(
      .init(username: "c1", password: LongTermCredentials.password(for: "c1", secret: secret)))
    let bad = world.add(.init(username: "c1", password: "guess"))
    for client in world.clients { client.start(at: world.now) }
    world.run(for: .seconds(2))
    #expect(world.clients[good].relayedAddress != nil)
    #expect(world.clients[bad].state == .failed(.wrongCredentials))
  }
}
