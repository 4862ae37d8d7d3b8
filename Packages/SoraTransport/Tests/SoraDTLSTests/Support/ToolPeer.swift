import Foundation
import SoraDTLS
import SoraMedia

/// A process that speaks DTLS, its files, and a socket to talk to it.
final class ToolPeer {
  let certificate: DTLSCertificate
  let profile: SRTPProfile
  let localPort: UInt16
  let folder: URL
  private let descriptor: Int32
  private let clock = ContinuousClock()
  private let origin: ContinuousClock.Instant
  private var address = sockaddr_in()
  private let process = Process()
  private let input = Pipe()

  init(profile: SRTPProfile, usesRSA: Bool = false) throws {
    self.profile = profile
    certificate = usesRSA ? try RSACertificate.make() : try DTLSCertificate.generate()
    folder = FileManager.default.temporaryDirectory.appending(path: "dtls-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(certificate.derBytes).write(to: folder.appending(path: "certificate"))
    try Data(certificate.privateKeyDER).write(to: folder.appending(path: "key"))
    (descriptor, localPort) = try Self.bind()
    origin = clock.now
  }

  /// Real time since the peer was made.
  var now: Instant { .zero + (clock.now - origin) }

  func stop() {
    if process.isRunning {
      // It doesn't end by SIGTERM where it inherited that signal blocked.
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
    close(descriptor)
    try? FileManager.default.removeItem(at: folder)
  }

  /// A port that was free a moment ago.
  func freePort() throws -> UInt16 {
    let (descriptor, port) = try Self.bind()
    close(descriptor)
    return port
  }

  /// Runs the `openssl` tool.
  func run(_ arguments: [String]) throws {
    let name =
      switch profile {
      case .aes128CMSHA1_80: "SRTP_AES128_CM_SHA1_80"
      case .aeadAES128GCM: "SRTP_AEAD_AES_128_GCM"
      case .aeadAES256GCM: "SRTP_AEAD_AES_256_GCM"
      }
    var arguments = arguments
    var environment: [String: String]?
    if let index = arguments.firstIndex(of: "-no_ems") {
      // The tool has no option for it, libssl's configuration has.
      arguments.remove(at: index)
      let file = folder.appending(path: "configuration")
      try Data(
        """
        openssl_conf = init
        [init]
        ssl_conf = ssl
        [ssl]
        system_default = system
        [system]
        Options = -ExtendedMasterSecret
        """.utf8
      ).write(to: file)
      environment = ["OPENSSL_CONF": file.path()]
    }
    try run(
      "/usr/bin/openssl", environment: environment,
      arguments + [
        "-dtls1_2", "-use_srtp", name, "-cert", folder.appending(path: "certificate").path(),
        "-certform", "DER", "-key", folder.appending(path: "key").path(), "-keyform", "DER",
        "-keymatexport", "EXTRACTOR-dtls_srtp", "-keymatexportlen",
        "\(2 * (profile.keyLength + profile.saltLength))",
      ])
  }

  func run(
    _ tool: String, environment: [String: String]? = nil, _ arguments: [String]
  ) throws {
    process.executableURL = URL(filePath: tool)
    process.arguments = arguments
    process.environment = environment
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
    if let port { address = Self.loopback(port) }
    endpoint.start(at: now)
    let events = try drive(endpoint) { event in
      if case .connected = event { return true }
      return false
    }
    if case .connected(let session) = events.last { return session }
    return nil
  }

  /// Carries datagrams and collects events until one of them is awaited, or 15 seconds are over.
  func drive(
    _ endpoint: any DTLSEndpoint, until isAwaited: (DTLSEvent) -> Bool
  ) throws -> [DTLSEvent] {
    var events: [DTLSEvent] = []
    var buffer = [UInt8](repeating: 0, count: 2048)
    let end = now + .seconds(15)
    while now < end {
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
        events.append(event)
        if isAwaited(event) { return events }
        if case .failed(let error) = event { throw error }
      }
      let due = endpoint.nextDeadline.map { ($0 - now).inMilliseconds } ?? 100
      var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      if poll(&waiting, 1, Int32(max(1, min(100, due)))) > 0 {
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let count = withUnsafeMutablePointer(to: &address) {
          $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            recvfrom(descriptor, &buffer, buffer.count, 0, $0, &size)
          }
        }
        if count > 0 {
          buffer[..<count].withUnsafeBytes { endpoint.receive($0, at: now) }
        }
      }
      endpoint.poll(at: now)
    }
    return events
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
