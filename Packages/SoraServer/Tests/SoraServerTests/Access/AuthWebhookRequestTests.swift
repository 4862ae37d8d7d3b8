import Foundation
import SoraICE
import SoraServer
import SoraSignaling
import Testing

/// What an authentication webhook is asked, key by key as the client sent it.
@Suite(.timeLimit(.minutes(2))) struct AuthWebhookRequestTests {
  private func serving(
    _ body: (SoraServer, WebhookReceiver) async throws -> Void
  ) async throws {
    try await WebhookReceiver.serving({ _ in .json(["allowed": true]) }) { receiver in
      try await SoraServer.serving {
        $0.access.authWebhook = .init(url: receiver.url)
      } _: {
        try await body($0, receiver)
      }
    }
  }

  @Test func whatAClientAsksForIsPassedOnAsItIs() async throws {
    try await serving { server, receiver in
      let members = """
        "simulcast":true,"simulcast_rid":"r1","simulcast_request_rid":"r2","spotlight":true,\
        "spotlight_number":3,"spotlight_focus_rid":"r2","spotlight_unfocus_rid":"none",\
        "audio_streaming_language_code":"ja-JP","signaling_notify_metadata":{"n":[1,null,"é"]},\
        "forwarding_filter":{"action":"allow","version":"v","metadata":{"k":1},\
        "rules":[[{"field":"kind","operator":"is_in","values":["audio"]}]]},\
        "forwarding_filters":[{"name":"a","priority":1,\
        "rules":[[{"field":"client_id","operator":"is_not_in","values":["x","y"]}]]}],\
        "bundle_id":"b"
        """
      let peer = try await SignalingPeer(server.url)
      peer.connect(members)
      _ = try await peer.offer()
      let body = try #require(receiver.bodies.first)
      for (key, value) in try JSONValue(parsing: "{\(members)}").objectValue ?? [:] {
        #expect(body[key] == value, "\(key)")
      }
    }
  }

  @Test func whatAClientDoesNotSayIsLeftOut() async throws {
    try await serving { server, receiver in
      let peer = try await SignalingPeer(server.url)
      peer.connect()
      _ = try await peer.offer()
      let body = try #require(receiver.bodies.first)
      for key in [
        "simulcast_rid", "simulcast_request_rid", "spotlight_number", "spotlight_focus_rid",
        "spotlight_unfocus_rid", "audio_streaming_language_code", "signaling_notify_metadata",
        "forwarding_filter", "forwarding_filters", "x_forwarded_for", "metadata", "data_channels",
      ] {
        #expect(body[key] == nil, "\(key)")
      }
      #expect(body["simulcast"] == false && body["spotlight"] == false)
    }
  }

  /// A proxy before the server says where the client comes from, in the request of the WebSocket or of WHIP.
  @Test func whatAProxySaysIsPassedOn() async throws {
    try await serving { server, receiver in
      let header = "X-Forwarded-For: 203.0.113.7, 10.0.0.1\r\n"
      let socket = try RawSocket(port: server.port)
      try socket.send(
        Array(
          ("GET /signaling HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
            + header + "\r\n").utf8))
      let text = Array(#"{"type":"connect","role":"recvonly","channel_id":"x"}"#.utf8)
      // RFC 6455 §5.2: one text frame, masked with zeros.
      try socket.send([0x81, 0x80 | UInt8(text.count), 0, 0, 0, 0] + text)
      #expect(await waits { receiver.bodies.count == 1 })
      let offer = WHIPTests.offer
      let made = try await APIClient(server.httpURL).send(
        "POST /whip/room HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(header)"
          + "Content-Type: application/sdp\r\nContent-Length: \(offer.utf8.count)\r\n\r\n" + offer)
      #expect(made.status == 201)
      #expect(receiver.bodies.map { $0["channel_id"] } == ["x", "room"])
      for body in receiver.bodies {
        #expect(body["x_forwarded_for"] == "203.0.113.7, 10.0.0.1")
        #expect(body["remote_address"] == "127.0.0.1")
      }
    }
  }
}

/// Bytes to a port of this host, and nothing read.
private final class RawSocket {
  private let descriptor: Int32

  init(port: Int) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(clamping: port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let connected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard connected == 0 else { throw POSIXError(.ECONNREFUSED) }
  }

  deinit { close(descriptor) }

  /// Fewer bytes than the system's buffer takes at once.
  func send(_ bytes: [UInt8]) throws {
    guard Foundation.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    else { throw POSIXError(.EPIPE) }
  }
}
