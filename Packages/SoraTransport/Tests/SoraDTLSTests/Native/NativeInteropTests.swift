import SoraDTLS
import SoraMedia
import Testing

/// This project's own DTLS against libssl's, which speaks 1.2, in one process.
@Suite struct NativeInteropTests {
  private func makePair(
    client: any DTLSEndpointFactory, server: any DTLSEndpointFactory
  ) throws -> HandshakePair {
    let random = RandomSource(seed: 7)
    let clientCertificate = try DTLSCertificate.generate()
    let serverCertificate = try DTLSCertificate.generate()
    return HandshakePair(
      client: try client.makeEndpoint(
        role: .client, certificate: clientCertificate,
        expectedFingerprint: serverCertificate.fingerprint, random: random),
      server: try server.makeEndpoint(
        role: .server, certificate: serverCertificate,
        expectedFingerprint: clientCertificate.fingerprint, random: random))
  }

  private func check(_ pair: HandshakePair) throws {
    pair.start()
    let client = try #require(
      pair.clientSession, "client \(pair.clientEvents) server \(pair.serverEvents)")
    let server = try #require(pair.serverSession)
    #expect(client.localKeyingMaterial == server.remoteKeyingMaterial)
    #expect(client.remoteKeyingMaterial == server.localKeyingMaterial)
    #expect(client.tlsVersion == 0xFEFD)
    #expect(server.tlsVersion == 0xFEFD)
    #expect(client.cipherSuite == server.cipherSuite)
    try pair.client.send([1, 2, 3], at: pair.now)
    try pair.server.send([UInt8](repeating: 9, count: 1000), at: pair.now)
    pair.exchange()
    #expect(pair.serverEvents.last == .applicationData([1, 2, 3]))
    #expect(pair.clientEvents.last == .applicationData([UInt8](repeating: 9, count: 1000)))
    pair.client.close(at: pair.now)
    pair.exchange()
    #expect(pair.serverEvents.last == .closed)
  }

  @Test(arguments: [true, false], SRTPProfile.allCases)
  func bothRolesAndEachProfile(isClient: Bool, profile: SRTPProfile) throws {
    let other = try OpenSSLDTLSFactory(profiles: [profile])
    let own = NativeDTLSFactory()
    let pair =
      isClient ? try makePair(client: own, server: other) : try makePair(client: other, server: own)
    try check(pair)
    #expect(pair.clientSession?.profile == profile)
  }

  @Test(
    arguments: [
      DTLSCipherSuite.ecdheECDSAWithAES128GCM, .ecdheECDSAWithAES256GCM,
      .ecdheECDSAWithChaCha20Poly1305,
    ], DTLSGroup.allCases)
  func eachSuiteAndGroup(suite: DTLSCipherSuite, group: DTLSGroup) throws {
    for isClient in [true, false] {
      // libssl wants the curve of its certificate among the client's groups.
      let groups = isClient && group == .x25519 ? [group, .p256] : [group]
      let own = factory(.v12, suites: [suite], groups: groups)
      let other = try OpenSSLDTLSFactory()
      let pair =
        isClient
        ? try makePair(client: own, server: other) : try makePair(client: other, server: own)
      try check(pair)
      #expect(pair.clientSession?.cipherSuite == suite.name)
    }
  }

  @Test func closingFromTheOtherSideIsSeen() throws {
    let pair = try makePair(client: try OpenSSLDTLSFactory(), server: NativeDTLSFactory())
    pair.start()
    pair.server.close(at: pair.now)
    pair.exchange()
    #expect(pair.clientEvents.last == .closed)
  }

  /// Each datagram of the handshake gets lost once, in turn.
  @Test(arguments: 0..<7)
  func losingOneDatagramOnlyDelays(lost: Int) throws {
    for isClient in [true, false] {
      let other = try OpenSSLDTLSFactory()
      let own = factory(.v12, .v13, mtu: 600)
      let pair =
        isClient
        ? try makePair(client: own, server: other) : try makePair(client: other, server: own)
      pair.delivers = { $0 != lost }
      pair.start()
      pair.run { $0.isConnected }
      #expect(pair.isConnected, "client \(pair.clientEvents) server \(pair.serverEvents)")
    }
  }

  @Test func aWrongCertificateIsRefusedInBothRoles() throws {
    let random = RandomSource(seed: 7)
    let certificate = try DTLSCertificate.generate()
    let wrong = try DTLSCertificate.generate().fingerprint
    for isClient in [true, false] {
      let own = try NativeDTLSFactory().makeEndpoint(
        role: isClient ? .client : .server, certificate: certificate, expectedFingerprint: wrong,
        random: random)
      let other = try OpenSSLDTLSFactory().makeEndpoint(
        role: isClient ? .server : .client, certificate: try DTLSCertificate.generate(),
        expectedFingerprint: certificate.fingerprint, random: random)
      let pair = HandshakePair(
        client: isClient ? own : other, server: isClient ? other : own)
      pair.start()
      guard case .fingerprintMismatch = isClient ? pair.clientFailure : pair.serverFailure else {
        Issue.record("expected a mismatch, got \(pair.clientEvents) \(pair.serverEvents)")
        return
      }
      #expect(
        (isClient ? pair.serverFailure : pair.clientFailure) == .alertReceived(.badCertificate))
    }
  }
}
