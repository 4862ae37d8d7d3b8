import SignalingTestSupport
import SoraMedia
import SoraSignaling
import Testing

/// Each way in which opening a WebSocket fails: its stage, its code, within its time.
@Suite(.timeLimit(.minutes(5))) struct ConnectFailureTests {
  /// On a busy machine even a server of this process may be late with its answer.
  private static let patient = WebSocketOptions(timeout: .seconds(40))

  private func failure(
    _ url: String, _ options: WebSocketOptions = patient
  ) async throws -> SignalingError {
    let error = await errorOf { _ = try await WebSocketClient.connect(url: url, options: options) }
    return try #require(error)
  }

  @Test(arguments: [
    "http://host/signaling", "ws://", "ws:///signaling", "nonsense", "", "ws://host:0/signaling",
    "ws://host:99999/x", "ws://ho st/signaling", "ws://host/\r\nX: y",
  ])
  func invalidURL(url: String) async throws {
    let error = try await failure(url)
    #expect(error.stage == .configuration && error.code == .invalidURL)
  }

  @Test func nobodyListens() async throws {
    let error = try await failure("ws://127.0.0.1:\(try unusedPort())/signaling")
    #expect(error.stage == .connect && error.code == .refused)
    #expect(error.wayOut.contains("start the server"))
    #expect(error.url?.hasPrefix("ws://127.0.0.1") == true)
  }

  /// One line that says what to change, without names of functions and numbers of errors.
  @Test func aPortThatCannotBeOpenedSaysWhy() async throws {
    let first = try await startServer { _ = await drain($0) }
    for (host, port, detail) in [
      ("127.0.0.1", first.boundPort, "the port is in use"),
      ("192.0.2.1", 0, "the host is no address of this machine"),
      ("sora.invalid", 0, "the host's name is unknown"),
    ] {
      let error = await errorOf {
        _ = try await SignalingServer.start(host: host, port: port) { _ in }
      }
      #expect(error?.stage == .listen && error?.code == .listenFailed)
      #expect(error?.detail.hasPrefix(detail) == true, "\(error as Any)")
      #expect(error?.description.contains("errno") == false)
    }
    await first.stop()
  }

  @Test func unknownHost() async throws {
    // RFC 6761 §6.4: never resolves.
    let error = try await failure("ws://sora.invalid/signaling")
    #expect(error.stage == .resolve && error.code == .hostNotFound)
    #expect(error.value == "sora.invalid")
  }

  @Test(arguments: ["/signaling/", "/", "/other", "/Signaling"])
  func wrongPath(path: String) async throws {
    let server = try await startServer { _ = await drain($0) }
    let error = try await failure("ws://127.0.0.1:\(server.boundPort)\(path)")
    #expect(error.stage == .upgrade && error.code == .unexpectedStatus(404))
    #expect(error.wayOut.contains("/signaling"))
    await server.stop()
  }

  /// On a busy machine a short limit may pass at an earlier stage; a longer one then doesn't.
  private func timeout(
    of url: String, at stage: SignalingError.Stage
  ) async throws -> SignalingError? {
    var error: SignalingError?
    for limit in [0.1, 1, 10, 30] {
      var options = WebSocketOptions()
      options.timeout = .seconds(limit)
      error = try await failure(url, options)
      #expect(error?.code == .timeout)
      if error?.stage == stage { break }
    }
    return error
  }

  @Test func silentServerTimesOut() async throws {
    let server = try await RawServer { _ in [] }
    #expect(try await timeout(of: server.url, at: .upgrade)?.stage == .upgrade)
    // The socket is gone too.
    await server.closed.wait(for: 1)
    await server.stop()
  }

  @Test func silentTLSServerTimesOut() async throws {
    let server = try await RawServer { _ in [] }
    let url = "wss://127.0.0.1:\(server.port)/signaling"
    #expect(try await timeout(of: url, at: .tls)?.stage == .tls)
    await server.stop()
  }

  @Test(arguments: [
    "SSH-2.0-OpenSSH_9.2\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 101 OK\r\n\r\n",
    "HTTP/1.1 101 OK\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    "HTTP/1.1 101 OK\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n",
    "HTTP/1.1 101 OK\r\n: nameless\r\n\r\n",
  ])
  func badHandshake(response: String) async throws {
    let server = try await RawServer { _ in Array(response.utf8) }
    let error = try await failure(server.url)
    #expect(error.stage == .upgrade && error.code == .invalidHandshake)
    await server.stop()
  }

  @Test func unwantedExtension() async throws {
    let server = try await RawServer {
      Array(acceptance($0).dropLast(2))
        + Array("Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n".utf8)
    }
    #expect(try await failure(server.url).code == .invalidHandshake)
    await server.stop()
  }

  @Test func endlessResponseHead() async throws {
    let server = try await RawServer { _ in [UInt8](repeating: 0x41, count: 20_000) }
    #expect(try await failure(server.url).code == .invalidHandshake)
    await server.stop()
  }

  @Test func serverHangsUp() async throws {
    let server = try await RawServer { _ in nil }
    let error = try await failure(server.url)
    #expect(error.stage == .upgrade && error.code == .connectionLost)
    await server.stop()
  }

  @Test func cancelIsImmediate() async throws {
    let server = try await RawServer { _ in [] }
    let task = Task { await errorOf { _ = try await WebSocketClient.connect(url: server.url) } }
    task.cancel()
    #expect(await task.value?.code == .cancelled)
    await server.stop()
  }

  @Test func controlCharactersDoNotReachHeaders() async throws {
    var options = WebSocketOptions()
    options.userAgent = "a\r\nX-Evil: 1"
    let error = try await failure("ws://127.0.0.1:1/signaling", options)
    #expect(error.code == .invalidConfiguration && error.field == "userAgent")
  }

  @Test func mutatedResponseHeadsNeverTrap() {
    let random = RandomSource(seed: 7)
    func below(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }
    let seed = Array("HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nA:b \r\n\r\n".utf8)
    for _ in 0..<10_000 {
      var bytes = seed
      for _ in 0...below(5) {
        let at = below(bytes.count)
        if below(3) == 0, bytes.count > 1 {
          bytes.remove(at: at)
        } else {
          bytes[at] = UInt8(truncatingIfNeeded: random.next())
        }
      }
      if let head = try? HTTPResponseHead.parse(bytes) {
        #expect(head.size <= bytes.count && (100...999).contains(head.status))
      }
    }
  }
}
