import SoraICE
import SoraMedia
import Testing

/// The sample messages of RFC 5769.
enum Vectors {
  static let password = Array("VOkJxbRl1RmTxUk/WvJxBt".utf8)

  // §2.1.
  static let request = hex(
    """
    00010058 2112a442 b7e7a701bc34d686fa87dfae
    80220010 5354554e207465737420636c69656e74
    00240004 6e0001ff 80290008 932ff9b151263b36
    00060009 6576746a3a68367659202020
    00080014 9aeaa70cbfd8cb56781ef2b5b2d3f249c1b571a2
    80280004 e57a3bcf
    """)
  // §2.2.
  static let responseV4 = hex(
    """
    0101003c 2112a442 b7e7a701bc34d686fa87dfae
    8022000b 7465737420766563746f7220 00200008 0001a147e112a643
    00080014 2b91f599fd9e90c38c7489f92af9ba53f06be7d7
    80280004 c07d4c96
    """)
  // §2.3.
  static let responseV6 = hex(
    """
    01010048 2112a442 b7e7a701bc34d686fa87dfae
    8022000b 7465737420766563746f7220
    00200014 0002a1470113a9faa5d3f179bc25f4b5bed2b9d9
    00080014 a382954e4be67bf11784c97c8292c275bfe3ed41
    80280004 c8fb0b4c
    """)
  // §2.4, with long-term credentials.
  static let longTerm = hex(
    """
    00010060 2112a442 78ad3433c6ad72c029da412e
    00060012 e3839ee38388e383aae38383e382afe382b90000
    0015001c 662f2f3439396b39353464364f4c33346f4c394653547679363473 41
    0014000b 6578616d706c652e6f726700
    00080014 f67024656dd64a3e02b8e0712e85c9a28ca89666
    """)

  static func hex(_ text: String) -> [UInt8] {
    var bytes: [UInt8] = []
    var high: UInt8?
    for character in text {
      guard let digit = character.hexDigitValue.map(UInt8.init) else { continue }
      if let first = high {
        bytes.append(first << 4 | digit)
        high = nil
      } else {
        high = digit
      }
    }
    return bytes
  }
}

func parse(_ bytes: [UInt8]) throws(STUNError) -> STUNMessage {
  let result: Result<STUNMessage, STUNError> = bytes.withUnsafeBytes { pointer in
    do throws(STUNError) { return .success(try STUNMessage(parsing: pointer)) } catch {
      return .failure(error)
    }
  }
  return try result.get()
}

func isAuthentic(_ bytes: [UInt8], key: [UInt8]) throws -> Bool {
  let message = try parse(bytes)
  return bytes.withUnsafeBytes { message.isAuthentic($0, key: key) }
}

