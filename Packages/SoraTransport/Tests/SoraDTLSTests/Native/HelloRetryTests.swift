import SoraDTLS
import SoraMedia
import Testing

/// The cookie of a second hello (RFC 6347 §4.2.1, RFC 8446 §4.1.4).
@Suite struct HelloRetryTests {
  @Test func onlyTheCookieThatWasMadeIsAccepted() {
    let random = RandomSource(seed: 1)
    var retry = HelloRetry()
    #expect(!retry.isAsked && !retry.accepts([]) && !retry.accepts(nil))
    retry.ask()
    let cookie = retry.makeCookie(random)
    #expect(retry.isAsked && cookie.count == 32 && retry.accepts(cookie))
    var other = cookie
    other[31] ^= 1
    #expect(!retry.accepts(other) && !retry.accepts(Array(cookie.dropLast())))
    #expect(!retry.accepts([]) && !retry.accepts(nil))
    let newer = retry.makeCookie(random)
    #expect(newer != cookie && !retry.accepts(cookie) && retry.accepts(newer))
  }
}
