import SoraDTLS
import SoraICE
import SoraMedia

extension FuzzTarget {
  static var stun: FuzzTarget {
    FuzzTarget("stun", seeds: stunSeeds()) { input in
      guard let message = try? STUNMessage(parsing: input) else { return }
      _ = (isSTUN(input), message.username, message.mappedAddress, message.priority)
      _ = (message.usesCandidate, message.errorCode, message.unknownRequiredAttributes)
      _ = message.isAuthentic(input, key: Array("VOkJxbRl1RmTxUk/WvJxBt".utf8))
      let again = message.encoded(key: [1, 2, 3])
      again.withUnsafeBytes { bytes in
        guard let copy = try? STUNMessage(parsing: bytes) else {
          // More attributes than a message may have, with those that encoding adds.
          return check(message.attributes.count > 60, "an encoded message doesn't parse")
        }
        check(copy.transactionID == message.transactionID, "the transaction changed")
        check(copy.fingerprint == .valid, "an encoded message's fingerprint is wrong")
        check(copy.isAuthentic(bytes, key: [1, 2, 3]), "an encoded message isn't authentic")
      }
    }
  }

  private static func stunSeeds() -> [[UInt8]] {
    let random = RandomSource(seed: 1)
    let v6 = TransportAddress(ip: IPAddress(v6: (0x2001_0DB8_0000_0000, 1)), port: 3478)
    let key = Array("VOkJxbRl1RmTxUk/WvJxBt".utf8)
    func message(_ messageClass: STUNClass, _ attributes: [STUNAttribute]) -> STUNMessage {
      STUNMessage(
        messageClass, transactionID: STUNTransactionID(random: random), attributes: attributes)
    }
    return [
      message(
        .request,
        [
          .username(Array("evtj:h6vY".utf8)), .priority(0x6E00_01FF), .iceControlling(42),
          .useCandidate, .software("seed"),
        ]
      ).encoded(key: key),
      message(.success, [.xorMappedAddress(FuzzAddresses.remote)]).encoded(key: key),
      message(.success, [.xorMappedAddress(v6), .mappedAddress(v6)]).encoded(key: nil),
      message(.error, [.errorCode(487, reason: "Role Conflict"), .unknownAttributes([1, 2, 3])])
        .encoded(key: key, fingerprint: false),
      message(
        .request,
        [
          .realm([1, 2, 3]), .nonce([4, 5]), .iceControlled(7), .other(type: 0x8022, value: [1]),
          .other(type: 0x0099, value: []),
        ]
      ).encoded(key: nil, fingerprint: false),
      message(.indication, []).encoded(key: nil),
    ]
  }

  static var candidate: FuzzTarget {
    let lines = [
      "candidate:1 1 udp 2130706431 192.0.2.1 5000 typ host generation 0 ufrag abcd",
      "a=candidate:2 1 UDP 1694498815 203.0.113.7 41000 typ srflx raddr 10.0.0.1 rport 5000",
      "candidate:3 1 tcp 1518280447 2001:db8::1 9 typ host tcptype active",
      "candidate:4 2 udp 41885439 198.51.100.1 3478 typ relay raddr 0.0.0.0 rport 0 network-id 1",
      "candidate:5 1 udp 1 0a1b2c3d-0000-4000-8000-123456789abc.local 1 typ prflx x y",
      "::ffff:192.0.2.1", "[2001:db8::1]:5000", "192.0.2.1:80", "fe80::1%eth0",
    ]
    return FuzzTarget("candidate", maximumLength: 512, seeds: lines.map(Seeds.text)) { input in
      let text = String(decoding: input, as: UTF8.self)
      if let candidate = try? ICECandidate(parsing: text) {
        let again = try? ICECandidate(parsing: candidate.description)
        check(again == candidate, "\(candidate) reads back as \(String(describing: again))")
      }
      if let ip = IPAddress(text) {
        check(IPAddress(ip.description) == ip, "\(ip) reads back as another address")
      }
      if let address = TransportAddress(text) {
        check(TransportAddress(address.description) == address, "\(address) reads back differently")
      }
      if let host = ICEHostAddress(text) { _ = host.description }
    }
  }

  static var fingerprint: FuzzTarget {
    let lines = [
      "sha-256 " + Array(repeating: "AB", count: 32).joined(separator: ":"),
      "sha-1 " + Array(repeating: "0f", count: 20).joined(separator: ":"),
      "SHA-512 " + Array(repeating: "7C", count: 64).joined(separator: ":"),
    ]
    return FuzzTarget("fingerprint", maximumLength: 512, seeds: lines.map(Seeds.text)) {
      input in
      let text = String(decoding: input, as: UTF8.self)
      guard let fingerprint = try? DTLSFingerprint(parsing: text) else { return }
      let again = try? DTLSFingerprint(parsing: fingerprint.description)
      check(again == fingerprint, "\(fingerprint) reads back differently")
    }
  }
}
