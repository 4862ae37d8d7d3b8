import Foundation
import SoraSDK
import SoraSignaling
import Testing
import WebRTC

/// What dies without a word: the media's path alone, the WebSocket alone, all of the server. Each ends the connection once, in its time.
@Suite(.timeLimit(.minutes(5))) struct KillTests {
  /// A server whose media is reached over a relay alone.
  private struct Server {
    let sora: ScriptedSora
    let relay: DatagramRelay
    let connections = Recorder<WebSocketConnection>()
    let far: FarEnd

    /// - Parameter switches: whether the offer lists data channels for signaling, and one that never opens, so that the switch takes a while.
    init(switches: Bool = false) async throws {
      let labels = switches ? SwitchedCall.systemLabels : []
      let far = try await FarEnd(receives: true, labels: labels)
      self.far = far
      let listed = switches ? (labels + ["#never"]).map { DataChannelOptions(label: $0) } : nil
      let lines = far.sdp.split(whereSeparator: \.isNewline).map(String.init)
      // foundation, component, protocol, priority, address, port
      let words = try #require(
        lines.filter { $0.hasPrefix("a=candidate:") }.map { $0.split(separator: " ") }
          .first { $0.count > 5 && !$0[4].contains(":") })
      let relay = try DatagramRelay(String(words[4]), to: try #require(UInt16(words[5])))
      var candidate = words.map(String.init)
      candidate[5] = "\(relay.port)"
      let first = lines.firstIndex { $0.hasPrefix("a=candidate:") } ?? 0
      var offered = lines.enumerated().filter {
        !$0.element.hasPrefix("a=candidate:") || $0.offset == first
      }.map(\.element)
      offered[first] = candidate.joined(separator: " ")
      let sdp = offered.joined(separator: "\r\n") + "\r\n"
      let connections = connections
      sora = try await ScriptedSora { connection, message in
        switch message {
        case .connect:
          connections.append(connection)
          connection.send(
            far.offer {
              $0.sdp = sdp
              $0.dataChannels = listed
            })
        case .answer(let answer):
          // The client's own candidates would be a way around the relay.
          let kept = answer.sdp.split(whereSeparator: \.isNewline)
            .filter { !$0.hasPrefix("a=candidate:") }
          try await far.handle(
            .answer(AnswerMessage(sdp: kept.joined(separator: "\r\n") + "\r\n")))
        default: break
        }
      }
      self.relay = relay
    }

    /// Connects, and returns in the middle of the switch.
    func attemptMidSwitch(ignoringWebSocket: Bool) async throws -> Attempt {
      var configuration = sora.configuration()
      configuration.dataChannelSignaling = true
      let handlers = configuration.mediaChannelHandlers
      let attempt = Attempt(configuration, face: .tasks)
      handlers.onDataChannel = { [log = attempt.log] _ in log.append("data channels") }
      _ = try await attempt.channel()
      for channel in far.channels.values {
        while channel.readyState != .open { try await Task.sleep(for: .milliseconds(2)) }
      }
      try #require(connections.elements.first).send(
        .switched(SwitchedMessage(ignoreDisconnectWebSocket: ignoringWebSocket)))
      await attempt.log.wait { $0.contains("signaling switched") }
      #expect(!attempt.log.elements.contains("data channels"))
      return attempt
    }
  }

  /// What an attempt tells of its end, once nothing more can come of it.
  private func ends(_ attempt: Attempt) async throws -> [String] {
    let story = await attempt.story()
    // Of a second event, what dies with the first would be the reason.
    try await Task.sleep(for: .seconds(1))
    #expect(await attempt.story() == story)
    return story.filter { $0.contains("disconnect") || $0 == "remove" }
  }

  private static func end(_ error: String) -> [String] {
    ["remove", "sora.disconnect \(error)", "channel.disconnect \(error)"]
  }

  /// ICE's consent (RFC 7675) is all that notices: 5 s here.
  @Test func theMediaPathAloneDiesMidCall() async throws {
    let server = try await Server()
    defer { server.relay.stop() }
    let attempt = Attempt(server.sora.configuration(), face: .tasks)
    let channel = try await attempt.channel()
    let cut = ContinuousClock.now
    server.relay.cut()
    #expect(try await ends(attempt) == Self.end("peerChannelError"))
    let time = ContinuousClock.now - cut
    #expect(time > .seconds(4) && time < .seconds(20), "\(time)")
    #expect(channel.failureReason?.hasPrefix("ICE") == true, "\(channel.failureReason ?? "")")
    #expect(channel.state == .disconnected)
  }

  /// The path dies while it is looked for: the attempt's limit ends it.
  @Test func theMediaPathAloneDiesMidConnect() async throws {
    let server = try await Server()
    defer { server.relay.stop() }
    server.relay.cut()
    var configuration = server.sora.configuration()
    configuration.connectionTimeout = 3
    let begun = ContinuousClock.now
    let attempt = Attempt(configuration, face: .tasks)
    #expect(try await ends(attempt) == Self.end("connectionTimeout"))
    #expect(ContinuousClock.now - begun < .seconds(15))
  }

  /// The WebSocket is cut: at once.
  @Test(arguments: [true, false]) func theWebSocketAloneDies(_ midCall: Bool) async throws {
    let server = try await Server()
    defer { server.relay.stop() }
    if !midCall { server.relay.cut() }
    let attempt = Attempt(server.sora.configuration(), face: .tasks)
    if midCall { _ = try await attempt.channel() } else { await server.sora.wait(for: "answer") }
    let cut = ContinuousClock.now
    try #require(server.connections.elements.first).abort()
    #expect(try await ends(attempt) == Self.end("webSocketError"))
    #expect(ContinuousClock.now - cut < .seconds(10))
    // The path that goes on, or goes a moment later, changes nothing.
    server.relay.cut()
  }

  /// All of a server at once, as when its machine loses its power in the middle of a call; and the kernel of another says that the
  /// WebSocket is gone.
  @Test func theWholeServerDies() async throws {
    let server = try await Server()
    defer { server.relay.stop() }
    let attempt = Attempt(server.sora.configuration(), face: .tasks)
    _ = try await attempt.channel()
    server.relay.cut()
    try #require(server.connections.elements.first).abort()
    #expect(try await ends(attempt) == Self.end("webSocketError"))
  }

  /// The path dies in the middle of the switch, with a WebSocket beside that stays and with one that goes.
  @Test(arguments: [true, false]) func theMediaPathAloneDiesMidSwitch(
    _ ignoresWebSocket: Bool
  ) async throws {
    let server = try await Server(switches: true)
    defer { server.relay.stop() }
    let attempt = try await server.attemptMidSwitch(ignoringWebSocket: ignoresWebSocket)
    let cut = ContinuousClock.now
    server.relay.cut()
    #expect(try await ends(attempt) == Self.end("peerChannelError"))
    let time = ContinuousClock.now - cut
    #expect(time > .seconds(3) && time < .seconds(20), "\(time)")
  }

  /// All of the server dies in the middle of the switch: the WebSocket tells it at once where it is needed, and else ICE's consent.
  @Test(arguments: [true, false]) func theWholeServerDiesMidSwitch(
    _ ignoresWebSocket: Bool
  ) async throws {
    let server = try await Server(switches: true)
    defer { server.relay.stop() }
    let attempt = try await server.attemptMidSwitch(ignoringWebSocket: ignoresWebSocket)
    let cut = ContinuousClock.now
    server.relay.cut()
    try #require(server.connections.elements.first).abort()
    let error = ignoresWebSocket ? "peerChannelError" : "webSocketError"
    #expect(try await ends(attempt) == Self.end(error))
    #expect(ContinuousClock.now - cut < .seconds(20))
  }

  /// All of the server dies about when it offers, before there is an answer.
  @Test func theWholeServerDiesMidConnect() async throws {
    let server = try await Server()
    defer { server.relay.stop() }
    server.relay.cut()
    let attempt = Attempt(server.sora.configuration(), face: .tasks)
    await server.connections.wait(for: 1)
    try #require(server.connections.elements.first).abort()
    let cut = ContinuousClock.now
    #expect(try await ends(attempt) == Self.end("webSocketError"))
    #expect(ContinuousClock.now - cut < .seconds(10))
  }
}
