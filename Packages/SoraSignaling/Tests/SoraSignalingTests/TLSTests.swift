import Foundation
import SignalingTestSupport
import SoraSignaling
import Testing

@Suite(.timeLimit(.minutes(5))) struct TLSTests {
  let certificates: Certificates

  init() async throws { certificates = try await Certificates.shared.value }

  private func server(_ name: String = "server") async throws -> SignalingServer {
    var configuration = SignalingServer.Configuration.patient
    configuration.tls = certificates.identity(name)
    return try await startServer(
      configuration: configuration, http: { _ in HTTPResponse(text: "secure") }, serve: echo)
  }

  private func exchange(_ url: String, _ tls: TLSOptions) async throws {
    var options = WebSocketOptions()
    options.tls = tls
    let connection = try await WebSocketClient.connect(url: url, options: options)
    connection.send(text: "over TLS")
    var messages = connection.messages.makeAsyncIterator()
    #expect(await messages.next() == .text("over TLS"))
    connection.close(code: 4490, reason: "done")
    #expect(await messages.next() == .closed(WebSocketClose(code: 4490)))
  }

  @Test func trustedByCAFileForNameAndAddress() async throws {
    let server = try await server()
    let tls = TLSOptions(trust: .file(certificates.path("ca.pem")))
    try await exchange("wss://localhost:\(server.boundPort)/signaling", tls)
    try await exchange("wss://127.0.0.1:\(server.boundPort)/signaling", tls)
    let pem = try String(contentsOfFile: certificates.path("ca.pem"), encoding: .utf8)
    try await exchange(
      "wss://localhost:\(server.boundPort)/signaling", TLSOptions(trust: .pem(pem)))
    await server.stop()
  }

  @Test func certificatesAreReadAnewWhileConnectionsGoOn() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("sora-reload-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    func put(_ name: String) throws {
      for kind in ["pem", "key"] {
        let target = folder.appendingPathComponent("live.\(kind)")
        try Data(contentsOf: URL(fileURLWithPath: certificates.path("\(name).\(kind)")))
          .write(to: target)
      }
    }
    try put("other")
    var configuration = SignalingServer.Configuration.patient
    configuration.tls = TLSOptions.Identity(
      certificateFile: folder.appendingPathComponent("live.pem").path,
      keyFile: folder.appendingPathComponent("live.key").path)
    let server = try await startServer(configuration: configuration, serve: echo)
    let url = "wss://localhost:\(server.boundPort)/signaling"
    let trusting = TLSOptions(trust: .file(certificates.path("ca.pem")))
    var options = WebSocketOptions()
    options.tls = TLSOptions(insecure: true)
    let old = try await WebSocketClient.connect(url: url, options: options)
    // That one is for another name.
    #expect(await errorOf { try await exchange(url, trusting) }?.code == .certificateNotVerified)
    // What is broken changes nothing.
    try Data("no key".utf8).write(to: folder.appendingPathComponent("live.key"))
    #expect(throws: SignalingError.self) { try server.reloadTLS() }
    #expect(await errorOf { try await exchange(url, trusting) }?.code == .certificateNotVerified)
    try put("server")
    try server.reloadTLS()
    try await exchange(url, trusting)
    old.send(text: "still there")
    var messages = old.messages.makeAsyncIterator()
    #expect(await messages.next() == .text("still there"))
    old.close()
    await server.stop()
  }

  @Test func insecureAcceptsAnything() async throws {
    let server = try await server("other")
    try await exchange(
      "wss://127.0.0.1:\(server.boundPort)/signaling", TLSOptions(insecure: true))
    await server.stop()
  }

  @Test func unknownAuthorityIsATypedError() async throws {
    let server = try await server()
    let error = await errorOf {
      try await exchange("wss://localhost:\(server.boundPort)/signaling", TLSOptions())
    }
    #expect(error?.stage == .tls && error?.code == .certificateNotVerified)
    #expect(error?.wayOut.contains("CA") == true)
    await server.stop()
  }

  @Test(arguments: ["localhost", "127.0.0.1"])
  func wrongNameIsATypedError(host: String) async throws {
    let server = try await server("other")
    let error = await errorOf {
      try await exchange(
        "wss://\(host):\(server.boundPort)/signaling",
        TLSOptions(trust: .file(certificates.path("ca.pem"))))
    }
    #expect(error?.stage == .tls && error?.code == .certificateNotVerified)
    await server.stop()
  }

  @Test func plainServerIsATypedError() async throws {
    let server = try await startServer { _ in }
    let error = await errorOf {
      try await exchange(
        "wss://localhost:\(server.boundPort)/signaling", TLSOptions(insecure: true))
    }
    #expect(error?.stage == .tls && error?.code == .tlsFailed)
    // What to change, and nothing of the library's dump.
    #expect(error?.detail == "the port doesn't speak TLS")
    #expect(error?.wayOut.contains("ws://") == true)
    await server.stop()
  }

  @Test func plainClientOfATLSServerIsATypedError() async throws {
    let server = try await server()
    let error = await errorOf { _ = try await WebSocketClient.connect(url: server.url) }
    #expect(error?.stage == .upgrade)
    await server.stop()
  }

  @Test func clientCertificateCanBeLoaded() async throws {
    let server = try await server()
    try await exchange(
      "wss://localhost:\(server.boundPort)/signaling",
      TLSOptions(insecure: true, clientIdentity: certificates.identity("other")))
    await server.stop()
  }

  @Test func unusableFilesAreTypedErrors() async throws {
    let url = "wss://localhost:1/signaling"
    for (tls, field) in [
      (TLSOptions(trust: .file("/nonexistent.pem")), "tls.trust"),
      (TLSOptions(trust: .pem("no certificate")), "tls.trust"),
      (
        TLSOptions(
          clientIdentity: .init(
            certificateFile: certificates.path("server.pem"), keyFile: "/nonexistent")),
        "tls.keyFile"
      ),
    ] {
      let error = await errorOf { try await exchange(url, tls) }
      #expect(error?.code == .invalidConfiguration && error?.field == field)
      #expect(error?.detail.contains("failedToLoad") == false)
    }
  }

  @Test(arguments: [
    ("server.pem", "other.key", "the key is not the certificate's"),
    ("server.key", "server.key", "no PEM certificate"),
    ("server.pem", "server.pem", "no PEM private key"),
  ])
  func aServersFilesThatDoNotFitSaySo(certificate: String, key: String, detail: String) throws {
    let identity = TLSOptions.Identity(
      certificateFile: certificates.path(certificate), keyFile: certificates.path(key))
    let error = #expect(throws: SignalingError.self) { try TLSContexts.server(identity) }
    #expect(error?.detail.contains(detail) == true, "\(error as Any)")
  }
}
