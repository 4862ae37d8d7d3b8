import Foundation
import SignalingTestSupport
import SoraSignaling
import Testing

/// Pins of a server's public key, as openssl makes them.
@Suite(.timeLimit(.minutes(5))) struct PinnedKeyTests {
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
    _ pins: [[UInt8]], trust: TLSOptions.Trust? = nil, insecure: Bool = false
  ) -> WebSocketOptions {
    WebSocketOptions(
      tls: TLSOptions(trust: trust ?? .file(certificates.path("ca.pem")), insecure: insecure),
      pinnedKeys: pins)
  }

  @Test func oneOfThePinsIsEnough() async throws {
    let (server, url) = try await server()
    let pin = try await certificates.keyHash("server")
    try await exchange(url, options([pin]))
    try await exchange(url, options([[UInt8](repeating: 7, count: 32), pin]))
    // Where no authority is asked, the pin alone says who it is.
    try await exchange(url, options([pin], trust: .system, insecure: true))
    await server.stop()
  }

  @Test(arguments: [false, true])
  func anotherKeyIsRefused(insecure: Bool) async throws {
    let (server, url) = try await server()
    let options = options([try await certificates.keyHash("other")], insecure: insecure)
    let error = await errorOf { try await exchange(url, options) }
    #expect(error?.stage == .tls && error?.code == .certificateNotVerified)
    #expect(error?.field == "pinnedKeys", "\(String(describing: error))")
    await server.stop()
  }

  /// A pin asks for more, and not for less.
  @Test func authoritiesAreAskedAllTheSame() async throws {
    let (server, url) = try await server()
    let options = options([try await certificates.keyHash("server")], trust: .system)
    let error = await errorOf { try await exchange(url, options) }
    #expect(error?.stage == .tls && error?.field == "tls.trust")
    await server.stop()
  }

  @Test func whoIsNotPinnedHearsNothing() async throws {
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
      #expect(error?.field == "pinnedKeys")
    }
    #expect(heard.elements.isEmpty)
    await server.stop()
  }

  @Test(arguments: [
    ("ws://127.0.0.1:1/signaling", 32), ("wss://127.0.0.1:1/signaling", 31),
    ("wss://127.0.0.1:1/signaling", 0),
  ])
  func pinsThatCannotHoldAreToldAtOnce(url: String, count: Int) async throws {
    let options = options([[UInt8](repeating: 7, count: count)])
    let error = await errorOf { try await exchange(url, options) }
    #expect(error?.stage == .configuration && error?.code == .invalidConfiguration)
    #expect(error?.field == "pinnedKeys")
  }

  /// A redirect to a server without TLS doesn't get around them.
  @Test func aRedirectKeepsThePins() async throws {
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
        webSocket: options([try await certificates.keyHash("server")])))
    let error = await errorOf { _ = try await client.connect() }
    #expect(error?.field == "pinnedKeys", "\(String(describing: error))")
    await server.stop()
    await plain.stop()
  }
}
