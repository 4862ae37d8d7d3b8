import Foundation
import SoraICE
import SoraSDK
import SoraServer
import Testing

/// The SDK and the server over data channels: both fates of the WebSocket, messages with and without compression and header, and calls.
@Suite(.timeLimit(.minutes(5))) struct DataChannelCallTests {
  private func connect(
    to server: SoraServer, ignoringWebSocket: Bool, compress: Bool = false, header: Bool = true
  ) async throws -> MediaChannel {
    var configuration = Configuration(
      url: try #require(URL(string: server.url)), channelId: "chat", role: .recvonly)
    configuration.dataChannelSignaling = true
    configuration.ignoreDisconnectWebSocket = ignoringWebSocket
    configuration.dataChannelConfigurations = [
      DataChannelConfiguration(label: "#chat", compress: compress, hasSenderHeader: header)
    ]
    let channel = try await Sora().connect(configuration: configuration)
    try await channel.ready(label: "#chat")
    return channel
  }

  private func start() async throws -> SoraServer {
    var configuration = SoraServer.Configuration()
    configuration.mediaAddresses = [.loopbackV4]
    return try await SoraServer.start(configuration)
  }

  @Test(arguments: [false, true]) func messagesAndCalls(_ ignoresWebSocket: Bool) async throws {
    let server = try await start()
    let a = try await connect(to: server, ignoringWebSocket: ignoresWebSocket, compress: true)
    let b = try await connect(to: server, ignoringWebSocket: !ignoresWebSocket, header: false)
    var toB = b.messages(label: "#chat").makeAsyncIterator()
    var toA = a.messages(label: "#chat").makeAsyncIterator()
    let large = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
    try await a.send(label: "#chat", data: large)
    #expect(await toB.next()?.data == large)
    try await b.send(label: "#chat", text: "grüße")
    let answer = try #require(await toA.next())
    #expect(answer.text == "grüße" && answer.senderConnectionId == b.connectionId)

    // Each is told what the other makes known of itself.
    typealias Put = PutSignalingNotifyMetadataItem<[String: String], String>
    #expect(a.rpcMethods.contains(Put.name))
    let pushes = b.events
    let put = try await a.rpc(
      method: Put.self, params: .init(key: "state", value: "here", push: true))
    #expect(put?.result == ["state": "here"])
    for await event in pushes {
      guard case .push(let push) = event else { continue }
      #expect((push.data as? [String: Any]) != nil)
      break
    }
    let statistics = await a.statistics()
    #expect(statistics.all("data-channel").count >= 5)

    await a.disconnect()
    await b.disconnect()
    #expect(await toA.next() == nil)
    for channel in [a, b] {
      guard case .ok(1000, "NO-ERROR")? = channel.closeEvent else {
        Issue.record("it ended otherwise: \(String(describing: channel.closeEvent))")
        continue
      }
    }
    await server.shutdown()
  }

  /// The server ends the connection, and says why on either transport.
  @Test(arguments: [false, true]) func theServerEndsIt(_ ignoresWebSocket: Bool) async throws {
    let server = try await start()
    let channel = try await connect(to: server, ignoringWebSocket: ignoresWebSocket)
    let events = channel.events
    #expect(await server.disconnect(channelID: "chat") == 1)
    var ends: [(any Error)?] = []
    for await event in events { if case .disconnected(let error) = event { ends.append(error) } }
    #expect(ends.count == 1 && ends.allSatisfy { $0 == nil })
    guard case .ok(1000, let reason)? = channel.closeEvent else { throw CancellationError() }
    #expect(reason == "DISCONNECTED-API")
    await server.shutdown()
  }

  /// The server goes: the end is told once, within a time.
  @Test(arguments: [false, true]) func theServerGoes(_ ignoresWebSocket: Bool) async throws {
    let server = try await start()
    let channel = try await connect(to: server, ignoringWebSocket: ignoresWebSocket)
    let events = channel.events
    await server.shutdown()
    var ends = 0
    for await event in events { if case .disconnected = event { ends += 1 } }
    #expect(ends == 1 && channel.state == .disconnected)
  }
}
