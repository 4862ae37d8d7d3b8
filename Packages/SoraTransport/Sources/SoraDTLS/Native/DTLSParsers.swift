import SoraWire

/// The parsers behind the endpoint, for fuzzing: most of them see only what a peer with the right keys sends.
@_spi(Fuzzing) public enum DTLSParsers {
  /// Parses a body as every handshake message, and compares what is written from that with what that parses to.
  ///
  /// - Returns: the name of a message that differs, or `nil`.
  public static func firstDifference(_ body: [UInt8]) -> String? {
    func differs(_ rewrite: ([UInt8]) throws -> [UInt8]) -> Bool {
      guard let once = try? rewrite(body) else { return false }
      return (try? rewrite(once)) != once
    }
    for version in DTLSVersion.allCases {
      if differs({ try CertificateMessage(parsing: $0, version).encoded(version) }) {
        return "Certificate \(version)"
      }
      if differs({ try CertificateRequest(parsing: $0, version).encoded(version) }) {
        return "CertificateRequest \(version)"
      }
    }
    if differs({ try ClientHello(parsing: $0).encoded }) { return "ClientHello" }
    if differs({ try ServerHello(parsing: $0).encoded }) { return "ServerHello" }
    if differs({ try HelloVerifyRequest(parsing: $0).encoded }) { return "HelloVerifyRequest" }
    if differs({ try EncryptedExtensions(parsing: $0).encoded }) { return "EncryptedExtensions" }
    if differs({ try CertificateVerify(parsing: $0).encoded }) { return "CertificateVerify" }
    if differs({ try ServerKeyExchange(parsing: $0).encoded }) { return "ServerKeyExchange" }
    if differs({ try ClientKeyExchange(parsing: $0).encoded }) { return "ClientKeyExchange" }
    if differs({ try KeyUpdate(parsing: $0).encoded }) { return "KeyUpdate" }
    if differs({ try AckMessage(parsing: $0).encoded }) { return "ACK" }
    _ = try? PeerCertificate(der: body)
    return nil
  }

  /// Reads fragments one behind the other, puts messages together, and returns those that came out whole.
  public static func reassemble(_ bytes: [UInt8]) -> [[UInt8]] {
    var reader = WireReader(bytes)
    var reassembly = Reassembly()
    var messages: [[UInt8]] = []
    while let fragment = try? HandshakeFragment(&reader) {
      _ = reassembly.insert(fragment, epoch: UInt64(fragment.type & 1))
      while let next = reassembly.take() { messages.append(next.message.body) }
    }
    return messages
  }

  /// Reads a datagram's records as an association of each version does, with keys of its own for every epoch.
  ///
  /// - Returns: how many were accepted.
  public static func openRecords(_ datagram: RawSpan) -> Int {
    var accepted = 0
    for suite in [DTLSCipherSuite.chacha20Poly1305, .ecdheECDSAWithAES128GCM] {
      var records = RecordLayer()
      records.version = suite.version
      for epoch in 1...3 as ClosedRange<UInt64> {
        guard let keys = try? makeKeys(suite) else { continue }
        records.startReading(epoch: epoch, keys)
      }
      var offset = 0
      reading: while offset < datagram.byteCount {
        switch records.open(datagram, at: &offset) {
        case .record: accepted += 1
        case .locked, .dropped: break
        case .malformed: break reading
        }
      }
    }
    return accepted
  }

  /// A datagram of such records, to start from.
  public static func seedRecords() -> [UInt8] {
    var datagram: [UInt8] = []
    for suite in [DTLSCipherSuite.chacha20Poly1305, .ecdheECDSAWithAES128GCM] {
      var records = RecordLayer()
      records.version = suite.version
      for epoch in 1...3 as ClosedRange<UInt64> {
        guard let keys = try? makeKeys(suite, encrypting: true) else { continue }
        records.startWriting(epoch: epoch, keys)
        let content: [UInt8] = [1, 2, 3]
        _ = try? records.seal(
          ContentType.applicationData, epoch: epoch, content.rawSpan, into: &datagram)
      }
    }
    return datagram
  }

  private static func makeKeys(
    _ suite: DTLSCipherSuite, encrypting: Bool = false
  ) throws(HandshakeFailure) -> RecordProtection {
    suite.version == .v13
      ? try RecordProtection(
        suite, trafficSecret: Secret(zeros: suite.hash.length), encrypting: encrypting)
      : try RecordProtection(
        suite, key: Secret(zeros: suite.cipher.keyLength), iv: Secret(zeros: 4),
        encrypting: encrypting)
  }
}
