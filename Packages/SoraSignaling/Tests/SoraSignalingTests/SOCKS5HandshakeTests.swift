import SoraSignaling
import Testing

/// The bytes of RFC 1928 and RFC 1929, literally.
@Suite struct SOCKS5HandshakeTests {
  private func handshake(
    _ host: SOCKS5Handshake.Destination.Host = .name("sora.example"), username: String? = nil,
    password: String? = nil
  ) throws -> SOCKS5Handshake {
    try SOCKS5Handshake(
      to: .init(host: host, port: 443), username: username, password: password)
  }

  private func error(_ body: () throws -> Void) -> SignalingError? {
    do {
      try body()
      return nil
    } catch { return error as? SignalingError }
  }

  @Test(
    arguments: [
      (.name("a.b"), [5, 1, 0, 3, 3, 0x61, 0x2E, 0x62, 0x01, 0xBB]),
      (.address([192, 0, 2, 1]), [5, 1, 0, 1, 192, 0, 2, 1, 0x01, 0xBB]),
      (
        .address([0x20, 1, 0xD, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
        [5, 1, 0, 4, 0x20, 1, 0xD, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0x01, 0xBB]
      ),
    ] as [(SOCKS5Handshake.Destination.Host, [UInt8])])
  func requests(host: SOCKS5Handshake.Destination.Host, bytes: [UInt8]) throws {
    var handshake = try handshake(host)
    #expect(handshake.greeting == [5, 1, 0])
    #expect(try handshake.receive([5, 0]) == .send(bytes))
  }

  /// Cut in every place; what the other end says at once is kept.
  @Test func userNameAndPasswordInPieces() throws {
    var handshake = try handshake(username: "me", password: "pw")
    #expect(handshake.greeting == [5, 2, 0, 2])
    #expect(try handshake.receive([5]) == .wait)
    #expect(try handshake.receive([2]) == .send([1, 2, 0x6D, 0x65, 2, 0x70, 0x77]))
    #expect(try handshake.receive([1]) == .wait)
    guard case .send = try handshake.receive([0]) else { throw SOCKS5Failure() }
    for byte: UInt8 in [5, 0, 0, 3, 2, 0x61, 0x62, 0] {
      #expect(try handshake.receive([byte]) == .wait)
    }
    #expect(try handshake.receive([80, 7, 8]) == .open(rest: [7, 8]))
  }

  @Test(arguments: [[1, 0, 0, 0, 0, 0, 0], [4] + Array(repeating: 0, count: 18)] as [[UInt8]])
  func boundAddressesOfEachType(end: [UInt8]) throws {
    var handshake = try handshake()
    _ = try handshake.receive([5, 0])
    #expect(try handshake.receive([5, 0, 0] + end) == .open(rest: []))
  }

  @Test(
    arguments: [
      ([4, 0], "version 4 in place of 5"), ([0x48], "version 72"), ([5, 1], "nobody offered"),
      ([5, 2], "nobody offered"), ([5, 0, 5], "more than it was asked"),
    ] as [([UInt8], String)])
  func anotherProtocol(bytes: [UInt8], detail: String) throws {
    var handshake = try handshake()
    let error = error { _ = try handshake.receive(bytes) }
    #expect(error?.stage == .proxy && error?.code == .invalidHandshake)
    #expect(error?.detail.contains(detail) == true, "\(error as Any)")
  }

  @Test func refusals() throws {
    for code in 1...9 as ClosedRange<UInt8> {
      var handshake = try handshake()
      _ = try handshake.receive([5, 0])
      let error = error { _ = try handshake.receive([5, code]) }
      #expect(error?.code == .proxyRefused(status: Int(code)))
    }
    var anonymous = try handshake()
    #expect(error { _ = try anonymous.receive([5, 0xFF]) }?.code == .proxyAuthenticationRequired)
    var named = try handshake(username: "me", password: "no")
    _ = try named.receive([5, 2])
    #expect(error { _ = try named.receive([1, 1]) }?.code == .proxyAuthenticationRequired)
    var badVersion = try handshake(username: "me")
    _ = try badVersion.receive([5, 2])
    #expect(error { _ = try badVersion.receive([5, 0]) }?.code == .invalidHandshake)
    var badAddress = try handshake()
    _ = try badAddress.receive([5, 0])
    #expect(error { _ = try badAddress.receive([5, 0, 0, 9, 0]) }?.code == .invalidHandshake)
  }

  @Test func whatTheProtocolCannotExpress() {
    let long = String(repeating: "x", count: 256)
    #expect(error { _ = try handshake(.name(long)) }?.field == "url.host")
    #expect(error { _ = try handshake(.address([1])) }?.field == "url.host")
    #expect(error { _ = try handshake(username: "") }?.field == "proxy.username")
    #expect(error { _ = try handshake(username: long) }?.field == "proxy.username")
    #expect(error { _ = try handshake(username: "a", password: long) }?.field == "proxy.password")
  }
}

private struct SOCKS5Failure: Error {}
