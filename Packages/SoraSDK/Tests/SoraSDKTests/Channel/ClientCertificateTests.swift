import Foundation
import SoraSDK
import SoraSignaling
import Testing

/// What the network of a company may ask for: a certificate of the client's, and a proxy that the environment names.
@Suite(.timeLimit(.minutes(5))) struct ClientCertificateTests {
  /// A TLS server that refuses clients without a certificate. It speaks no WebSocket: who gets in waits.
  private func server(in folder: URL) async throws -> (process: Process, port: Int) {
    let output = folder.appendingPathComponent("output")
    try Data().write(to: output)
    let file = try FileHandle(forWritingTo: output)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments =
      "openssl s_server -accept 127.0.0.1:0 -tls1_2 -Verify 1 -verify_return_error -CAfile cert.pem -cert cert.pem -key key.pem"
      .split(separator: " ").map(String.init)
    process.currentDirectoryURL = folder
    process.standardInput = Pipe()
    process.standardOutput = file
    process.standardError = file
    try process.run()
    for _ in 0..<600 {
      let text = try String(contentsOf: output, encoding: .utf8)
      if let line = text.split(separator: "\n").first(where: { $0.hasPrefix("ACCEPT ") }),
        let port = line.split(separator: ":").last.flatMap({ Int($0) })
      {
        return (process, port)
      }
      try await Task.sleep(for: .milliseconds(50))
    }
    process.terminate()
    throw AnotherError()
  }

  @Test func certificateOfTheClient() async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("sora-client-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await openssl(
      "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out cert.pem -days 2"
        + " -subj /CN=localhost -addext subjectAltName=DNS:localhost", in: folder)
    let (process, port) = try await server(in: folder)
    defer { process.terminate() }
    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }
    var configuration = Configuration(
      url: URL(string: "wss://localhost:\(port)/signaling")!, channelId: "test", role: .recvonly)
    configuration.connectionTimeout = 4
    configuration.tls = TLSSettings(caFile: path("cert.pem"))
    let refused = try await Attempt(configuration, face: .tasks).error()
    guard case .webSocketError(let reason) = refused else {
      Issue.record("not refused: \(refused)")
      return
    }
    #expect((reason as? SignalingError)?.stage == .tls, "\(reason)")

    // With one it gets in, and nobody answers there.
    configuration.tls.clientCertificateFile = path("cert.pem")
    configuration.tls.clientKeyFile = path("key.pem")
    let accepted = try await Attempt(configuration, face: .tasks).error()
    guard case .connectionTimeout = accepted else {
      Issue.record("not accepted: \(accepted)")
      return
    }

    // A file that is none fails the attempt, and the reason says which.
    configuration.tls.clientKeyFile = path("missing.pem")
    let missing = try await Attempt(configuration, face: .tasks).error()
    #expect("\(missing)".contains("missing.pem"), "\(missing)")
  }

  @Test(
    arguments: [
      ("wss://a.example.com/x", ["https_proxy": "http://p:3128"], "p:3128"),
      ("wss://a.example.com/x", ["HTTPS_PROXY": "p:3128", "http_proxy": "q:1"], "p:3128"),
      ("ws://a.example.com/x", ["https_proxy": "p:3128", "http_proxy": "q:81"], "q:81"),
      ("ws://a.example.com/x", ["HTTP_PROXY": "q:81"], nil),
      ("ws://a.example.com/x", ["all_proxy": "http://r"], "r:1080"),
      ("wss://a.example.com/x", ["https_proxy": "", "ALL_PROXY": "r:9"], "r:9"),
      ("wss://a.example.com/x", ["https_proxy": "socks4://p:3128"], nil),
      ("wss://a.example.com/x", ["ALL_PROXY": "socks5://p:3128"], "p:3128"),
      ("ws://a.example.com/x", ["all_proxy": "SOCKS5H://p"], "p:1080"),
      ("wss://a.example.com/x", ["https_proxy": "p:99999"], nil),
      ("wss://a.example.com/x", ["https_proxy": "p:1", "no_proxy": "b.org, .example.com"], nil),
      ("wss://A.example.com/x", ["https_proxy": "p:1", "NO_PROXY": "a.example.com"], nil),
      ("wss://a.example.com/x", ["https_proxy": "p:1", "no_proxy": "xample.com"], "p:1"),
      ("wss://a.example.com/x", ["https_proxy": "p:1", "no_proxy": "*"], nil),
      ("wss://a.example.com/x", [:], nil),
    ] as [(String, [String: String], String?)])
  func proxyOfTheEnvironment(_ url: String, _ variables: [String: String], _ wanted: String?)
    throws
  {
    let proxy = Proxy.fromEnvironment(
      for: try #require(URL(string: url)), environment: variables)
    #expect((proxy == nil) == (wanted == nil))
    let words = wanted?.split(separator: ":").map(String.init) ?? []
    if let proxy {
      #expect(proxy.description.contains("host=\(words[0]) port=\(words[1]) "), "\(proxy)")
    }
  }

  @Test func credentialsOfTheEnvironmentsProxy() throws {
    let proxy = Proxy.fromEnvironment(
      for: try #require(URL(string: "wss://x/")),
      environment: ["https_proxy": "http://me:s%20cret@p:3128"])
    #expect(proxy == Proxy(host: "p", port: 3128, username: "me", password: "s cret"))
    let socks = Proxy.fromEnvironment(
      for: try #require(URL(string: "wss://x/")),
      environment: ["all_proxy": "socks5h://me:pw@p:1081"])
    #expect(
      socks == Proxy(scheme: .socks5, host: "p", port: 1081, username: "me", password: "pw"))
  }
}
