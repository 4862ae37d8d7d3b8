import SignalingTestSupport
import SoraSignaling
import Testing

/// What a peer that breaks RFC 6455 gets, and what a peer that follows it in odd ways gets.
@Suite(.timeLimit(.minutes(5))) struct WebSocketProtocolTests {
  private func clientEvents(_ frames: [UInt8]) async throws -> [WebSocketConnection.Event] {
    let server = try await RawServer { acceptance($0) + frames }
    let connection = try await WebSocketClient.connect(url: server.url)
    var events: [WebSocketConnection.Event] = []
    for await event in connection.messages { events.append(event) }
    await server.stop()
    return events
  }

  private let close: [UInt8] = [0x88, 2, 0x03, 0xE8]

  @Test func fragmentsAreJoinedWithAPingBetween() async throws {
    // The euro sign is cut in two by the fragments.
    let frames: [UInt8] =
      [0x01, 2, 0x61, 0xE2] + [0x89, 1, 7] + [0x00, 0] + [0x00, 1, 0x82] + [0x80, 2, 0xAC, 0x62]
    #expect(
      try await clientEvents(frames + close) == [
        .text("a€b"), .closed(WebSocketClose(code: .normal)),
      ])
  }

  @Test func pingIsAnsweredWithItsPayload() async throws {
    let server = try await RawServer { acceptance($0) + [0x89, 3, 1, 2, 3] }
    let connection = try await WebSocketClient.connect(url: server.url)
    await server.received.wait(for: 1)
    let pong = server.received.elements.flatMap { $0 }
    try #require(pong.count == 9)
    #expect(pong[0] == 0x8A && pong[1] == 0x83)
    #expect((0..<3).map { pong[6 + $0] ^ pong[2 + $0] } == [1, 2, 3])
    connection.close()
    await server.stop()
  }

  @Test func closeWithoutCode() async throws {
    #expect(
      try await clientEvents([0x88, 0]) == [.closed(WebSocketClose(code: .noStatusReceived))])
  }

  @Test(arguments: [
    ([0x81, 0x81, 0, 0, 0, 0, 0x61], WebSocketCloseCode.protocolError),  // masked by a server
    ([0xC1, 1, 0x61], .protocolError),  // reserved bit
    ([0x83, 0], .protocolError),  // unknown opcode
    ([0x80, 1, 0x61], .protocolError),  // continuation of nothing
    ([0x01, 1, 0x61, 0x81, 1, 0x61], .protocolError),  // message inside a message
    ([0x09, 1, 0x61], .protocolError),  // ping in pieces
    ([0x88, 1, 0x03], .protocolError),  // half a close code
    ([0x88, 2, 0x03, 0xED], .protocolError),  // 1005 on the wire
    ([0x88, 3, 0x03, 0xE8, 0xFF], .invalidUTF8),
    ([0x81, 2, 0xC3, 0x28], .invalidUTF8),
    ([0x81, 127, 0, 0, 0, 0, 0, 0x10, 0, 1], .messageTooBig),
    ([0x81, 127, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], .messageTooBig),
  ])
  func violationsEndTheConnection(frames: [UInt8], code: WebSocketCloseCode) async throws {
    let events = try await clientEvents(frames)
    #expect(events.count == 1)
    guard case .closed(let close)? = events.last else { return }
    #expect(close.code == code)
    #expect(close.error != nil)
  }

  @Test func fragmentsTogetherAreBounded() async throws {
    var frames: [UInt8] = []
    for index in 0..<17 {
      frames += [index == 0 ? 0x01 : 0x00, 127, 0, 0, 0, 0, 0, 1, 0, 0]
      frames += [UInt8](repeating: 0x61, count: 65536)
    }
    let events = try await clientEvents(frames)
    guard case .closed(let close)? = events.last else { return }
    #expect(close.code == .messageTooBig)
    #expect(close.error?.code == .tooLarge)
  }

  @Test func endWithoutCloseFrameIsAbnormal() async throws {
    let server = try await startServer { connection in
      _ = await drain(connection)
    }
    let closes = Recorder<WebSocketClose?>()
    let second = try await startServer { closes.append(await drain($0)) }
    let client = try await RawClient(port: second.boundPort)
    client.send(RawClient.upgrade)
    _ = await client.wait { $0.suffix(4) == [13, 10, 13, 10] }
    client.close()
    await closes.wait(for: 1)
    let close = try #require(closes.elements.first ?? nil)
    #expect(close.code == .abnormal)
    #expect(close.error?.code == .connectionLost)
    await server.stop()
    await second.stop()
  }

  @Test func serverRefusesFramesWithoutMask() async throws {
    let closes = Recorder<WebSocketClose?>()
    let server = try await startServer { closes.append(await drain($0)) }
    let client = try await RawClient(port: server.boundPort)
    // The frame follows the handshake in the same segment.
    client.send(Array(RawClient.upgrade.utf8) + [0x81, 1, 0x61])
    await closes.wait(for: 1)
    #expect(closes.elements.first??.code == .protocolError)
    // RFC 6455 §1.3 gives the accept value of the sample key.
    let bytes = await client.wait { $0.contains(0x88) }
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(text.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="))
    client.close()
    await server.stop()
  }

  /// The limit is checked against the frame's header, and the client needn't wait for the close timeout to learn of it.
  @Test func aMessageThatIsTooLargeEndsTheConnectionAtOnce() async throws {
    var configuration = SignalingServer.Configuration.patient
    configuration.closeTimeout = .seconds(600)
    let server = try await startServer(configuration: configuration) { _ = await drain($0) }
    let client = try await RawClient(port: server.boundPort)
    client.send(RawClient.upgrade)
    _ = await client.wait { $0.suffix(4) == [13, 10, 13, 10] }
    // One byte more than 1 MiB is announced, and some of it sent.
    client.send([0x81, 0xFF, 0, 0, 0, 0, 0, 0x10, 0, 1, 0, 0, 0, 0])
    client.send([UInt8](repeating: 0x61, count: 100_000))
    await client.closed.wait(for: 1)
    let bytes = client.bytes
    let start = try #require(bytes.lastIndex(of: 0x88))
    #expect(Array(bytes[start...].dropFirst(2).prefix(2)) == [0x03, 0xF1])
    await server.stop()
  }

  @Test func sha1Vectors() {
    // FIPS 180 examples.
    func hex(_ text: String) -> String {
      SHA1.digest(Array(text.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
    #expect(hex("abc") == "a9993e364706816aba3e25717850c26c9cd0d89d")
    #expect(hex("") == "da39a3ee5e6b4b0d3255bfef95601890afd80709")
    #expect(
      hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
        == "84983e441c3bd26ebaae4aa1f95129e5e54670f1")
  }
}
