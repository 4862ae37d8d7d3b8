import Foundation
import SoraDTLS
import SoraMedia
import Testing

/// The `openssl` tool as the other end, over UDP on the loopback. It prints the keys it exports, so both ends' can be
/// compared. Skipped where the tool isn't installed.
@Suite(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/openssl")))
struct OpenSSLToolTests {
  @Test(arguments: SRTPProfile.allCases)
  func clientAgainstTheToolsServer(profile: SRTPProfile) throws {
    let peer = try ToolPeer(profile: profile)
    defer { peer.stop() }
    let port = try peer.freePort()
    try peer.run(["s_server", "-accept", "127.0.0.1:\(port)", "-Verify", "1"])
    let local = try DTLSCertificate.generate()
    let client = try OpenSSLDTLSFactory().makeEndpoint(
      role: .client, certificate: local, expectedFingerprint: peer.certificate.fingerprint,
      random: RandomSource(seed: 1))
    let session = try #require(try peer.handshake(client, to: port))
    #expect(session.profile == profile)
    #expect(session.remoteCertificate == peer.certificate.derBytes)
    #expect(try peer.exportedKeys() == session.block(client: true))
  }

  @Test(arguments: SRTPProfile.allCases)
  func serverAgainstTheToolsClient(profile: SRTPProfile) throws {
    let peer = try ToolPeer(profile: profile)
    defer { peer.stop() }
    let server = try OpenSSLDTLSFactory().makeEndpoint(
      role: .server, certificate: try DTLSCertificate.generate(),
      expectedFingerprint: peer.certificate.fingerprint, random: RandomSource(seed: 1))
    try peer.run(["s_client", "-connect", "127.0.0.1:\(peer.localPort)"])
    let session = try #require(try peer.handshake(server, to: nil))
    #expect(session.profile == profile)
    #expect(session.remoteCertificate == peer.certificate.derBytes)
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

/// A process of the tool, its files, and a socket to talk to it.
private final class ToolPeer {
  let certificate: DTLSCertificate
  let profile: SRTPProfile
  let localPort: UInt16
  private let descriptor: Int32
  private let folder: URL
  private let process = Process()
  private let input = Pipe()

  init(profile: SRTPProfile) throws {
    self.profile = profile
    certificate = try DTLSCertificate.generate()
    folder = FileManager.default.temporaryDirectory.appending(path: "dtls-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(certificate.derBytes).write(to: folder.appending(path: "certificate"))
    try Data(certificate.privateKeyDER).write(to: folder.appending(path: "key"))
    (descriptor, localPort) = try Self.bind()
  }

  func stop() {
    if process.isRunning { process.terminate() }
    close(descriptor)
    try? FileManager.default.removeItem(at: folder)
  }

  /// A port that was free a moment ago.
  func freePort() throws -> UInt16 {
    let (descriptor, port) = try Self.bind()
    close(descriptor)
    return port
  }

  func run(_ arguments: [String]) throws {
    let name =
      switch profile {
      case .aes128CMSHA1_80: "SRTP_AES128_CM_SHA1_80"
      case .aeadAES128GCM: "SRTP_AEAD_AES_128_GCM"
      case .aeadAES256GCM: "SRTP_AEAD_AES_256_GCM"
      }
    process.executableURL = URL(filePath: "/usr/bin/openssl")
    process.arguments =
      arguments + [
        "-dtls1_2", "-use_srtp", name, "-cert", folder.appending(path: "certificate").path(),
        "-certform", "DER", "-key", folder.appending(path: "key").path(), "-keyform", "DER",
        "-keymatexport", "EXTRACTOR-dtls_srtp", "-keymatexportlen",
        "\(2 * (profile.keyLength + profile.saltLength))",
      ]
    // Files, not pipes: nobody has to read them for the tool to go on. The input stays open, or the tool ends.
    let output = folder.appending(path: "output")
    try Data().write(to: output)
    let handle = try FileHandle(forWritingTo: output)
    process.standardInput = input
    process.standardOutput = handle
    process.standardError = handle
    try process.run()
  }

  /// Carries datagrams between the endpoint and the tool until the endpoint is connected or has failed.
  func handshake(_ endpoint: any DTLSEndpoint, to port: UInt16?) throws -> DTLSSession? {
    let clock = ContinuousClock()
    let origin = clock.now
    func now() -> Instant { .zero + (clock.now - origin) }
    var address = sockaddr_in()
    if let port { address = Self.loopback(port) }
    endpoint.start(at: now())
    var buffer = [UInt8](repeating: 0, count: 2048)
    while now() < .zero + .seconds(15) {
      while let datagram = endpoint.nextTransmit() {
        _ = withUnsafePointer(to: &address) {
          $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            sendto(
              descriptor, datagram, datagram.count, 0, $0,
              socklen_t(MemoryLayout<sockaddr_in>.size))
          }
        }
      }
      while let event = endpoint.nextEvent() {
        switch event {
        case .connected(let session): return session
        case .failed(let error): throw error
        default: break
        }
      }
      let due = endpoint.nextDeadline.map { ($0 - now()).inMilliseconds } ?? 100
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      if poll(&waiting, 1, Int32(max(1, min(100, due)))) > 0 {
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let count = withUnsafeMutablePointer(to: &address) {
          $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            recvfrom(descriptor, &buffer, buffer.count, 0, $0, &size)
          }
        }
        if count > 0 {
          buffer[..<count].withUnsafeBytes { endpoint.receive($0, at: now()) }
        }
      }
      endpoint.poll(at: now())
    }
    return nil
  }

  /// What the tool printed as keying material; it may do so a moment after the handshake.
  func exportedKeys() throws -> String {
    let clock = ContinuousClock()
    let end = clock.now + .seconds(10)
    let marker = "Keying material: "
    while clock.now < end {
      let data = try Data(contentsOf: folder.appending(path: "output"))
      let text = String(decoding: data, as: UTF8.self)
      if let start = text.range(of: marker)?.upperBound,
        let end = text[start...].firstIndex(where: \.isNewline)
      {
        return String(text[start..<end])
      }
      sched_yield()
    }
    return "nothing printed"
  }

  private static func loopback(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }

  private static func bind() throws -> (Int32, UInt16) {
    let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    var address = loopback(0)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Foundation.bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
      }
    }
    guard descriptor >= 0, status else { throw DTLSError.library(reason: "no socket") }
    return (descriptor, UInt16(bigEndian: address.sin_port))
  }
}
