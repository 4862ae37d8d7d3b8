import SignalingTestSupport
import SoraSignaling
import Testing

/// WebSockets through a SOCKS 5 proxy, and each way in which that fails.
@Suite(.timeLimit(.minutes(5))) struct SOCKS5ProxyTests {
  private func options(
    _ port: Int, username: String? = nil, password: String? = nil
  ) -> WebSocketOptions {
    WebSocketOptions(
      proxy: ProxyOptions(
        scheme: .socks5, host: "127.0.0.1", port: port, username: username, password: password))
  }

  @Test func plainWithoutAuthentication() async throws {
    let proxy = try await TestSOCKSProxy()
    let server = try await startServer(serve: echo)
    try await exchange(server.url, options(proxy.port))
    #expect(proxy.requests.elements == ["127.0.0.1:\(server.boundPort)"])
    await server.stop()
    await proxy.stop()
  }

  @Test func userNameAndTLS() async throws {
    let certificates = try await Certificates.shared.value
    let proxy = try await TestSOCKSProxy(credentials: ("user", "pa:ss é"))
    var configuration = SignalingServer.Configuration.patient
    configuration.tls = certificates.identity("server")
    let server = try await startServer(configuration: configuration, serve: echo)
    var options = options(proxy.port, username: "user", password: "pa:ss é")
    options.tls.trust = .file(certificates.path("ca.pem"))
    try await exchange("wss://localhost:\(server.boundPort)/signaling", options)
    // The name is the proxy's to resolve.
    #expect(proxy.requests.elements == ["\"localhost\":\(server.boundPort)"])
    await server.stop()
    await proxy.stop()
  }

  @Test(arguments: [nil, "wrong"])
  func wrongCredentials(password: String?) async throws {
    let proxy = try await TestSOCKSProxy(credentials: ("user", "right"))
    let error = await errorOf {
      try await exchange(
        "ws://127.0.0.1:1/signaling",
        options(proxy.port, username: password.map { _ in "user" }, password: password))
    }
    #expect(error?.stage == .proxy && error?.code == .proxyAuthenticationRequired)
    #expect(error?.description.contains("wrong") == false)
    await proxy.stop()
  }

  @Test func refusedByTheProxyAndBehindIt() async throws {
    let proxy = try await TestSOCKSProxy()
    let forbidden = await errorOf {
      try await exchange("wss://forbidden.example/signaling", options(proxy.port))
    }
    #expect(forbidden?.stage == .proxy && forbidden?.code == .proxyRefused(status: 2))
    let port = try unusedPort()
    let refused = await errorOf {
      try await exchange("ws://127.0.0.1:\(port)/signaling", options(proxy.port))
    }
    #expect(refused?.stage == .proxy && refused?.code == .proxyRefused(status: 5))
    #expect(refused?.detail.contains("nothing listens there") == true)
    await proxy.stop()
  }

  @Test func whatCannotBeSaidAndNobodyWhoListens() async throws {
    let server = try await startServer(serve: echo)
    let tooLong = options(server.boundPort, username: String(repeating: "x", count: 256))
    let unusable = await errorOf { try await exchange("ws://sora.invalid/signaling", tooLong) }
    #expect(unusable?.code == .invalidConfiguration && unusable?.field == "proxy.username")
    let down = await errorOf {
      try await exchange("ws://sora.invalid/signaling", options(try unusedPort()))
    }
    #expect(down?.stage == .proxy && down?.code == .refused)
    await server.stop()
  }
}
