import SignalingTestSupport
import SoraSignaling
import Testing

@Suite(.timeLimit(.minutes(5))) struct ProxyTests {
  @Test func plainWithoutAuthentication() async throws {
    let proxy = try await TestProxy()
    let server = try await startServer(serve: echo)
    var options = WebSocketOptions()
    options.proxy = ProxyOptions(host: "127.0.0.1", port: proxy.port, agent: "Agent/2")
    try await exchange(server.url, options)
    let request = try #require(proxy.requests.elements.first)
    #expect(request.hasPrefix("CONNECT 127.0.0.1:\(server.boundPort) HTTP/1.1\r\n"))
    #expect(request.contains("User-Agent: Agent/2\r\n"))
    #expect(!request.contains("Proxy-Authorization"))
    await server.stop()
    await proxy.stop()
  }

  @Test func basicAuthenticationAndTLS() async throws {
    let certificates = try await Certificates.shared.value
    let proxy = try await TestProxy(credentials: "user:pa:ss é")
    var configuration = SignalingServer.Configuration.patient
    configuration.tls = certificates.identity("server")
    let server = try await startServer(configuration: configuration, serve: echo)
    var options = WebSocketOptions()
    options.tls.trust = .file(certificates.path("ca.pem"))
    options.proxy = ProxyOptions(
      host: "127.0.0.1", port: proxy.port, username: "user", password: "pa:ss é")
    try await exchange("wss://localhost:\(server.boundPort)/signaling", options)

    options.tls.trust = .system
    let error = await errorOf {
      try await exchange("wss://localhost:\(server.boundPort)/signaling", options)
    }
    #expect(error?.stage == .tls && error?.code == .certificateNotVerified)
    await server.stop()
    await proxy.stop()
  }

  @Test(arguments: [nil, "wrong"])
  func wrongCredentials(password: String?) async throws {
    let proxy = try await TestProxy(credentials: "user:right")
    var options = WebSocketOptions()
    options.proxy = ProxyOptions(
      host: "127.0.0.1", port: proxy.port, username: password == nil ? nil : "user",
      password: password)
    let error = await errorOf { try await exchange("ws://127.0.0.1:1/signaling", options) }
    #expect(error?.stage == .proxy && error?.code == .proxyAuthenticationRequired)
    await proxy.stop()
  }

  @Test func refusedByProxy() async throws {
    let proxy = try await TestProxy()
    var options = WebSocketOptions()
    options.proxy = ProxyOptions(host: "127.0.0.1", port: proxy.port)
    let error = await errorOf {
      try await exchange("wss://forbidden.example/signaling", options)
    }
    #expect(error?.stage == .proxy && error?.code == .proxyRefused(status: 403))
    // The name is the proxy's to resolve.
    #expect(proxy.requests.elements.first?.hasPrefix("CONNECT forbidden.example:443 ") == true)
    await proxy.stop()
  }

  @Test func proxyIsDown() async throws {
    var options = WebSocketOptions()
    options.proxy = ProxyOptions(host: "127.0.0.1", port: try unusedPort())
    let error = await errorOf { try await exchange("ws://sora.invalid/signaling", options) }
    #expect(error?.stage == .proxy && error?.code == .refused && error?.field == "proxy")
    #expect(error?.wayOut.contains("proxy") == true)
  }

  /// Who may go through a proxy alone sees the server's certificate, too, and not the proxy's trouble as the server's.
  @Test func certificateOfAServerBehindIt() async throws {
    var configuration = SignalingServer.Configuration.patient
    configuration.tls = try await Certificates.shared.value.identity("server")
    let server = try await startServer(configuration: configuration, serve: echo)
    let url = "wss://localhost:\(server.boundPort)/signaling"
    // Patient, as machines that run tests are busy.
    func fetch(_ proxy: ProxyOptions? = nil) async throws -> ServerCertificate {
      try await ServerCertificate.fetch(url: url, proxy: proxy, timeout: .seconds(60))
    }
    let direct = try await fetch()
    #expect(direct.names.contains { $0.contains("localhost") })

    let proxy = try await TestProxy(credentials: "user:right")
    var options = ProxyOptions(
      host: "127.0.0.1", port: proxy.port, username: "user", password: "right")
    #expect(try await fetch(options) == direct)
    #expect(proxy.requests.elements.count == 1)
    options.password = "wrong"
    let refused = await errorOf { _ = try await fetch(options) }
    #expect(refused?.stage == .proxy && refused?.code == .proxyAuthenticationRequired)

    let socks = try await TestSOCKSProxy()
    options = ProxyOptions(scheme: .socks5, host: "127.0.0.1", port: socks.port)
    #expect(try await fetch(options) == direct)
    #expect(socks.requests.elements == ["\"localhost\":\(server.boundPort)"])
    options.port = try unusedPort()
    let down = await errorOf { _ = try await fetch(options) }
    #expect(down?.stage == .proxy && down?.code == .refused)
    await server.stop()
    await proxy.stop()
    await socks.stop()
  }

  @Test func noProxyAtAll() async throws {
    let server = try await RawServer { _ in Array("SSH-2.0-x\r\n\r\n".utf8) }
    var options = WebSocketOptions()
    options.proxy = ProxyOptions(host: "127.0.0.1", port: server.port)
    let error = await errorOf { try await exchange("ws://sora.invalid/signaling", options) }
    #expect(error?.stage == .proxy && error?.code == .invalidHandshake)
    await server.stop()
  }
}
