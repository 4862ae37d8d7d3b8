import COpenSSL
package import SoraMedia

/// The second hello that a server may ask for, once, with a cookie that shows that the client receives what is sent to it
/// (RFC 6347 §4.2.1, RFC 8446 §4.1.4).
package struct HelloRetry {
  /// Bytes of a cookie.
  private static let cookieLength = 32

  /// Whether it was asked for.
  package private(set) var isAsked = false
  /// What the client has to show, where the server made one.
  private var cookie: [UInt8]?

  package init() {}

  package mutating func ask() { isAsked = true }

  /// Makes a server's cookie.
  package mutating func makeCookie(_ random: RandomSource) -> [UInt8] {
    let cookie = random.bytes(Self.cookieLength)
    self.cookie = cookie
    return cookie
  }

  /// Whether a client has shown the cookie that was made for it.
  package func accepts(_ shown: [UInt8]?) -> Bool {
    guard let cookie, let shown, shown.count == cookie.count else { return false }
    return unsafe CRYPTO_memcmp(shown, cookie, cookie.count) == 0
  }
}
