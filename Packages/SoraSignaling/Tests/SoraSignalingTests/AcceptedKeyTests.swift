import Foundation
import SignalingTestSupport
import SoraSignaling
import Testing

/// Who takes some public keys of a server alone, as openssl writes them.
@Suite(.timeLimit(.minutes(5))) struct AcceptedKeyTests {
  let certificates: Certificates

  init() async throws { certificates = try await Certificates.shared.value }

  /// A server's, and what it has been asked for.
  private func server() async throws -> (server: SignalingServer, url: String) {
    var configuration = SignalingServer.Configuration.patient
    configuration.tls = certificates.identity("server")
    let server = try await startServer(configuration: configuration, serve: echo)
    return (server, "wss://localhost:\(server.boundPort)/signaling")
  }

  private func options(
    _ keys: [[UInt8]], trust: TLSOptions.Trust? = nil, insecure: Bool = false
  ) -> WebSocketOptions {
    WebSocketOptions(
      tls: TLSOptions(trust: trust ?? .file(certificates.path("ca.pem")), insecure: insecure),
      acceptsKey: { keys.contains($0) })
  }

  @Test func oneOfTheKeysIsEnough() async throws {
    let (server, url) = try await server()
    let key = try await certificates.publicKey("server")
    try await exchange(url, options([key]))
    try await exchange(url, options([[UInt8](repeating: 7, count: 32), key]))
    // Where no authority is asked, the key alone says who it is.
    try await exchange(url, options([key], trust: .system, insecure: true))
    await server.stop()
  }

  @Test(arguments: [false, true])
  func anotherKeyIsRefused(insecure: Bool) async throws {
    let (server, url) = try await server()
    let options = options([try await certificates.publicKey("other")], insecure: insecure)
    let error = await errorOf { try await exchange(url, options) }
    #expect(error?.stage == .tls && error?.code == .certificateNotVerified)
    #expect(error?.field == "acceptsKey", "\(String(describing: error))")
    await server.stop()
  }

  /// More is asked for then, and not less.
  @Test func authoritiesAreAskedAllTheSame() async throws {
    let (server, url) = try await server()
    let options = options([try await certificates.publicKey("server")], trust: .system)
    let error = await errorOf { try await exchange(url, options) }
    #expect(error?.stage == .tls && error?.field == "tls.trust")
    await server.stop()
  }

  @Test func whoIsRefusedHearsNothing() async throws {
    let heard = Recorder<String>()
    var configuration = SignalingServer.Configuration.patient
    configuration.tls = certificates.identity("server")
    let server = try await startServer(
      configuration: configuration,
      serve: { connection in
        heard.append("WebSocket")
        await echo(connection)
      })
    let options = options([[UInt8](repeating: 7, count: 32)])
    for _ in 0..<3 {
      let error = await errorOf {
        try await exchange("wss://localhost:\(server.boundPort)/signaling", options)
      }
      #expect(error?.field == "acceptsKey")
    }
    #expect(heard.elements.isEmpty)
    await server.stop()
  }

  @Test func withoutTLSItIsToldAtOnce() async throws {
    let options = options([try await certificates.publicKey("server")])
    let error = await errorOf { try await exchange("ws://127.0.0.1:1/signaling", options) }
    #expect(error?.stage == .configuration && error?.code == .invalidConfiguration)
    #expect(error?.field == "acceptsKey")
  }

  /// A redirect to a server without TLS doesn't get around them.
  @Test func aRedirectIsAskedTheSame() async throws {
    let plain = try await startServer(serve: echo)
    let target = plain.url
    var configuration = SignalingServer.Configuration.patient
    configuration.tls = certificates.identity("server")
    let server = try await startServer(
      configuration: configuration,
      serve: { connection in
        var messages = connection.messages.makeAsyncIterator()
        _ = await messages.next()
        connection.send(text: #"{"type": "redirect", "location": "\#(target)"}"#)
        _ = await messages.next()
      })
    let client = SignalingClient(
      configuration: SignalingClient.Configuration(
        urls: ["wss://localhost:\(server.boundPort)/signaling"],
        connect: ConnectMessage(role: .recvonly, channelID: "c"),
        webSocket: options([try await certificates.publicKey("server")])))
    let error = await errorOf { _ = try await client.connect() }
    #expect(error?.field == "acceptsKey", "\(String(describing: error))")
    await server.stop()
    await plain.stop()
  }
}
