import Foundation
import SoraSignalingMessages

/// Sends bytes to a port and reads what comes until the other end closes: HTTP as it is on the wire.
struct APIClient: Sendable {
  struct Answer: Sendable {
    var status: Int
    var head: String
    var body: String
    var json: JSONValue? { try? JSONValue(parsing: body) }
    var errorType: String? { json?["error_type"]?.stringValue }
    var errorReason: String { json?["error_reason"]?.stringValue ?? "" }
  }

  let port: UInt16

  /// - Parameter url: `http://127.0.0.1:PORT/`.
  init(_ url: String?) {
    port = url.flatMap { URL(string: $0)?.port }.map(UInt16.init(clamping:)) ?? 0
  }

  func post(_ target: String?, _ body: String) async throws -> Answer {
    let header = target.map { "x-sora-target: \($0)\r\n" } ?? ""
    return try await send(
      "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\(header)"
        + "Content-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n\(body)")
  }

  func send(_ request: String) async throws -> Answer {
    let text = try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { [port] in
        continuation.resume(with: Result { try Self.exchange(request, port: port) })
      }
    }
    let parts = text.components(separatedBy: "\r\n\r\n")
    let status = text.split(separator: " ").dropFirst().first.flatMap { Int($0) }
    return Answer(
      status: status ?? 0, head: parts[0].lowercased(),
      body: parts.dropFirst().joined(separator: "\r\n\r\n"))
  }

  private static func exchange(_ request: String, port: UInt16) throws -> String {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw POSIXError(.EMFILE) }
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let connected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard connected == 0 else { throw POSIXError(.ECONNREFUSED) }
    let bytes = Array(request.utf8)
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        Foundation.send(
          descriptor, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      // A server that has heard enough answers and closes.
      guard count > 0 else { break }
      sent += count
    }
    var received: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else { break }
      received += buffer[..<count]
    }
    return String(decoding: received, as: UTF8.self)
  }
}
