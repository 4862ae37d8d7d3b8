import SoraDTLS
import SoraMedia
import SoraWire
import Testing

/// Published values of the primitives and of TLS 1.3's key schedule.
@Suite struct KeyScheduleVectorTests {
  private func secret(_ hex: String) -> Secret {
    var bytes = bytes(hex)
    return Secret(taking: &bytes)
  }

  private func bytes(_ hex: String) -> [UInt8] {
    var digits = Array(hex.utf8)[...].compactMap { UInt8(String(UnicodeScalar($0)), radix: 16) }[
      ...]
    var result: [UInt8] = []
    while let high = digits.popFirst(), let low = digits.popFirst() {
      result.append(high << 4 | low)
    }
    return result
  }

  private func array(_ secret: Secret) -> [UInt8] { secret.array(0..<secret.count) }

  /// RFC 8448 §3, with TLS's labels.
  @Test func theSimpleHandshakeOfRFC8448() throws {
    var schedule = KeySchedule(.sha256, prefix: "tls13 ")
    #expect(
      array(schedule.current)
        == bytes("33ad0a1c607ec03b09e6cd9893680ce210adf300aa1f2660e1b22e10f170f92a"))
    #expect(
      array(try schedule.derive("derived", try DTLSHash.sha256([])))
        == bytes("6f2615a108c702c5678f54fc9dbab69716c076189c48250cebeac3576c3611ba"))
    try schedule.advance(
      with: secret("8bd4054fb55b9d63fdfbacf9f04b9f0d35e6d63f537563efd46272900f89492d"))
    #expect(
      array(schedule.current)
        == bytes("1dc826e93606aa6fdc0aadc12f741b01046aa6b99f691ed221a9f0ca043fbeac"))
    let hellos = bytes("860c06edc07858ee8e78f0e7428c58edd6b43f2ca3e6e95f02ed063cf0e1cad8")
    let client = try schedule.derive("c hs traffic", hellos)
    let server = try schedule.derive("s hs traffic", hellos)
    #expect(
      array(client) == bytes("b3eddb126e067f35a780b3abf45e2d8f3b1a950738f52e9600746a0e27a55a21"))
    #expect(
      array(server) == bytes("b67b7d690cc16c4e75e54213cb2d37b4e9c912bcded9105d42befd59d391ad38"))
    func expand(_ secret: Secret, _ label: String, _ count: Int) throws -> [UInt8] {
      array(
        try KeyDerivation.expandLabel(
          .sha256, secret: secret, label: label, count: count, prefix: "tls13 "))
    }
    #expect(try expand(server, "key", 16) == bytes("3fce516009c21727d0f2e4e86ee403bc"))
    #expect(try expand(server, "iv", 12) == bytes("5d313eb2671276ee13000b30"))
    #expect(try expand(client, "key", 16) == bytes("dbfaa693d1762c5b666af5d950258d01"))
    #expect(try expand(client, "iv", 12) == bytes("5bd3c71b836e0b76bb73265f"))
    try schedule.advance()
    #expect(
      array(schedule.current)
        == bytes("18df06843d13a08bf2a449844c5f8a478001bc4d4c627984d5a41da8d0402919"))
    let finished = bytes("9608102a0f1ccc6db6250b7b7e417b1a000eaada3daae4777a7686c9ff83df13")
    #expect(
      array(try schedule.derive("c ap traffic", finished))
        == bytes("9e40646ce79a7f9dc05af8889bce6552875afa0b06df0087f792ebb7c17504a5"))
    #expect(
      array(try schedule.derive("s ap traffic", finished))
        == bytes("a11af9f05531f856ad47116b45a950328204b4f44bfb6b3a4b4f1f3fcb631643"))
    #expect(
      array(try schedule.derive("exp master", finished))
        == bytes("fe22f881176eda18eb8f44529e6792c50c9a3f89452f68d8ae311b4309d3cf50"))
    // The client's Finished.
    var key = try expand(client, "finished", 32)
    #expect(
      array(KeyDerivation.hmac(.sha256, key: Secret(taking: &key), finished))
        == bytes("a8ec436d677634ae525ac1fcebe11a039ec17694fac6e98527b642f2edd5ce61"))
  }

  /// RFC 5869 appendix A.1.
  @Test func hkdf() throws {
    let key = KeyDerivation.extract(
      .sha256, salt: secret("000102030405060708090a0b0c"),
      input: secret("0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b0b"))
    #expect(
      array(key) == bytes("077709362c2e32df0ddc3f0dc47bba6390b6c73bb50f9c3122ec844ad7c2b3e5"))
    #expect(
      array(
        try KeyDerivation.expand(
          .sha256, secret: key, info: bytes("f0f1f2f3f4f5f6f7f8f9"), count: 42))
        == bytes(
          "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"))
  }

  /// The values for the PRF with SHA-256 that the TLS working group's list has shared since 2009.
  @Test func prfOfTLS12() throws {
    let output = KeyDerivation.prf(
      .sha256, secret: secret("9bbe436ba940f017b17652849a71db35"), label: "test label",
      seed: bytes("a0ba9f936cda311827a6f796ffd5198c"), count: 100)
    #expect(
      array(output)
        == bytes(
          """
          e3f229ba727be17b8d122620557cd453c2aab21d07c3d495329b52d4e61edb5a6b301791e90d35c9c9a46b4e\
          14baf9af0fa022f7077def17abfd3797c0564bab4fbc91666e9def9b97fce34f796789baa48082d122ee42c5\
          a72e5a5110fff70187347b66
          """))
  }

  /// RFC 7748 §6.1: the private keys come from the random source, so its bytes decide.
  @Test func x25519() throws {
    func source(_ hex: String) -> RandomSource {
      var words = bytes(hex)[...]
      return RandomSource {
        var word: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 8) {
          word |= UInt64(words.popFirst() ?? 0) << shift
        }
        return word
      }
    }
    let bob = try KeyAgreement(
      .x25519, random: source("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb"))
    #expect(
      bob.publicKey == bytes("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"))
    let shared = try bob.agree(
      with: bytes("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a"))
    #expect(
      array(shared) == bytes("4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742"))
    // Good for one agreement.
    #expect(throws: HandshakeFailure.self) { try bob.agree(with: bob.publicKey) }
  }

  /// Shares that aren't points, and the zero that a point of small order gives.
  @Test func sharesThatAreNoneAreRefused() throws {
    let random = RandomSource(seed: 5)
    for wrong in [[], [UInt8](repeating: 0, count: 32), [UInt8](repeating: 7, count: 31)] {
      let share = try KeyAgreement(.x25519, random: random)
      #expect(throws: HandshakeFailure.self) { try share.agree(with: wrong) }
    }
    for wrong in [
      [], [UInt8](repeating: 0, count: 65), [4] + [UInt8](repeating: 1, count: 64),
      [2] + [UInt8](repeating: 1, count: 32),
    ] {
      let share = try KeyAgreement(.p256, random: random)
      #expect(throws: HandshakeFailure.self) { try share.agree(with: wrong) }
    }
    let one = try KeyAgreement(.p256, random: random)
    let other = try KeyAgreement(.p256, random: random)
    #expect(
      array(try one.agree(with: other.publicKey)) == array(try other.agree(with: one.publicKey)))
  }

  /// RFC 9001 A.2 and A.5: QUIC hides its packet numbers by the same masks.
  @Test func recordNumbersAreHidden() throws {
    let aes = try RecordNumberCipher(
      .aes128GCM, key: secret("9f50449e04a0e810283a1e9933adedd2"))
    let chacha = try RecordNumberCipher(
      .chacha20Poly1305,
      key: secret("25a282b9e82f06f21f488917a4fc8f1b73573685608597d0efcb076b0ab7a7a4"))
    let first = aes.mask(bytes("d1b1c98dd7689fb8ec11d242b123dc9b").rawSpan)
    let second = chacha.mask(bytes("5e5cd55c41f69080575d7999c25a5bfb").rawSpan)
    #expect(first.map { [$0.0, $0.1] } == [0x43, 0x7B])
    #expect(second.map { [$0.0, $0.1] } == [0xAE, 0xFE])
  }

  @Test func recordNumbersAreReconstructed() {
    let random = RandomSource(seed: 9)
    for _ in 0..<20_000 {
      let expected = random.next() >> (16 + random.next() % 48)
      for bits in [UInt64(8), 16] {
        let half = UInt64(1) << (bits - 1)
        // Everything that is less than half a window away is found again.
        let offset = random.next() % half
        let ahead = expected + offset
        #expect(
          RecordNumber.reconstruct(ahead & (half * 2 - 1), bits: bits, expected: expected) == ahead)
        if expected > offset {
          let behind = expected - offset
          #expect(
            RecordNumber.reconstruct(behind & (half * 2 - 1), bits: bits, expected: expected)
              == behind)
        }
      }
    }
  }

  @Test func replaysAreSeen() {
    var window = ReplayWindow()
    var taken: Set<UInt64> = []
    var highest: UInt64 = 0
    let random = RandomSource(seed: 4)
    for _ in 0..<20_000 {
      let number = highest / 2 + random.next() % (highest / 2 + 100)
      let isFresh = window.isFresh(number)
      if number + 64 > highest {
        #expect(isFresh == !taken.contains(number))
      } else {
        #expect(!isFresh)
      }
      guard isFresh else { continue }
      window.take(number)
      taken.insert(number)
      highest = max(highest, number)
      #expect(!window.isFresh(number))
      #expect(window.expected == highest + 1)
    }
  }
}
