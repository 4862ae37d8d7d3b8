import Foundation
import SignalingTestSupport
import SoraServer
import SoraSignaling
import Testing

/// `--proxy` of the commands that reach a server: what they do goes through it.
@Suite(.timeLimit(.minutes(5))) struct ProxyOptionTests {
  private static func statistics(_ url: String, _ options: [String]) async throws -> Run {
    try await Run.beside(
      [
        "stats", url, "--channel", "c", "--json", "--interval", "0.2", "--count", "1",
      ] + options)
  }

  @Test func signalingGoesThroughHTTP() async throws {
    let server = try await SoraServer.start()
    let proxy = try await TestProxy(credentials: "user:p@ss:word")
    let run = try await Self.statistics(
      server.url, ["--proxy", "http://user:p%40ss%3Aword@127.0.0.1:\(proxy.port)"])
    #expect(run.status == 0, "\(run.errors)")
    #expect(proxy.requests.elements.count == 1)
    #expect(
      proxy.requests.elements.first?.hasPrefix("CONNECT 127.0.0.1:\(server.port) HTTP/1.1\r\n")
        == true)
    await server.shutdown()
    await proxy.stop()
  }

  @Test(arguments: ["socks5", "socks5h"])
  func signalingGoesThroughSOCKS(scheme: String) async throws {
    let server = try await SoraServer.start()
    let proxy = try await TestSOCKSProxy(credentials: ("user", "secret"))
    let run = try await Self.statistics(
      server.url, ["--proxy", "\(scheme)://user:secret@127.0.0.1:\(proxy.port)"])
    #expect(run.status == 0, "\(run.errors)")
    #expect(proxy.requests.elements == ["127.0.0.1:\(server.port)"])
    await server.shutdown()
    await proxy.stop()
  }

  /// One line that says whose the trouble is, and no password in it.
  @Test func aWrongPasswordIsTheProxys() async throws {
    let proxy = try await TestProxy(credentials: "user:right")
    let run = try await Self.statistics(
      "ws://127.0.0.1:1/signaling", ["--proxy", "http://user:mistaken@127.0.0.1:\(proxy.port)"])
    #expect(run.status == 1)
    #expect(run.errors.contains("the proxy refuses the user name or password"), "\(run.errors)")
    #expect(!(run.errors + run.output).contains("mistaken"))
    #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
    await proxy.stop()
  }

  @Test func anUnreadableProxyShowsNoPassword() async throws {
    let run = try await Self.statistics(
      "ws://127.0.0.1:1/signaling", ["--proxy", "https://user:mistaken@127.0.0.1:3128"])
    #expect(run.status == 2)
    #expect(run.errors.hasPrefix("sora: --proxy: write http://HOST:PORT"), "\(run.errors)")
    #expect(!run.errors.contains("mistaken"))
  }

  /// Each step goes through it: the certificate's and the call's, too.
  @Test func doctorGoesThroughIt() async throws {
    let certificates = try await Certificates.shared.value
    var configuration = SoraServer.Configuration()
    configuration.tls = certificates.identity("server")
    let server = try await SoraServer.start(configuration)
    let proxy = try await TestProxy()
    let checks = try await Run.doctor(
      "wss://localhost:\(server.port)/signaling",
      ["--ca", certificates.path("ca.pem"), "--proxy", "http://127.0.0.1:\(proxy.port)"])
    for check in ["proxy", "certificate", "websocket", "offer", "ice", "media"] {
      #expect(checks[check]?["state"] as? String != "fail", "\(check): \(checks)")
      #expect(checks[check] != nil, "\(check)")
    }
    // Of the server's name and port this machine knows nothing.
    #expect(checks["name"] == nil && checks["tcp"] == nil)
    let detail = try #require(checks["proxy"]?["detail"] as? String)
    #expect(
      detail
        == "127.0.0.1 port \(proxy.port) opens the way to localhost port \(server.port)")
    // A WebSocket, its certificate, an offer, and both ends of a call.
    #expect(proxy.requests.elements.count == 5, "\(proxy.requests.elements)")
    await server.shutdown()
    await proxy.stop()
  }

  @Test func doctorTellsTheProxysTroubleFromTheServers() async throws {
    let checks = try await Run.doctor(
      "ws://sora.invalid/signaling", ["--proxy", "socks5://127.0.0.1:1"])
    let proxy = try #require(checks["proxy"], "\(checks)")
    #expect(proxy["state"] as? String == "fail")
    #expect(proxy["detail"] as? String == "127.0.0.1 port 1: nothing listens there")
    #expect(proxy["advice"] as? String == "check the proxy's host and port")
    #expect(checks["name"] == nil && checks["websocket"] == nil)
  }
}
