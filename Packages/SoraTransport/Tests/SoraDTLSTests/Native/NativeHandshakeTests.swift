import SoraDTLS
import SoraMedia
import Testing

/// Handshakes of this project's own DTLS with itself.
@Suite struct NativeHandshakeTests {
  private func expectAgreement(_ link: VirtualLink) throws -> DTLSSession {
    let client = try #require(
      link.clientSession, "client \(link.clientEvents) server \(link.serverEvents)")
    let server = try #require(link.serverSession)
    #expect(client.localKeyingMaterial == server.remoteKeyingMaterial)
    #expect(client.remoteKeyingMaterial == server.localKeyingMaterial)
    #expect(client.localKeyingMaterial != client.remoteKeyingMaterial)
    #expect(client.profile == server.profile)
    #expect(client.cipherSuite == server.cipherSuite)
    #expect(client.tlsVersion == server.tlsVersion)
    #expect(client.remoteCertificate != server.remoteCertificate)
    #expect(link.largestDatagram <= 1200)
    return client
  }

  @Test(
    arguments: [
      DTLSCipherSuite.aes128GCM, .aes256GCM, .chacha20Poly1305, .ecdheECDSAWithAES128GCM,
      .ecdheECDSAWithAES256GCM, .ecdheECDSAWithChaCha20Poly1305,
    ], DTLSGroup.allCases)
  func eachSuiteWithEachGroup(suite: DTLSCipherSuite, group: DTLSGroup) throws {
    let factory = factory(suite.version, suites: [suite], groups: [group])
    let link = try makeLink(client: factory, server: factory)
    link.connect()
    let session = try expectAgreement(link)
    #expect(session.tlsVersion == suite.version.rawValue)
    #expect(session.cipherSuite == suite.name)
    try link.client.send([1, 2, 3], at: link.now)
    try link.server.send([4, 5], at: link.now)
    link.run(for: .seconds(1))
    #expect(link.serverEvents.last == .applicationData([1, 2, 3]))
    #expect(link.clientEvents.last == .applicationData([4, 5]))
    #expect(link.client.nextDeadline == nil)
    #expect(link.server.nextDeadline == nil)
  }

  @Test(arguments: [DTLSVersion.v12, .v13], SRTPProfile.allCases)
  func eachProfileIsNegotiated(version: DTLSVersion, profile: SRTPProfile) throws {
    var server = factory(version)
    server.settings.profiles = [profile]
    let link = try makeLink(server: server)
    link.connect()
    let session = try expectAgreement(link)
    #expect(session.profile == profile)
    #expect(session.localKeyingMaterial.key.count == profile.keyLength)
    #expect(session.localKeyingMaterial.salt.count == profile.saltLength)
  }

  @Test(arguments: [
    ([DTLSVersion.v12, .v13], [DTLSVersion.v12, .v13], DTLSVersion.v13),
    ([.v12, .v13], [.v12], .v12), ([.v12], [.v12, .v13], .v12), ([.v13], [.v12, .v13], .v13),
    ([.v12, .v13], [.v13], .v13),
  ])
  func theNewestCommonVersionIsTaken(
    client: [DTLSVersion], server: [DTLSVersion], expected: DTLSVersion
  ) throws {
    var clientFactory = NativeDTLSFactory()
    clientFactory.settings.versions = Set(client)
    var serverFactory = NativeDTLSFactory()
    serverFactory.settings.versions = Set(server)
    let link = try makeLink(client: clientFactory, server: serverFactory)
    link.connect()
    #expect(try expectAgreement(link).tlsVersion == expected.rawValue)
    // Retransmissions aren't a part of a handshake without loss.
    let statistics = try #require((link.client as? NativeDTLSEndpoint)?.statistics)
    #expect(statistics.retransmissions == 0)
    #expect(statistics.tlsVersion == expected.rawValue)
    #expect(statistics.srtpProfile == "SRTP_AEAD_AES_128_GCM")
    #expect(statistics.role == .client)
  }

  @Test(arguments: [DTLSVersion.v12, .v13])
  func aHandshakeTakesTheRoundTripsOfItsVersion(version: DTLSVersion) throws {
    let link = try makeLink(client: factory(version), server: factory(version))
    let start = link.now
    link.connect()
    _ = try expectAgreement(link)
    // A round trip is 20 ms. 1.3: one for the client, half of one more for the server. 1.2: two for both.
    let client = try #require(link.clientConnected) - start
    let server = try #require(link.serverConnected) - start
    #expect(client == .milliseconds(version == .v13 ? 20 : 40))
    #expect(server == .milliseconds(30))
    #expect((link.client as? NativeDTLSEndpoint)?.statistics.handshakeDuration == client)
  }

  @Test(arguments: [DTLSVersion.v12, .v13])
  func noCommonVersionFails(version: DTLSVersion) throws {
    let link = try makeLink(
      client: factory(version), server: factory(version == .v12 ? .v13 : .v12))
    link.connect()
    link.run(for: .seconds(1))
    guard case .alertSent(.protocolVersion, _) = link.serverFailure else {
      Issue.record("got \(link.serverEvents)")
      return
    }
    #expect(link.clientFailure == .alertReceived(.protocolVersion))
  }

  @Test(arguments: [DTLSVersion.v12, .v13])
  func noCommonProfileFails(version: DTLSVersion) throws {
    var client = factory(version)
    client.settings.profiles = [.aeadAES256GCM]
    var server = factory(version)
    server.settings.profiles = [.aes128CMSHA1_80]
    let link = try makeLink(client: client, server: server)
    link.connect()
    link.run(for: .seconds(1))
    #expect(link.serverFailure == .noCommonSRTPProfile)
    #expect(link.clientFailure == .alertReceived(.handshakeFailure))
  }

  @Test(arguments: [DTLSVersion.v12, .v13])
  func noCommonSuiteFails(version: DTLSVersion) throws {
    let suites: [DTLSCipherSuite] =
      version == .v13
      ? [.aes128GCM, .aes256GCM] : [.ecdheECDSAWithAES128GCM, .ecdheECDSAWithAES256GCM]
    let link = try makeLink(
      client: factory(version, suites: [suites[0]]), server: factory(version, suites: [suites[1]]))
    link.connect()
    link.run(for: .seconds(1))
    #expect(link.clientFailure == .alertReceived(.handshakeFailure))
    #expect(!link.isConnected)
  }

  @Test func anotherGroupCostsARoundTrip() throws {
    let link = try makeLink(client: factory(.v12, .v13), server: factory(.v13, groups: [.p256]))
    let start = link.now
    link.connect()
    #expect(try expectAgreement(link).tlsVersion == DTLSVersion.v13.rawValue)
    #expect(try #require(link.clientConnected) - start == .milliseconds(40))
  }

  @Test func noCommonGroupFails() throws {
    for version in DTLSVersion.allCases {
      let link = try makeLink(
        client: factory(version, groups: [.x25519]), server: factory(version, groups: [.p256]))
      link.connect()
      link.run(for: .seconds(1))
      #expect(link.clientFailure == .alertReceived(.handshakeFailure))
    }
  }

  @Test(arguments: [DTLSVersion.v12, .v13])
  func aCookieCostsARoundTrip(version: DTLSVersion) throws {
    var server = factory(version, groups: version == .v13 ? [.p256] : nil)
    server.settings.requiresCookie = true
    let link = try makeLink(server: server)
    let start = link.now
    link.connect()
    #expect(try expectAgreement(link).tlsVersion == version.rawValue)
    #expect(
      try #require(link.clientConnected) - start == .milliseconds(version == .v13 ? 40 : 60))
  }

  @Test(arguments: [DTLSVersion.v12, .v13])
  func theFirstFlightCanArriveBeforeTheServerStarts(version: DTLSVersion) throws {
    let link = try makeLink(client: factory(version), server: factory(version))
    link.client.start(at: link.now)
    link.run { $0.isConnected }
    _ = try expectAgreement(link)
  }

  @Test func equalSeedsGiveEqualKeyShares() throws {
    let certificate = try DTLSCertificate.generate()
    func firstFlight(_ seed: UInt64) throws -> [UInt8]? {
      let endpoint = try NativeDTLSFactory().makeEndpoint(
        role: .client, certificate: certificate, expectedFingerprint: nil,
        random: RandomSource(seed: seed))
      endpoint.start(at: .zero)
      return endpoint.nextTransmit()
    }
    let first = try #require(try firstFlight(1))
    #expect(try firstFlight(1) == first)
    #expect(try firstFlight(2) != first)
  }
}