@Suite struct STUNVectorTests {
  @Test func sampleRequest() throws {
    let message = try parse(Vectors.request)
    #expect(message.messageClass == .request)
    #expect(message.method == STUNMessage.binding)
    #expect(
      message.attributes == [
        .software("STUN test client"), .priority(0x6E00_01FF),
        .iceControlled(0x932F_F9B1_5126_3B36), .username(Array("evtj:h6vY".utf8)),
      ])
    #expect(message.fingerprint == .valid)
    #expect(try isAuthentic(Vectors.request, key: Vectors.password))
    #expect(try !isAuthentic(Vectors.request, key: Array("another".utf8)))
  }

  @Test func sampleResponses() throws {
    let addresses = ["192.0.2.1:32853", "[2001:db8:1234:5678:11:2233:4455:6677]:32853"]
    for (bytes, address) in zip([Vectors.responseV4, Vectors.responseV6], addresses) {
      let message = try parse(bytes)
      #expect(message.messageClass == .success)
      #expect(message.mappedAddress == TransportAddress(address))
      #expect(message.fingerprint == .valid)
      #expect(try isAuthentic(bytes, key: Vectors.password))
    }
  }

  @Test func longTermRequest() throws {
    let message = try parse(Vectors.longTerm)
    #expect(message.username == Array("マトリックス".utf8))
    #expect(message.attributes.contains(.realm(Array("example.org".utf8))))
    #expect(message.attributes.contains(.nonce(Array("f//499k954d6OL34oL9FSTvy64sA".utf8))))
    #expect(message.fingerprint == .absent)
    // MD5("マトリックス:example.org:TheMatrIX"), RFC 8489 §9.2.2.
    let key = Vectors.hex("e8ca7ad59d5eb0518e312911d2dab2a9")
    #expect(try isAuthentic(Vectors.longTerm, key: key))
  }

  /// The writer pads with zeros where the RFC's samples have spaces, which MESSAGE-INTEGRITY covers; so whole messages are compared
  /// only where nothing is padded.
  @Test func encodingIsWhatParsingReads() throws {
    for bytes in [Vectors.request, Vectors.responseV4, Vectors.responseV6, Vectors.longTerm] {
      let message = try parse(bytes)
      let encoded = message.encoded(key: Vectors.password)
      let again = try parse(encoded)
      #expect(again.attributes == message.attributes)
      #expect(again.transactionID == message.transactionID)
      #expect(again.fingerprint == .valid)
      #expect(try isAuthentic(encoded, key: Vectors.password))
    }
    let message = try parse(Vectors.longTerm)
    #expect(
      message.encoded(key: Vectors.hex("e8ca7ad59d5eb0518e312911d2dab2a9"), fingerprint: false)
        == Vectors.longTerm)
  }

  @Test func everyAttributeSurvives() throws {
    let attributes: [STUNAttribute] = [
      .mappedAddress(TransportAddress("192.0.2.7:9")!),
      .xorMappedAddress(TransportAddress("[::1]:65535")!),
      .username([]), .priority(.max), .useCandidate, .iceControlling(.max),
      .errorCode(699, reason: "é"),
      .unknownAttributes([1, 0x7FFF, 3]), .software("x"), .realm([1]), .nonce([1, 2]),
      .other(type: 0xC057, value: [1, 2, 3, 4, 5]), .channelNumber(0x4001), .lifetime(777),
      .xorPeerAddress(TransportAddress("192.0.2.7:9")!),
      .xorRelayedAddress(TransportAddress("[2001:db8::1]:7")!), .data([1, 2, 3]),
      .requestedAddressFamily(.ipv6), .requestedTransport(17), .evenPort(reservesNext: true),
      .evenPort(reservesNext: false), .alternateServer(TransportAddress("[::1]:65535")!),
      .passwordAlgorithms([.sha256, .init(number: 9, parameters: [1, 2, 3]), .md5]),
      .passwordAlgorithm(.sha256), .userhash([UInt8](repeating: 7, count: 32)),
    ]
    let source = RandomSource(seed: 5)
    for messageClass in [STUNClass.request, .indication, .success, .error] {
      for method in [1, 3, 0x80, 0xFF] as [UInt16] {
        let message = STUNMessage(
          messageClass, method: method, transactionID: STUNTransactionID(random: source),
          attributes: attributes)
        let again = try parse(message.encoded(key: nil))
        #expect(again.messageClass == messageClass)
        #expect(again.method == method)
        #expect(again.attributes == attributes)
        #expect(!again.hasIntegrity)
      }
    }
  }

  @Test func whatIsNotSTUNIsRefused() throws {
    func check(_ error: STUNError, _ change: (inout [UInt8]) -> Void) {
      var bytes = Vectors.request
      change(&bytes)
      #expect(throws: error) { try parse(bytes) }
    }
    check(.notSTUN) { $0 = Array($0.prefix(19)) }
    check(.notSTUN) { $0[4] ^= 1 }
    check(.notSTUN) { $0[0] = 0x80 }
    check(.badLength) { $0.append(0) }
    check(.badLength) { $0[3] = 0x5C }
    check(.truncatedAttribute(type: 0x8022)) { $0[23] = 0x60 }
    check(.malformedAttribute(type: 0x24)) { $0[43] = 3 }
    var bytes = Vectors.request
    bytes[30] ^= 1
    #expect(try parse(bytes).fingerprint == .invalid)
    #expect(try !isAuthentic(bytes, key: Vectors.password))
  }

  @Test func theFirstByteAndTheCookieTellSTUNApart() {
    #expect(Vectors.request.withUnsafeBytes { isSTUN($0) })
    for other in [[], [0, 1], [UInt8](repeating: 22, count: 60), [UInt8](repeating: 0, count: 20)] {
      #expect(!other.withUnsafeBytes { isSTUN($0) })
    }
  }
}
