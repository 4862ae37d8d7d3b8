/// What a client says to a SOCKS 5 proxy and reads from it (RFC 1928, with RFC 1929's user names), sans-I/O. Names are the proxy's to resolve.
package struct SOCKS5Handshake: Sendable {
  /// What is to be done after bytes have come.
  package enum Step: Sendable, Hashable {
    /// More bytes have to come.
    case wait
    case send([UInt8])
    /// The way is open; these bytes came through it already.
    case open(rest: [UInt8])
  }

  private enum State {
    case method, authentication, reply, done
  }

  private let request: [UInt8]
  private let credentials: [UInt8]?
  private var state = State.method
  private var received: [UInt8] = []

  /// - Parameters:
  ///   - destination: where the proxy shall connect to.
  ///   - username: 1 to 255 bytes; nil for a proxy that asks for none.
  ///   - password: at most 255 bytes.
  /// - Throws: `invalidConfiguration` where a text has a length that the protocol can't express.
  package init(
    to destination: Destination, username: String? = nil, password: String? = nil
  ) throws(SignalingError) {
    request = try [5, 1, 0] + destination.bytes()
    guard let username else {
      credentials = nil
      return
    }
    let (name, secret) = (Array(username.utf8), Array((password ?? "").utf8))
    guard (1...255).contains(name.count) else {
      throw Self.unusable("proxy.username", "the user name has \(name.count) bytes")
    }
    guard secret.count <= 255 else {
      throw Self.unusable("proxy.password", "the password has \(secret.count) bytes")
    }
    credentials = [1, UInt8(name.count)] + name + [UInt8(secret.count)] + secret
  }

  /// The first message, RFC 1928 §3: no authentication, and a user name where there is one.
  package var greeting: [UInt8] { credentials == nil ? [5, 1, 0] : [5, 2, 0, 2] }

  /// Takes what came, in pieces of any size.
  ///
  /// - Throws: at stage `proxy`, why there will be no way: `invalidHandshake` where it speaks something else.
  package mutating func receive(_ bytes: some Sequence<UInt8>) throws(SignalingError) -> Step {
    received.append(contentsOf: bytes)
    switch state {
    case .method:
      guard let answer = try pair(version: 5) else { return .wait }
      switch answer {
      case 0:
        state = .reply
        return .send(request)
      case 2:
        guard let credentials else { throw Self.malformed("it chose a method nobody offered") }
        state = .authentication
        return .send(credentials)
      case 0xFF:
        throw Self.unauthorized(
          credentials == nil
            ? "the proxy asks for a user name" : "the proxy takes no user name and password")
      default: throw Self.malformed("it chose a method nobody offered")
      }
    case .authentication:
      // RFC 1929 §2
      guard let status = try pair(version: 1) else { return .wait }
      guard status == 0 else {
        throw Self.unauthorized("the proxy refuses the user name or password")
      }
      state = .reply
      return .send(request)
    case .reply: return try reply()
    case .done: throw Self.malformed("bytes came for a handshake that is over")
    }
  }

  /// The second of two bytes; nothing may come behind them before we have spoken.
  private mutating func pair(version: UInt8) throws(SignalingError) -> UInt8? {
    if let first = received.first { try check(first, version) }
    guard received.count >= 2 else { return nil }
    guard received.count == 2 else { throw Self.malformed("it says more than it was asked") }
    defer { received = [] }
    return received[1]
  }

  /// RFC 1928 §6
  private mutating func reply() throws(SignalingError) -> Step {
    if let first = received.first { try check(first, 5) }
    guard received.count >= 2 else { return .wait }
    guard received[1] == 0 else { throw Self.refused(received[1]) }
    guard received.count >= 5 else { return .wait }
    let address: Int
    switch received[3] {
    case 1: address = 4
    case 3: address = 1 + Int(received[4])
    case 4: address = 16
    case let type: throw Self.malformed("its reply has an address of type \(type)")
    }
    let size = 4 + address + 2
    guard received.count >= size else { return .wait }
    state = .done
    defer { received = [] }
    return .open(rest: Array(received[size...]))
  }

  private func check(_ found: UInt8, _ version: UInt8) throws(SignalingError) {
    guard found != version else { return }
    throw Self.malformed("it answered with version \(found) in place of \(version)")
  }

  private static func malformed(_ detail: String) -> SignalingError {
    SignalingError(
      stage: .proxy, code: .invalidHandshake, field: "proxy",
      detail: "the proxy doesn't speak SOCKS 5: \(detail)",
      wayOut: "check that host and port are those of a SOCKS 5 proxy")
  }

  private static func unauthorized(_ detail: String) -> SignalingError {
    SignalingError(
      stage: .proxy, code: .proxyAuthenticationRequired, field: "proxy.username", detail: detail,
      wayOut: "set the user name and the password of the proxy")
  }

  private static func refused(_ code: UInt8) -> SignalingError {
    let reason =
      switch code {
      case 1: "it failed"
      case 2: "its rules don't allow it"
      case 3: "the network can't be reached"
      case 4: "the host can't be reached"
      case 5: "nothing listens there"
      case 6: "the host did not answer"
      case 7: "it doesn't know CONNECT"
      case 8: "it doesn't know this type of address"
      default: "code \(code)"
      }
    return SignalingError(
      stage: .proxy, code: .proxyRefused(status: Int(code)), field: "proxy",
      detail: "the proxy could not connect: \(reason)",
      wayOut: "check the URL, and what the proxy allows, or connect without it")
  }

  private static func unusable(_ field: String, _ detail: String) -> SignalingError {
    SignalingError(
      stage: .configuration, code: .invalidConfiguration, field: field, detail: detail,
      wayOut: "use 1 to 255 bytes (RFC 1929)")
  }
}

extension SOCKS5Handshake {
  /// Where a proxy shall connect to.
  package struct Destination: Sendable, Hashable {
    package enum Host: Sendable, Hashable {
      case name(String)
      /// 4 bytes of IPv4, or 16 of IPv6.
      case address([UInt8])
    }

    package var host: Host
    package var port: UInt16

    package init(host: Host, port: UInt16) {
      self.host = host
      self.port = port
    }

    /// RFC 1928 §5
    fileprivate func bytes() throws(SignalingError) -> [UInt8] {
      let end = [UInt8(port >> 8), UInt8(truncatingIfNeeded: port)]
      switch host {
      case .address(let bytes) where bytes.count == 4: return [1] + bytes + end
      case .address(let bytes) where bytes.count == 16: return [4] + bytes + end
      case .name(let name) where (1...255).contains(name.utf8.count):
        return [3, UInt8(name.utf8.count)] + Array(name.utf8) + end
      case .address, .name:
        throw SignalingError(
          stage: .configuration, code: .invalidConfiguration, field: "url.host",
          detail: "the host's name has a length that SOCKS 5 can't express",
          wayOut: "use a name of 1 to 255 bytes")
      }
    }
  }
}
