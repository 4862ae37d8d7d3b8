import Foundation
import SoraSDK
import SoraSignaling
import Testing
import WebRTC

/// Signaling that goes over data channels: the switch, both fates of the WebSocket, and ends.
@Suite(.timeLimit(.minutes(5))) struct SwitchTests {
  @Test func switchingKeepsTheWebSocket() async throws {
    let call = try await SwitchedCall()
    try await call.switchOver(ignoringWebSocket: false)
    await call.attempt.log.wait { $0.contains("signaling switched") }
    // A second one is no second switch.
    call.connection.send(.switched(SwitchedMessage(ignoreDisconnectWebSocket: true)))
    await call.attempt.log.wait { $0.count { $0 == "signaling switched" } == 2 }
    #expect(call.attempt.log.elements.count { $0 == "data channels" } == 1)
    call.connection.send(.ping(PingMessage()))
    await call.server.wait(for: "pong")
    #expect(call.server.closed.elements.isEmpty)
    await call.channel.disconnect()
    let farewell = try await call.message("disconnect")
    #expect(farewell.label == "signaling" && !farewell.buffer.isBinary)
    #expect(farewell.json?["reason"] == "NO-ERROR")
    #expect(await call.ends() == ["channel.disconnect nil"])
    #expect(call.channel.closeEvent?.text == "1000 NO-ERROR")
    await call.server.closed.wait(for: 1)
  }

  @Test func switchingClosesTheWebSocket() async throws {
    let call = try await SwitchedCall()
    try await call.switchOver(ignoringWebSocket: true)
    await call.server.closed.wait(for: 1)
    #expect(call.server.closed.elements.first?.code == .normal)
    #expect(call.channel.isAvailable)
    // Signaling goes on.
    call.send(.notify(NotifyMessage(eventType: "network.status")), on: "notify")
    await call.attempt.log.wait { $0.contains("signaling notify") }
    call.send(.push(PushMessage(data: 1)), on: "push")
    await call.attempt.log.wait { $0.contains("signaling push") }
    call.send(try await call.far.reOffer(stream: "ONE"))
    #expect(try await call.message("re-answer").label == "signaling")
    await call.attempt.log.wait { $0.contains("stream+ ONE") }
    await call.channel.disconnect()
    #expect(try await call.message("disconnect").json?["reason"] == "NO-ERROR")
    #expect(await call.ends() == ["channel.disconnect nil"])
  }

  /// Each is answered where it came from, before and after the switch.
  @Test func reOffersOnEitherTransport() async throws {
    let call = try await SwitchedCall()
    try await call.open()
    call.send(try await call.far.reOffer(stream: "ONE"))
    _ = try await call.message("re-answer")
    await call.attempt.log.wait { $0.contains("stream+ ONE") }
    try await call.switchOver(ignoringWebSocket: false)
    call.connection.send(try await call.far.reOffer(stream: "TWO"))
    await call.server.wait(for: "re-answer")
    await call.attempt.log.wait { $0.contains("stream+ TWO") }
    #expect(call.received.elements.count { $0.type == "re-answer" } == 1)
    await call.channel.disconnect()
  }

  /// A re-offer that was on its way when the server switched is answered before the WebSocket closes.
  @Test func aReOfferBeforeTheSwitchIsAnswered() async throws {
    let call = try await SwitchedCall()
    try await call.open()
    call.connection.send(try await call.far.reOffer(stream: "ONE"))
    call.connection.send(.switched(SwitchedMessage(ignoreDisconnectWebSocket: true)))
    await call.server.wait(for: "re-answer")
    await call.server.closed.wait(for: 1)
    await call.attempt.log.wait { $0.contains("stream+ ONE") }
    #expect(call.channel.isAvailable)
    await call.channel.disconnect()
  }

  /// A channel that never opens holds up the switch for a while only; the WebSocket goes where the label signaling is there.
  @Test func aListedChannelThatNeverOpens() async throws {
    let call = try await SwitchedCall(unopened: ["#never"])
    try await call.switchOver(ignoringWebSocket: true)
    await call.server.closed.wait(for: 1)
    guard
      case .messagingError(let reason)? = call.channel.sendMessage(label: "#never", data: Data())
        as? SoraError
    else { throw AnotherError() }
    #expect(reason.contains("#never"))
    call.send(try await call.far.reOffer(stream: "ONE"))
    _ = try await call.message("re-answer")
    await call.channel.disconnect()
  }

  /// The WebSocket is cut in the middle of the switch.
  @Test(arguments: [true, false]) func theWebSocketIsCutMidSwitch(_ isIgnored: Bool) async throws {
    let call = try await SwitchedCall(unopened: ["#never"])
    try await call.open()
    call.connection.send(.switched(SwitchedMessage(ignoreDisconnectWebSocket: isIgnored)))
    await call.attempt.log.wait { $0.contains("signaling switched") }
    call.connection.abort()
    if isIgnored {
      await call.attempt.log.wait { $0.contains("data channels") }
      #expect(call.channel.isAvailable)
      await call.channel.disconnect()
      _ = try await call.message("disconnect")
    } else {
      #expect(await call.ends() == ["channel.disconnect webSocketError"])
    }
  }

  @Test func switchedWithoutChannelsIsIgnored() async throws {
    let call = try await SwitchedCall(
      configure: { $0.dataChannelSignaling = nil }, offer: { $0.dataChannels = nil })
    call.connection.send(.switched(SwitchedMessage(ignoreDisconnectWebSocket: true)))
    await call.attempt.log.wait { $0.contains("signaling switched") }
    #expect(!call.attempt.log.elements.contains("data channels"))
    #expect(call.channel.native?.localDescription?.sdp.contains("m=application 0") == true)
    await call.channel.disconnect()
    await call.server.wait(for: "disconnect")
  }

  // MARK: Ends

  /// The WebSocket alone goes: code and what is said of it, whether the client tells the server, and how it ends.
  @Test(arguments: [WebSocketCloseCode.normal, .internalError])
  func theWebSocketGoesAfterASwitchThatNeedsIt(_ code: WebSocketCloseCode) async throws {
    let call = try await SwitchedCall()
    try await call.switchOver(ignoringWebSocket: false)
    call.connection.close(code: code, reason: "GONE")
    #expect(try await call.message("disconnect").json?["reason"] == "WEBSOCKET-ONCLOSE")
    #expect(
      await call.ends() == [
        code == .normal ? "channel.disconnect nil" : "channel.disconnect webSocketClosed"
      ])
    #expect(call.channel.closeEvent?.text == "\(code.rawValue) GONE")
  }

  @Test func theWebSocketIsCutAfterASwitchThatNeedsIt() async throws {
    let call = try await SwitchedCall()
    try await call.switchOver(ignoringWebSocket: false)
    call.connection.abort()
    #expect(try await call.message("disconnect").json?["reason"] == "WEBSOCKET-ONERROR")
    #expect(await call.ends() == ["channel.disconnect webSocketError"])
  }

  @Test func theWebSocketIsCutBeforeTheSwitch() async throws {
    let call = try await SwitchedCall()
    try await call.open()
    call.connection.abort()
    #expect(await call.ends() == ["channel.disconnect webSocketError"])
    #expect(call.received.elements.isEmpty)
  }

  @Test(arguments: [1000, 4490]) func theServerSaysClose(_ code: Int) async throws {
    let call = try await SwitchedCall()
    try await call.switchOver(ignoringWebSocket: true)
    await call.server.closed.wait(for: 1)
    call.send(.close(CloseMessage(code: code, reason: "LIFETIME-EXPIRED")))
    call.closeChannels()
    #expect(
      await call.ends() == [
        code == 1000 ? "channel.disconnect nil" : "channel.disconnect dataChannelClosed"
      ])
    #expect(call.channel.closeEvent?.text == "\(code) LIFETIME-EXPIRED")
    #expect(call.attempt.log.elements.contains("signaling close"))
    #expect((call.channel.failureReason != nil) == (code != 1000))
  }

  /// The channels' end says less than the WebSocket's code, which comes a moment later.
  @Test func closeWithAWebSocketBeside() async throws {
    let call = try await SwitchedCall()
    try await call.switchOver(ignoringWebSocket: false)
    call.closeChannels()
    call.connection.close(reason: "DISCONNECTED-API")
    #expect(await call.ends() == ["channel.disconnect nil"])
    #expect(call.channel.closeEvent?.text == "1000 DISCONNECTED-API")
  }

  @Test func theServerClosesItsChannels() async throws {
    let call = try await SwitchedCall()
    try await call.switchOver(ignoringWebSocket: true)
    await call.server.closed.wait(for: 1)
    call.closeChannels()
    #expect(await call.ends() == ["channel.disconnect nil"])
  }

  /// Nothing of a channel is left when it has ended and the app has let go of it.
  @Test(arguments: [true, false]) func nothingIsLeft(_ ignoresWebSocket: Bool) async throws {
    let freed = Recorder<Void>()
    try await use(Probe(freed), ignoresWebSocket)
    await freed.wait(for: 1)
  }

  private func use(_ probe: Probe, _ ignoresWebSocket: Bool) async throws {
    let call = try await SwitchedCall(
      [DataChannelOptions(label: "#chat")],
      configure: {
        // Held by the channel's configuration alone.
        $0.webSocketChannelHandlers = WebSocketChannelHandlers()
        $0.webSocketChannelHandlers.onReceive = { _ in withExtendedLifetime(probe) {} }
      })
    try await call.switchOver(ignoringWebSocket: ignoresWebSocket)
    let messages = call.channel.messages(label: "#chat")
    let reader = Task { for await _ in messages {} }
    call.send("x", on: "#chat")
    await call.told.wait(for: 1)
    await call.channel.disconnect()
    await reader.value
    // It holds the channels that it tells of.
    call.attempt.sora.handlers.onAddMediaChannel = nil
  }

  /// Who leaves waits for the server's end, and not for ever.
  @Test func aServerThatDoesNotAnswerTheFarewell() async throws {
    let call = try await SwitchedCall()
    try await call.switchOver(ignoringWebSocket: true)
    await call.server.closed.wait(for: 1)
    call.far.peer.close()
    await call.channel.disconnect()
    #expect(await call.ends().count == 1)
  }
}
