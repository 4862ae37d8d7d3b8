import Foundation
import SoraDTLS
import SoraMedia
import Testing

/// The `openssl` tool as the other end, over UDP on the loopback. It prints the keys it exports, so both ends' can be
/// compared. Skipped where the tool isn't installed.
@Suite(
  .enabled(
    if: FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl"),
    "openssl is missing: run `make deps`"))
struct OpenSSLToolTests {
  /// Who speaks DTLS on this side.
  enum Implementation: CaseIterable {
    case libssl
    case own

    func factory() throws -> any DTLSEndpointFactory {
      self == .libssl ? try OpenSSLDTLSFactory() : NativeDTLSFactory()
    }
  }

  @Test(arguments: Implementation.allCases, SRTPProfile.allCases)
  func clientAgainstTheToolsServer(
    implementation: Implementation, profile: SRTPProfile
  ) throws {
    let peer = try ToolPeer(profile: profile)
    defer { peer.stop() }
    let port = try peer.freePort()
    try peer.run(["s_server", "-accept", "127.0.0.1:\(port)", "-Verify", "1"])
    let local = try DTLSCertificate.generate()
    let client = try implementation.factory().makeEndpoint(
      role: .client, certificate: local, expectedFingerprint: peer.certificate.fingerprint,
      random: RandomSource(seed: 1))
    let session = try #require(try peer.handshake(client, to: port))
    #expect(session.profile == profile)
    #expect(session.remoteCertificate == peer.certificate.derBytes)
    #expect(try peer.exportedKeys() == session.block(client: true))
  }

  @Test(arguments: Implementation.allCases, SRTPProfile.allCases)
  func serverAgainstTheToolsClient(
    implementation: Implementation, profile: SRTPProfile
  ) throws {
    let peer = try ToolPeer(profile: profile)
    defer { peer.stop() }
    let server = try implementation.factory().makeEndpoint(
      role: .server, certificate: try DTLSCertificate.generate(),
      expectedFingerprint: peer.certificate.fingerprint, random: RandomSource(seed: 1))
    try peer.run(["s_client", "-connect", "127.0.0.1:\(peer.localPort)"])
    let session = try #require(try peer.handshake(server, to: nil))
    #expect(session.profile == profile)
    #expect(session.remoteCertificate == peer.certificate.derBytes)
    #expect(try peer.exportedKeys() == session.block(client: false))
  }

  /// Peers with RSA certificates, without the extended master secret, with a cookie, and with small datagrams.
  @Test(arguments: [[], ["-cookie"], ["-no_ems"], ["-mtu", "500"], ["-named_curve", "P-256"]])
  func ownClientAgainstOtherServers(options: [String]) throws {
    let peer = try ToolPeer(profile: .aeadAES128GCM, usesRSA: options.isEmpty)
    defer { peer.stop() }
    let port = try peer.freePort()
    var options = options
    if options.first == "-cookie" { options = ["-listen"] }
    try peer.run(["s_server", "-accept", "127.0.0.1:\(port)", "-Verify", "1"] + options)
    let client = try NativeDTLSFactory().makeEndpoint(
      role: .client, certificate: try DTLSCertificate.generate(),
      expectedFingerprint: peer.certificate.fingerprint, random: RandomSource(seed: 1))
    let session = try #require(try peer.handshake(client, to: port))
    #expect(try peer.exportedKeys() == session.block(client: true))
  }

  @Test(arguments: [
    [], ["-no_ems"], ["-mtu", "500"], ["-curves", "P-256"],
    ["-cipher", "ECDHE-ECDSA-CHACHA20-POLY1305"], ["-cipher", "ECDHE-ECDSA-AES256-GCM-SHA384"],
  ])
  func ownServerAgainstOtherClients(options: [String]) throws {
    let peer = try ToolPeer(profile: .aes128CMSHA1_80, usesRSA: options.isEmpty)
    defer { peer.stop() }
    let server = try NativeDTLSFactory().makeEndpoint(
      role: .server, certificate: try DTLSCertificate.generate(),
      expectedFingerprint: peer.certificate.fingerprint, random: RandomSource(seed: 1))
    try peer.run(["s_client", "-connect", "127.0.0.1:\(peer.localPort)"] + options)
    let session = try #require(try peer.handshake(server, to: nil))
    #expect(try peer.exportedKeys() == session.block(client: false))
  }
}

extension DTLSSession {
  /// The exported bytes in RFC 5764's order, as the tool prints them.
  func block(client: Bool) -> String {
    let ours = localKeyingMaterial
    let theirs = remoteKeyingMaterial
    let (first, second) = client ? (ours, theirs) : (theirs, ours)
    return (first.key + second.key + first.salt + second.salt)
      .map { String(format: "%02X", $0) }.joined()
  }
}
