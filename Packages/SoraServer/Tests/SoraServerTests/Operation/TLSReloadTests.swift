import Foundation
import SignalingTestSupport
import SoraICE
import SoraServer
import SoraSignaling
import Testing

/// A server whose certificate is another one on disk.
@Suite(.timeLimit(.minutes(2))) struct TLSReloadTests {
  /// The certificate and key of a server, which take the place of each other.
  private struct Files {
    let certificates: Certificates
    let folder: URL

    init() async throws {
      certificates = try await Certificates.shared.value
      folder = FileManager.default.temporaryDirectory
        .appendingPathComponent("sora-tls-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    var identity: TLSOptions.Identity {
      TLSOptions.Identity(
        certificateFile: folder.appendingPathComponent("live.pem").path,
        keyFile: folder.appendingPathComponent("live.key").path)
    }

    func put(_ name: String) throws {
      for kind in ["pem", "key"] {
        try Data(contentsOf: URL(fileURLWithPath: certificates.path("\(name).\(kind)")))
          .write(to: folder.appendingPathComponent("live.\(kind)"))
      }
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }
  }

  private func serving(_ body: (SoraServer, Files) async throws -> Void) async throws {
    let files = try await Files()
    defer { files.remove() }
    try files.put("other")
    var configuration = SoraServer.Configuration()
    configuration.mediaAddresses = [.loopbackV4]
    configuration.tls = files.identity
    configuration.turn = .init(port: 0)
    configuration.turn?.securePort = 0
    configuration.turn?.tls = files.identity
    let server = try await SoraServer.start(configuration)
    do {
      try await body(server, files)
    } catch {
      await server.shutdown()
      throw error
    }
    await server.shutdown()
  }

  /// The name in the certificate that a handshake shows.
  private func name(port: Int) async throws -> String {
    let output = FileManager.default.temporaryDirectory
      .appendingPathComponent("sora-handshake-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: output) }
    // Its standard input is empty: it goes after the handshake.
    try await runToEnd(
      "sh",
      [
        "-c", "exec openssl s_client -connect 127.0.0.1:\(port) </dev/null >\(output.path) 2>&1",
      ])
    let text = try String(contentsOf: output, encoding: .utf8)
    let subject = text.split(separator: "\n").first { $0.hasPrefix("subject=") } ?? ""
    return subject.split { " =".contains($0) }.last.map(String.init) ?? text
  }

  @Test func newConnectionsSeeTheNewCertificate() async throws {
    try await serving { server, files in
      let secure = try #require(
        server.turnURLs.first { $0.hasPrefix("turns:") }.flatMap { ICEServerURL($0) })
      let ports = [server.port, Int(secure.port)]
      var options = WebSocketOptions()
      options.tls = TLSOptions(insecure: true)
      let old = try await WebSocketClient.connect(url: server.url, options: options)
      old.send(text: #"{"type":"connect","role":"recvonly","channel_id":"x"}"#)
      var messages = old.messages.makeAsyncIterator()
      guard case .text? = await messages.next() else { throw CancellationError() }
      for port in ports { #expect(try await name(port: port) == "other") }
      // On disk it changes nothing yet.
      try files.put("server")
      for port in ports { #expect(try await name(port: port) == "other") }
      try await server.reloadTLS()
      for port in ports { #expect(try await name(port: port) == "server") }
      // Who trusts its authority gets through now.
      options.tls = TLSOptions(trust: .file(files.certificates.path("ca.pem")))
      let new = try await WebSocketClient.connect(url: server.url, options: options)
      new.close()
      // Who was there before is there.
      old.send(text: #"{"type":"disconnect","reason":"NO-ERROR"}"#)
      var end: WebSocketClose?
      while let event = await messages.next() { if case .closed(let close) = event { end = close } }
      #expect(end?.reason == "TYPE-DISCONNECT")
    }
  }

  @Test func filesThatCannotBeReadChangeNothing() async throws {
    try await serving { server, files in
      try Data("no key".utf8).write(to: URL(fileURLWithPath: files.identity.keyFile))
      let error = await #expect(throws: SignalingError.self) { try await server.reloadTLS() }
      #expect(error?.code == .invalidConfiguration && error?.field == "tls.keyFile")
      #expect(try await name(port: server.port) == "other")
      try files.put("server")
      try await server.reloadTLS()
      #expect(try await name(port: server.port) == "server")
    }
  }

  @Test func aServerWithoutACertificateHasNothingToRead() async throws {
    let server = try await SoraServer.start()
    try await server.reloadTLS()
    let socket = try await WebSocketClient.connect(url: server.url)
    socket.close()
    await server.shutdown()
  }
}
