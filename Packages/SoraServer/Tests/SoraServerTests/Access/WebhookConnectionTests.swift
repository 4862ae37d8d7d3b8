import Foundation
import SoraServer
import Synchronization
import Testing

/// Webhooks whose servers close connections that are kept.
@Suite(.timeLimit(.minutes(5))) struct WebhookConnectionTests {
  /// Who is asked over a connection that the webhook's server is closing just then isn't refused for it.
  @Test func aKeptConnectionThatEndsIsNoRefusal() async throws {
    let webhook = try ClosingWebhook()
    defer { webhook.stop() }
    try await SoraServer.serving {
      $0.access.authWebhook = .init(url: "http://127.0.0.1:\(webhook.port)/hook")
    } _: { server in
      for _ in 0..<3 {
        let peer = try await SignalingPeer(server.url)
        peer.connect()
        #expect(try await peer.offer()["connection_id"] != nil)
      }
    }
    // The second and the third were asked about twice: what had no answer, and again.
    #expect(webhook.requests == 5)
  }

  /// Where no connection gives an answer it is asked twice, and not for ever.
  @Test func aWebhookThatNeverAnswersIsAskedTwice() async throws {
    let webhook = try ClosingWebhook(answers: 0)
    defer { webhook.stop() }
    try await SoraServer.serving {
      $0.access.authWebhook = .init(url: "http://127.0.0.1:\(webhook.port)/hook")
    } _: { server in
      let peer = try await SignalingPeer(server.url)
      peer.connect()
      #expect(try await peer.close()?.reason.hasPrefix("AUTH-WEBHOOK-ERROR") == true)
    }
    #expect(webhook.requests == 2)
  }
}

/// Lets everybody in, over each connection so often; the next request on it is read, and answered with its end.
private final class ClosingWebhook: Sendable {
  private struct State {
    var connection: Int32 = -1
    var requests = 0
    var isStopped = false
  }

  let port: UInt16
  private let listener: Int32
  private let answers: Int
  private let state = Mutex(State())

  init(answers: Int = 1) throws {
    self.answers = answers
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let (descriptor, length) = (listener, size)
    let isBound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && listen(descriptor, 8) == 0
          && getsockname(descriptor, $0, &size) == 0
      }
    }
    guard isBound else { throw POSIXError(.EADDRNOTAVAIL) }
    port = UInt16(bigEndian: address.sin_port)
    Thread { [self] in serve() }.start()
  }

  var requests: Int { state.withLock { $0.requests } }

  func stop() {
    state.withLock {
      $0.isStopped = true
      if $0.connection >= 0 { shutdown($0.connection, Int32(SHUT_RDWR)) }
      shutdown(listener, Int32(SHUT_RDWR))
    }
  }

  private func serve() {
    while true {
      let connection = accept(listener, nil, nil)
      let isStopped = state.withLock {
        $0.connection = connection
        return $0.isStopped
      }
      guard connection >= 0, !isStopped else { break }
      for _ in 0..<answers where takeRequest(connection) {
        let reply =
          "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 16\r\n\r\n"
          + #"{"allowed":true}"#
        _ = send(connection, reply, reply.utf8.count, Int32(MSG_NOSIGNAL))
      }
      _ = takeRequest(connection)
      state.withLock { $0.connection = -1 }
      close(connection)
    }
    close(listener)
  }

  /// Reads a request with its body; false at the end.
  private func takeRequest(_ connection: Int32) -> Bool {
    var text = ""
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(connection, &buffer, buffer.count, 0)
      guard count > 0 else { return false }
      text += String(decoding: buffer[..<count], as: UTF8.self)
      guard let end = text.range(of: "\r\n\r\n"),
        let field = text.range(of: "content-length: ", options: .caseInsensitive),
        let length = Int(text[field.upperBound...].prefix { $0.isNumber }),
        text[end.upperBound...].utf8.count >= length
      else { continue }
      state.withLock { $0.requests += 1 }
      return true
    }
  }
}
