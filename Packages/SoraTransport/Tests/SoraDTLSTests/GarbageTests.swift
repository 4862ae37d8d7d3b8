import SoraDTLS
import SoraMedia
import Testing

@Suite struct GarbageTests {
  @Test func garbageNeitherTrapsNorDisturbs() throws {
    let pair = try makePair()
    let random = RandomSource(seed: 42)
    func disturb() {
      for _ in 0..<500 {
        var bytes = random.bytes(Int(random.next() % 1400))
        if !bytes.isEmpty, random.next() & 1 == 0 { bytes[0] = UInt8(20 + random.next() % 44) }
        bytes.withUnsafeBytes {
          pair.client.receive($0, at: pair.now)
          pair.server.receive($0, at: pair.now)
        }
      }
    }
    disturb()
    pair.start()
    disturb()
    pair.exchange()
    #expect(pair.isConnected)
    try pair.client.send([9], at: pair.now)
    pair.exchange()
    #expect(pair.serverEvents.last == .applicationData([9]))
  }

  /// A damaged handshake may fail, with a typed error, but never traps and never connects wrongly.
  @Test(arguments: 0..<8)
  func damagedHandshakesNeverTrap(seed: Int) throws {
    let random = RandomSource(seed: UInt64(seed))
    for _ in 0..<25 {
      let pair = try makePair()
      pair.server.start(at: pair.now)
      pair.client.start(at: pair.now)
      func damaged(_ datagram: [UInt8]) -> [UInt8] {
        var bytes = datagram
        switch random.next() % 4 {
        case 0:
          for _ in 0...(random.next() % 4) {
            bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(
              truncatingIfNeeded: random.next())
          }
        case 1: bytes.removeLast(Int(random.next() % UInt64(bytes.count)))
        case 2: bytes += random.bytes(Int(random.next() % 100))
        default: break
        }
        return bytes
      }
      for _ in 0..<6 {
        while let datagram = pair.client.nextTransmit() {
          damaged(datagram).withUnsafeBytes { pair.server.receive($0, at: pair.now) }
        }
        while let datagram = pair.server.nextTransmit() {
          damaged(datagram).withUnsafeBytes { pair.client.receive($0, at: pair.now) }
        }
      }
      pair.exchange()
      if let client = pair.clientSession, let server = pair.serverSession {
        #expect(client.localKeyingMaterial == server.remoteKeyingMaterial)
      }
    }
  }

  @Test func fingerprintTextsAreChecked() throws {
    let certificate = try DTLSCertificate.generate()
    let text = certificate.fingerprint.description
    #expect(try DTLSFingerprint(parsing: text) == certificate.fingerprint)
    #expect(try DTLSFingerprint(parsing: text.lowercased()) == certificate.fingerprint)
    #expect(
      try DTLSFingerprint(parsing: "SHA-256 \(text.dropFirst(8))\r\n") == certificate.fingerprint)
    for wrong in [
      "", "sha-256", "sha-256 ", "sha-256 AB", "\(text):00", "\(text.dropLast())",
      "\(text.dropLast(3))",
      text.replacing(":", with: "-"), "md5 00:11", "sha-256 \(text)", "sha-1 \(text.dropFirst(8))",
      "sha-256 " + String(repeating: "é", count: 95),
    ] {
      #expect(throws: DTLSError.self, "\(wrong)") { try DTLSFingerprint(parsing: wrong) }
    }
    let random = RandomSource(seed: 3)
    for _ in 0..<10_000 {
      var bytes = Array(text.utf8)
      for _ in 0...(random.next() % 3) {
        bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
      }
      _ = try? DTLSFingerprint(parsing: String(decoding: bytes, as: UTF8.self))
    }
  }
}
