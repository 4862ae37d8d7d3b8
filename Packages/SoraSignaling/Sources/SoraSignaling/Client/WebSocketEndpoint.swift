import Foundation
import NIOCore

/// A `ws:` or `wss:` URL (RFC 6455 §3), taken apart and checked.
struct WebSocketEndpoint: Sendable, Hashable {
  let text: String
  let isSecure: Bool
  /// Without brackets.
  let host: String
  let port: Int
  /// Path and query.
  let target: String

  init(_ text: String, stage: SignalingError.Stage = .configuration) throws(SignalingError) {
    func invalid(_ detail: String) -> SignalingError {
      SignalingError(
        stage: stage, code: .invalidURL, field: "url", value: text, detail: detail,
        wayOut: "give a URL of the form wss://host/signaling")
    }
    // The host ends up in a header; control characters would add lines of their own.
    guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }), text.utf8.count <= 4096,
      let parts = URLComponents(string: text)
    else { throw invalid("the text is not a URL") }
    switch parts.scheme?.lowercased() {
    case "ws": isSecure = false
    case "wss": isSecure = true
    default: throw invalid("the URL's scheme is neither ws nor wss")
    }
    guard var host = parts.host, !host.isEmpty else { throw invalid("the URL has no host") }
    if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
    let port = parts.port ?? (isSecure ? 443 : 80)
    guard (1...65535).contains(port) else { throw invalid("the port is not within 1...65535") }
    self.text = text
    self.host = host
    self.port = port
    let path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
    target = path + (parts.percentEncodedQuery.map { "?\($0)" } ?? "")
  }

  /// Host and port as headers write them.
  var authority: String { Self.bracketed(host) + ":\(port)" }

  /// The `Host` header: the port only where it isn't the scheme's own (RFC 6455 §4.1).
  var hostHeader: String {
    port == (isSecure ? 443 : 80) ? Self.bracketed(host) : authority
  }

  /// What TLS names in SNI; nil for an address: SNI is for names (RFC 6066 §3), and the peer's address is what the certificate is
  /// then checked against.
  var serverName: String? {
    (try? SocketAddress(ipAddress: host, port: 0)) == nil ? host : nil
  }

  private static func bracketed(_ host: String) -> String {
    host.contains(":") ? "[\(host)]" : host
  }
}
