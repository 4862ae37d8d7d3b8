import SoraDTLS
import SoraMedia
import Testing

@Suite struct HandshakeTests {
  @Test func bothEndsAgreeOnKeysAndSeeEachOthersCertificate() throws {
    let pair = try makePair()
    pair.start()
    let client = try #require(pair.clientSession)
    let server = try #require(pair.serverSession)
    #expect(client.profile == .aeadAES128GCM)
    #expect(server.profile == .aeadAES128GCM)
    #expect(client.localKeyingMaterial == server.remoteKeyingMaterial)
    #expect(client.remoteKeyingMaterial == server.localKeyingMaterial)
    #expect(client.localKeyingMaterial != client.remoteKeyingMaterial)
    #expect(client.tlsVersion == 0xFEFD)
    #expect(client.cipherSuite == "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256")
    #expect(client.remoteCertificate != server.remoteCertificate)
    #expect(pair.largestDatagram <= OpenSSLDTLSFactory.mtu)
    #expect(pair.client.nextDeadline == nil)
    #expect(pair.server.nextDeadline == nil)
  }

  @Test(arguments: SRTPProfile.allCases)
  func eachProfileIsNegotiated(profile: SRTPProfile) throws {
    let pair = try makePair(serverProfiles: [profile])
    pair.start()
    let client = try #require(pair.clientSession)
    #expect(client.profile == profile)
    #expect(pair.serverSession?.profile == profile)
    #expect(client.localKeyingMaterial.key.count == profile.keyLength)
    #expect(client.localKeyingMaterial.salt.count == profile.saltLength)
    #expect(client.localKeyingMaterial == pair.serverSession?.remoteKeyingMaterial)
  }

  @Test func noCommonProfileFailsBothEnds() throws {
    let pair = try makePair(clientProfiles: [.aeadAES256GCM], serverProfiles: [.aes128CMSHA1_80])
    pair.start()
    #expect(pair.clientFailure == .noCommonSRTPProfile)
    #expect(pair.serverFailure == .noCommonSRTPProfile)
    #expect(!pair.isConnected)
  }

  @Test func clientRefusesAWrongCertificate() throws {
    let other = try DTLSCertificate.generate()
    let pair = try makePair(clientExpects: other.fingerprint)
    pair.start()
    guard case .fingerprintMismatch(let expected, let actual) = pair.clientFailure else {
      Issue.record("expected a mismatch, got \(pair.clientEvents)")
      return
    }
    #expect(expected == other.fingerprint)
    #expect(actual != expected)
    #expect(pair.serverFailure == .alertReceived(.badCertificate))
    #expect(pair.clientSession == nil)
    #expect(pair.serverSession == nil)
  }

  @Test func serverRefusesAWrongCertificate() throws {
    let other = try DTLSCertificate.generate()
    let pair = try makePair(serverExpects: other.fingerprint(algorithm: "sha-512"))
    pair.start()
    guard case .fingerprintMismatch = pair.serverFailure else {
      Issue.record("expected a mismatch, got \(pair.serverEvents)")
      return
    }
    #expect(pair.clientFailure == .alertReceived(.badCertificate))
    #expect(!pair.isConnected)
  }

  @Test(arguments: ["sha-1", "sha-224", "sha-256", "sha-384", "SHA-512"])
  func anyHashOfTheRightCertificateIsAccepted(algorithm: String) throws {
    let clientCertificate = try DTLSCertificate.generate()
    let serverCertificate = try DTLSCertificate.generate()
    let factory = try OpenSSLDTLSFactory()
    let pair = HandshakePair(
      client: try factory.makeOpenSSLEndpoint(
        role: .client, certificate: clientCertificate,
        expectedFingerprint: serverCertificate.fingerprint(algorithm: algorithm)),
      server: try factory.makeOpenSSLEndpoint(
        role: .server, certificate: serverCertificate, expectedFingerprint: nil))
    pair.start()
    #expect(pair.isConnected)
    #expect(pair.serverSession?.remoteCertificate == clientCertificate.derBytes)
  }

  @Test func theFirstFlightCanArriveBeforeTheServerStarts() throws {
    let pair = try makePair()
    pair.client.start(at: pair.now)
    pair.exchange()
    #expect(pair.isConnected)
  }

  @Test func aKeptCertificateStillWorks() throws {
    let original = try DTLSCertificate.generate()
    let kept = try DTLSCertificate(der: original.derBytes, privateKeyDER: original.privateKeyDER)
    #expect(kept.fingerprint == original.fingerprint)
    let other = try DTLSCertificate.generate()
    #expect(throws: DTLSError.self) {
      try DTLSCertificate(der: original.derBytes, privateKeyDER: other.privateKeyDER)
    }
    #expect(throws: DTLSError.self) { try DTLSCertificate(der: [1, 2, 3], privateKeyDER: [4]) }
  }
}
