import Foundation
import SoraSDK
import SoraSignaling
import SoraSignalingChannels
import Testing
import WebRTC

/// Messages of apps over data channels.
@Suite(.timeLimit(.minutes(5))) struct MessagingTests {
  private static let sender = "0123456789ABCDEFGHJKMNPQRS"

  private func reason(_ error: (any Error)?) -> String? {
    guard case .messagingError(let reason)? = error as? SoraError else { return nil }
    return reason
  }

  @Test func messagesGoBothWays() async throws {
    let call = try await SwitchedCall([DataChannelOptions(label: "#chat")])
    let ready = Task { try await call.channel.ready(label: "#chat") }
    try await call.switchOver(ignoringWebSocket: true)
    try await ready.value
    let messages = call.channel.messages(label: "#chat")
    #expect(call.channel.sendMessage(label: "#chat", data: Data([1, 2, 3])) == nil)
    try await call.channel.send(label: "#chat", text: "grüße")
    try await call.channel.send(label: "#chat", data: Data())
    await call.received.wait { $0.count { $0.label == "#chat" } == 3 }
    let sent = call.received.elements.filter { $0.label == "#chat" }.map(\.buffer)
    #expect(
      sent == [
        RTCDataBuffer(data: Data([1, 2, 3]), isBinary: true), RTCDataBuffer(text: "grüße"),
        RTCDataBuffer(data: Data(), isBinary: true),
      ])
    call.send("text", on: "#chat")
    call.send([9, 8], on: "#chat")
    var iterator = messages.makeAsyncIterator()
    let text = try #require(await iterator.next())
    #expect(text.isText && text.text == "text" && text.senderConnectionId == nil)
    let bytes = try #require(await iterator.next())
    #expect(!bytes.isText && bytes.data == Data([9, 8]) && bytes.label == "#chat")
    await call.told.wait { $0.contains { $0.1 == Data([9, 8]) } }
    await call.channel.disconnect()
    #expect(await iterator.next() == nil)
    var late = call.channel.messages(label: "#chat").makeAsyncIterator()
    #expect(await late.next() == nil)
  }

  /// As on iOS, the handler gets the header with the bytes; the typed message has them apart.
  @Test(arguments: [false, true]) func whoSentIt(_ isCompressed: Bool) async throws {
    let call = try await SwitchedCall([
      DataChannelOptions(label: "#chat") {
        $0.compress = isCompressed
        $0.header = [DataChannelHeader(length: 26)]
      }
    ])
    let events = call.channel.events
    try await call.switchOver(ignoringWebSocket: false)
    let whole = Array((Self.sender + "hello").utf8)
    let packed =
      try isCompressed
      ? [UInt8](MessageCompression.compress(Data(whole).bytes)) : whole
    call.send(packed, on: "#chat")
    call.send(
      isCompressed ? try MessageCompression.compress(Data("short".utf8).bytes) : [1, 2], on: "#chat"
    )
    call.send(packed, on: "#chat")
    var found: [DataChannelMessage] = []
    for await event in events {
      if case .message(let message) = event { found.append(message) }
      if found.count == 2 { break }
    }
    for message in found {
      #expect(message.senderConnectionId == Self.sender && message.text == "hello")
    }
    let raw = call.told.elements.filter { $0.0 == "#chat" }.map { Array($0.1) }
    #expect(raw.first == whole && raw.count == 3, "the short one came as it is")
    await call.channel.disconnect()
  }

  @Test func compression() async throws {
    let call = try await SwitchedCall([
      DataChannelOptions(label: "#zip") { $0.compress = true },
      DataChannelOptions(label: "signaling") { $0.compress = true },
      DataChannelOptions(label: "stats") { $0.compress = true },
    ])
    try await call.switchOver(ignoringWebSocket: false)
    let zeros = Data(count: 100_000)
    #expect(call.channel.sendMessage(label: "#zip", data: zeros) == nil)
    #expect(call.channel.sendMessage(label: "#zip", data: Data()) == nil)
    await call.received.wait { $0.count { $0.label == "#zip" } == 2 }
    let sent = call.received.elements.filter { $0.label == "#zip" }.map { Array($0.buffer.data) }
    #expect(sent[0].count < 1000)
    #expect(
      try MessageCompression.inflate(Data(sent[0]).bytes, limit: 100_000) == Array(zeros))
    #expect(try MessageCompression.inflate(Data(sent[1]).bytes, limit: 1).isEmpty)
    // What isn't a stream, what would be too large, and one that is fine.
    call.send([1, 2, 3], on: "#zip")
    call.send([], on: "#zip")
    call.send(try MessageCompression.compress(Data(count: 3 << 20).bytes), on: "#zip")
    call.send(try MessageCompression.compress(Data("ok".utf8).bytes), on: "#zip")
    var iterator = call.channel.messages(label: "#zip").makeAsyncIterator()
    #expect(await iterator.next()?.text == "ok")
    // Signaling's own are compressed too, both ways.
    let request = SignalingMessage.reqStats(ReqStatsMessage()).bytes
    call.send(try MessageCompression.compress(Data(request).bytes), on: "stats")
    await call.received.wait { $0.contains { $0.label == "stats" } }
    let reply = try #require(call.received.elements.first { $0.label == "stats" }?.buffer)
    let stats = try MessageCompression.inflate(reply.data.bytes, limit: 1 << 20)
    guard reply.isBinary, case .stats(let message) = try SignalingMessage(parsing: stats) else {
      throw AnotherError()
    }
    #expect(message.reports.contains { $0["type"] == "transport" })
    call.closeChannels()
    call.connection.close()
    _ = await call.ends()
  }

  // MARK: What can't be sent

  @Test func theConditionsComeInOrder() async throws {
    let call = try await SwitchedCall([
      DataChannelOptions(label: "#chat"),
      DataChannelOptions(label: "#listen") { $0.direction = .recvonly },
    ])
    let channel = call.channel
    #expect(reason(channel.sendMessage(label: "chat", data: Data()))?.contains("in use") == true)
    try await call.switchOver(ignoringWebSocket: false)
    #expect(reason(channel.sendMessage(label: "chat", data: Data()))?.contains("#") == true)
    #expect(reason(channel.sendMessage(label: "#no", data: Data()))?.contains("#no") == true)
    #expect(
      reason(channel.sendMessage(label: "#listen", data: Data()))?.contains("recvonly") == true)
    let tooLarge = channel.sendMessage(label: "#chat", data: Data(count: 1 << 20))
    #expect(reason(tooLarge)?.contains("\(1 << 20) bytes is too large") == true)
    await #expect(throws: SoraError.self) {
      try await channel.send(label: "#chat", data: Data(count: 1 << 20))
    }
    await #expect(throws: SoraError.self) { try await channel.ready(label: "#no") }
    #expect(channel.sendMessage(label: "#chat", data: Data(count: 100_000)) == nil)
    let waiting = Task { try await channel.ready(label: "#chat") }
    try await waiting.value
    await channel.disconnect()
    #expect(reason(channel.sendMessage(label: "#chat", data: Data())) != nil)
    await #expect(throws: SoraError.self) { try await channel.ready(label: "#chat") }
  }

  @Test func whoWaitsIsToldOfTheEnd() async throws {
    let call = try await SwitchedCall([DataChannelOptions(label: "#chat")])
    let waiting = Task { try await call.channel.ready(label: "#chat") }
    let cancelled = Task { try await call.channel.ready(label: "#chat") }
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    await call.channel.disconnect()
    await #expect(throws: SoraError.self) { try await waiting.value }
  }

  /// The sender is held back, and nothing is lost.
  @Test func theAsyncFormWaitsForRoom() async throws {
    let call = try await SwitchedCall([DataChannelOptions(label: "#bulk")])
    try await call.switchOver(ignoringWebSocket: false)
    let count = 96
    for number in 0..<count {
      try await call.channel.send(
        label: "#bulk", data: Data(repeating: UInt8(number), count: 100_000))
    }
    await call.received.wait { $0.count { $0.label == "#bulk" } == count }
    let first = call.received.elements.filter { $0.label == "#bulk" }.map { $0.buffer.data.first }
    #expect(first == (0..<count).map { UInt8($0) })
    await call.channel.disconnect()
  }

  /// What was sent before the end comes before it.
  @Test func nothingSentIsLostByTheFarewell() async throws {
    let call = try await SwitchedCall([DataChannelOptions(label: "#bulk")])
    try await call.switchOver(ignoringWebSocket: true)
    for number in 0..<8 {
      let data = Data(repeating: UInt8(number), count: 50_000)
      #expect(call.channel.sendMessage(label: "#bulk", data: data) == nil)
    }
    await call.channel.disconnect()
    await call.received.wait { $0.count { $0.label == "#bulk" } == 8 }
    #expect(await call.ends() == ["channel.disconnect nil"])
  }

  /// A reader that doesn't read holds up its label, and no other; once it reads, everything is there.
  @Test func aSlowReaderHoldsUpItsLabelAlone() async throws {
    let call = try await SwitchedCall([
      DataChannelOptions(label: "#bulk"), DataChannelOptions(label: "#chat"),
    ])
    try await call.switchOver(ignoringWebSocket: false)
    var bulk: DataChannelMessages.Iterator? =
      call.channel.messages(label: "#bulk").makeAsyncIterator()
    let other = try #require(call.far.channels["#bulk"])
    for number in 0..<120 {
      #expect(
        other.sendData(
          RTCDataBuffer(data: Data(repeating: UInt8(number), count: 100_000), isBinary: true)))
    }
    var chat = call.channel.messages(label: "#chat").makeAsyncIterator()
    call.send("still", on: "#chat")
    #expect(await chat.next()?.text == "still")
    #expect(call.told.elements.count { $0.0 == "#bulk" } < 60, "more than was read came to the app")
    for number in 0..<60 {
      #expect(await bulk?.next()?.data.first == UInt8(number))
    }
    // Who lets go of it holds up nobody.
    bulk = nil
    await call.told.wait { $0.count { $0.0 == "#bulk" } == 120 }
    await call.channel.disconnect()
  }

  // MARK: What comes

  /// Channels without a meaning, listed or not, and ones that the offer doesn't list, are no harm; their messages are told as bytes.
  @Test func unknownLabels() async throws {
    let call = try await SwitchedCall(
      [DataChannelOptions(label: "e2ee")], unlisted: ["#surprise", "future"])
    try await call.switchOver(ignoringWebSocket: false)
    call.send([1], on: "e2ee")
    call.send([2], on: "future")
    call.send([3], on: "#surprise")
    await call.told.wait(for: 3)
    #expect(
      Set(call.told.elements.map { "\($0.0) \(Array($0.1))" }) == [
        "e2ee [1]", "future [2]", "#surprise [3]",
      ])
    #expect(call.channel.sendMessage(label: "#surprise", data: Data([4])) == nil)
    await call.received.wait { $0.contains { $0.label == "#surprise" } }
    await call.channel.disconnect()
  }

  /// What can't be read is ignored, on each label, and the connection goes on.
  @Test(arguments: SwitchedCall.systemLabels)
  func malformedMessages(_ label: String) async throws {
    let call = try await SwitchedCall([DataChannelOptions(label: "#chat")])
    try await call.switchOver(ignoringWebSocket: true)
    for text in [
      "", "{", "[]", "null", "{}", "{\"type\":1}", "{\"type\":\"re-offer\"}",
      "{\"type\":\"re-offer\",\"sdp\":3}", "{\"type\":\"close\"}", "{\"type\":\"surprise\"}",
      "{\"type\":\"notify\"}", "{\"type\":\"close\",\"code\":\"x\",\"reason\":1}",
      "{\"jsonrpc\":\"2.0\",\"id\":1}", "{\"jsonrpc\":\"1.0\",\"id\":1,\"result\":2}",
      "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":2}", String(repeating: "[", count: 1000),
    ] {
      call.send(text, on: label)
    }
    call.send([0xFF, 0xFE, 0], on: label)
    call.send("{\"type\":\"req-stats\"}", on: "stats")
    #expect(try await call.message("stats").json?["reports"]?.arrayValue?.isEmpty == false)
    call.send("on", on: "#chat")
    await call.told.wait { $0.contains { $0.1 == Data("on".utf8) } }
    #expect(call.channel.isAvailable)
    call.send(.push(PushMessage(data: ["still": "there"])), on: "push")
    await call.attempt.log.wait { $0.contains("signaling push") }
    await call.channel.disconnect()
  }

  /// Messages from before the switch, and from before somebody reads, aren't lost.
  @Test func messagesBeforeTheSwitch() async throws {
    let call = try await SwitchedCall([DataChannelOptions(label: "#chat")])
    try await call.open()
    call.send("early", on: "#chat")
    await call.told.wait(for: 1)
    var first = call.channel.messages(label: "#chat").makeAsyncIterator()
    #expect(await first.next()?.text == "early")
    try await call.switchOver(ignoringWebSocket: false)
    await call.channel.disconnect()
  }

  // MARK: Configuration

  @Test func typedConfiguration() throws {
    let url = try #require(URL(string: "ws://127.0.0.1/signaling"))
    var configuration = Configuration(url: url, channelId: "test", role: .recvonly)
    let wanted = [
      DataChannelConfiguration(label: "#a"),
      DataChannelConfiguration(
        label: "#b", direction: .sendonly, ordered: false, maxRetransmits: 2, protocol: "p",
        compress: true, hasSenderHeader: true),
    ]
    configuration.dataChannelConfigurations = wanted
    #expect(configuration.dataChannelConfigurations == wanted)
    let list = try #require(configuration.dataChannels as? [[String: Any]])
    #expect(list[0].keys.sorted() == ["direction", "label"])
    #expect(list[1]["max_retransmits"] as? Int == 2 && list[1]["compress"] as? Bool == true)
    #expect(
      (list[1]["header"] as? [[String: Any]])?.first?["type"] as? String == "sender_connection_id")
    configuration.dataChannels = [["label": "#c", "direction": "recvonly", "future": 1]]
    #expect(
      configuration.dataChannelConfigurations == [
        DataChannelConfiguration(label: "#c", direction: .recvonly)
      ])
    configuration.dataChannelConfigurations = []
    #expect(configuration.dataChannels == nil)
  }
}
