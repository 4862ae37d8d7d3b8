import Foundation
import SoraDTLS
import SoraMedia
import Testing

/// NSS, which Firefox speaks DTLS with, as the other end over UDP on the loopback, in both versions.
@Suite(
  .enabled(
    if: NSSPeer.obstacle == nil
      && FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl"),
    "NSS can't be used: \(NSSPeer.obstacle ?? "no openssl tool")"))
struct NSSTests {
  private func connect(
    _ role: DTLSRole, own: NativeDTLSFactory = NativeDTLSFactory(), group: DTLSGroup = .x25519,
    suite: DTLSCipherSuite? = nil, version: DTLSVersion = .v13,
    _ then: (ToolPeer, any DTLSEndpoint, DTLSSession) throws -> Void = { _, _, _ in }
  ) throws {
    let peer = try ToolPeer(profile: .aes128CMSHA1_80)
    defer { peer.stop() }
    let port = try peer.freePort()
    try peer.runNSS(
      role == .client ? .server : .client, port: port, group: group, suite: suite, version: version)
    let endpoint = try own.makeEndpoint(
      role: role, certificate: try DTLSCertificate.generate(),
      expectedFingerprint: peer.certificate.fingerprint, random: RandomSource(seed: 1))
    let session = try #require(try peer.handshake(endpoint, to: role == .client ? port : nil))
    #expect(session.remoteCertificate == peer.certificate.derBytes)
    if let suite { #expect(session.cipherSuite == suite.name) }
    #expect(session.tlsVersion == version.rawValue)
    #expect(session.profile == .aes128CMSHA1_80)
    // What is left of the handshake goes out while the answer is waited for.
    try endpoint.send([7, 7, 7], at: peer.now)
    let events = try peer.drive(endpoint) { $0 == .applicationData([7, 7, 7]) }
    #expect(events.last == .applicationData([7, 7, 7]))
    #expect(try peer.exportedKeys() == session.block(client: role == .client))
    try then(peer, endpoint, session)
  }

  /// NSS's server of 1.2 is left out: over a blocking socket it waits for more after its last flight.
  @Test(arguments: [(DTLSRole.client, DTLSVersion.v13), (.server, .v12), (.server, .v13)])
  func bothRolesAndVersions(role: DTLSRole, version: DTLSVersion) throws {
    try connect(role, version: version) { peer, endpoint, _ in
      let statistics = endpoint.statistics
      #expect(statistics.dropped.total == 0)
      // NSS acknowledges the last flight: no timer is left.
      if version == .v13 || role == .server { #expect(endpoint.nextDeadline == nil) }
    }
  }

  @Test(arguments: [DTLSRole.client, .server], DTLSGroup.allCases)
  func eachGroup(role: DTLSRole, group: DTLSGroup) throws {
    // The other group first: a client has to send a second hello (HelloRetryRequest).
    try connect(
      role,
      own: factory(.v12, .v13, groups: group == .p256 ? [.x25519, .p256] : [.p256, .x25519]),
      group: group)
  }

  @Test(
    arguments: [DTLSRole.client, .server],
    [DTLSCipherSuite.aes128GCM, .aes256GCM, .chacha20Poly1305])
  func eachSuite(role: DTLSRole, suite: DTLSCipherSuite) throws {
    try connect(role, suite: suite)
  }

  @Test(arguments: [DTLSRole.client, .server], [300, 500])
  func smallDatagrams(role: DTLSRole, mtu: Int) throws {
    try connect(role, own: factory(.v12, .v13, mtu: mtu))
  }

  @Test(arguments: [DTLSRole.client, .server])
  func aCookieIsShown(role: DTLSRole) throws {
    var own = NativeDTLSFactory()
    own.settings.requiresCookie = true
    try connect(.server, own: own, version: role == .client ? .v12 : .v13)
  }

  /// Both ends change their keys, first at NSS's wish and then at ours.
  @Test(arguments: [DTLSRole.client, .server])
  func keysAreUpdated(role: DTLSRole) throws {
    try connect(role) { peer, endpoint, _ in
      let update = Array("update".utf8)
      try endpoint.send(update, at: peer.now)
      let events = try peer.drive(endpoint) { $0 == .applicationData(update) }
      #expect(events.last == .applicationData(update))
      for value in 0..<3 as Range<UInt8> {
        (endpoint as? NativeDTLSEndpoint)?.updateKeys(requestingPeer: value == 1, at: peer.now)
        try endpoint.send([value], at: peer.now)
        let events = try peer.drive(endpoint) { $0 == .applicationData([value]) }
        #expect(events.last == .applicationData([value]))
      }
    }
  }
}
