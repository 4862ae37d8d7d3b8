import SoraDTLS
import SoraMedia
import Testing

/// What a peer, or somebody in between, can do wrong.
@Suite struct NativeAttackTests {
  @Test(arguments: [DTLSVersion.v12, .v13])
  func clientRefusesAWrongCertificate(version: DTLSVersion) throws {
    let other = try DTLSCertificate.generate()
    let link = try makeLink(
      client: factory(version), server: factory(version), clientExpects: other.fingerprint)
    link.connect()
    link.run(for: .seconds(1))
    guard case .fingerprintMismatch(let expected, _) = link.clientFailure else {
      Issue.record("expected a mismatch, got \(link.clientEvents)")
      return
    }
    #expect(expected == other.fingerprint)
    #expect(link.serverFailure == .alertReceived(.badCertificate))
    #expect(link.clientSession == nil)
    #expect(link.serverSession == nil)
  }

  @Test(arguments: [DTLSVersion.v12, .v13])
  func serverRefusesAWrongCertificate(version: DTLSVersion) throws {
    let other = try DTLSCertificate.generate()
    let link = try makeLink(
      client: factory(version), server: factory(version),
      serverExpects: other.fingerprint(algorithm: "sha-512"))
    link.connect()
    link.run(for: .seconds(1))
    guard case .fingerprintMismatch = link.serverFailure else {
      Issue.record("expected a mismatch, got \(link.serverEvents)")
      return
    }
    #expect(link.serverSession == nil)
    // In 1.3 a client is done before the server has seen its certificate.
    #expect(link.clientFailure == .alertReceived(.badCertificate))
    #expect((link.clientSession == nil) == (version == .v12))
  }

  /// A peer whose key isn't its certificate's can't sign: the certificate's key is swapped under way in the server's flight.
  @Test func aSignatureOfAnotherKeyIsRefused() throws {
    // In 1.2 certificates travel in clear, so somebody in between can put in another of the same length.
    let shown = try DTLSCertificate.generate()
    var imposter = try DTLSCertificate.generate()
    for _ in 0..<50 where imposter.derBytes.count != shown.derBytes.count {
      imposter = try DTLSCertificate.generate()
    }
    let original = shown.derBytes
    let replacement = imposter.derBytes
    let link = try makeLink(
      client: factory(.v12), server: factory(.v12), serverCertificate: shown,
      clientExpects: imposter.fingerprint)
    link.tamper = { datagram, fromClient in
      fromClient ? datagram : replacing(original, with: replacement, in: datagram)
    }
    link.connect()
    link.run(for: .seconds(1))
    guard case .alertSent(let alert, _) = link.clientFailure else {
      Issue.record("got \(link.clientEvents)")
      return
    }
    #expect(alert.description == "decrypt_error")
    #expect(link.clientSession == nil)
    #expect(link.serverSession == nil)
  }

  /// A certificate that nobody here can use, though its fingerprint is the one that was announced: a key of another kind, on another
  /// curve, or no certificate at all.
  @Test(
    arguments: [
      ([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01], "unsupported_certificate"),
      ([0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07], "unsupported_certificate"),
      ([], "bad_certificate"),
    ] as [([UInt8], String)], [true, false])
  func anUnknownKindOfCertificateIsRefused(kind: ([UInt8], String), ofClient: Bool) throws {
    let (identifier, alertName) = kind
    let shown = try DTLSCertificate.generate()
    let original = shown.derBytes
    // The last byte of the key's algorithm or curve (RFC 5480 §2.1.1), or all of it.
    let changed =
      identifier.isEmpty
      ? [UInt8](repeating: 0x5A, count: original.count)
      : replacing(identifier, with: identifier.dropLast() + [0x7F], in: original)
    #expect(changed != original)
    let link = try makeLink(
      client: factory(.v12), server: factory(.v12),
      clientCertificate: ofClient ? shown : nil, serverCertificate: ofClient ? nil : shown,
      clientExpects: ofClient ? nil : try DTLSFingerprint(of: changed),
      serverExpects: ofClient ? try DTLSFingerprint(of: changed) : nil)
    link.tamper = { datagram, fromClient in
      fromClient == ofClient ? replacing(original, with: changed, in: datagram) : datagram
    }
    link.connect()
    link.run(for: .seconds(2))
    guard case .alertSent(let alert, _) = ofClient ? link.serverFailure : link.clientFailure else {
      Issue.record("got \(link.clientEvents) \(link.serverEvents)")
      return
    }
    #expect(alert.description == alertName)
    #expect((ofClient ? link.serverSession : link.clientSession) == nil)
  }

  /// Somebody in between takes 1.3 out of the client's hello (RFC 8446 §4.1.3).
  @Test func aDowngradeIsNoticed() throws {
    let link = try makeLink()
    link.tamper = { datagram, fromClient in
      fromClient
        ? replacing(
          [0x00, 0x2B, 0x00, 0x05, 0x04, 0xFE, 0xFC, 0xFE, 0xFD],
          with: [0x00, 0x2B, 0x00, 0x05, 0x04, 0xFE, 0xFD, 0xFE, 0xFD], in: datagram) : datagram
    }
    link.connect()
    link.run(for: .seconds(1))
    guard case .alertSent(let alert, let reason) = link.clientFailure else {
      Issue.record("got \(link.clientEvents)")
      return
    }
    #expect(alert.description == "illegal_parameter")
    #expect(reason.contains("older version"))
    #expect(link.serverSession == nil)
  }

  /// Whatever is changed in a hello, the Finished or the signatures don't fit any more.
  @Test(arguments: [DTLSVersion.v12, .v13])
  func aChangedHelloNeverConnects(version: DTLSVersion) throws {
    let certificates = (try DTLSCertificate.generate(), try DTLSCertificate.generate())
    for position in stride(from: 25, to: 130, by: 3) {
      let link = try makeLink(
        client: factory(version), server: factory(version), clientCertificate: certificates.0,
        serverCertificate: certificates.1)
      var isFirst = true
      link.tamper = { datagram, fromClient in
        guard fromClient, isFirst else { return datagram }
        isFirst = false
        var changed = datagram
        if position < changed.count { changed[position] ^= 0x01 }
        return changed
      }
      // The first hello arrives changed, and what comes again is taken for its repetition.
      link.connect(for: .seconds(40))
      #expect(!link.isConnected, "byte \(position)")
    }
  }

  @Test(arguments: [DTLSVersion.v12, .v13])
  func replaysAndForgeriesAreDropped(version: DTLSVersion) throws {
    let link = try makeLink(client: factory(version), server: factory(version))
    var recorded: [[UInt8]] = []
    link.tamper = { datagram, fromClient in
      if fromClient { recorded.append(datagram) }
      return datagram
    }
    link.connect()
    link.run(for: .seconds(1))
    for value in 0..<100 as Range<UInt8> { try link.client.send([value], at: link.now) }
    link.run(for: .seconds(1))
    #expect(link.serverEvents.count == 101)
    for datagram in recorded {
      datagram.withUnsafeBytes { link.server.receive($0, at: link.now) }
      var forged = datagram
      forged[forged.count - 1] ^= 1
      forged.withUnsafeBytes { link.server.receive($0, at: link.now) }
    }
    link.run(for: .seconds(1))
    #expect(link.serverEvents.count == 101)
    #expect(link.server.nextDeadline == nil)
    #expect(link.server.statistics.dropped.total >= 200)
    try link.client.send([7], at: link.now)
    link.run(for: .seconds(1))
    #expect(link.serverEvents.last == .applicationData([7]))
  }

  /// A hello, an alert, an acknowledgement and a Finished in clear mean nothing to an association that stands.
  @Test(arguments: [DTLSVersion.v12, .v13])
  func whatAnybodyCanSendChangesNothing(version: DTLSVersion) throws {
    let link = try makeLink(client: factory(version), server: factory(version))
    link.connect()
    link.run(for: .seconds(1))
    let stranger = try NativeDTLSFactory().makeEndpoint(
      role: .client, certificate: try DTLSCertificate.generate(), expectedFingerprint: nil,
      random: RandomSource(seed: 77))
    stranger.start(at: link.now)
    var attacks: [[UInt8]] = []
    while let hello = stranger.nextTransmit() { attacks.append(hello) }
    func record(_ type: UInt8, _ body: [UInt8]) -> [UInt8] {
      [type, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 99, 0, UInt8(body.count)] + body
    }
    attacks.append(record(21, [2, 40]))
    attacks.append(record(21, [1, 0]))
    attacks.append(record(26, [0, 16] + [UInt8](repeating: 0, count: 16)))
    attacks.append(
      record(22, [20, 0, 0, 12, 0, 9, 0, 0, 0, 0, 0, 12] + [UInt8](repeating: 0, count: 12)))
    attacks.append(record(23, [1, 2, 3]))
    attacks.append(record(20, [1]))
    let before = link.datagramCount
    for attack in attacks {
      attack.withUnsafeBytes {
        link.server.receive($0, at: link.now)
        link.client.receive($0, at: link.now)
      }
    }
    link.run(for: .seconds(2))
    #expect(link.datagramCount == before)
    try link.client.send([1], at: link.now)
    try link.server.send([2], at: link.now)
    link.run(for: .seconds(1))
    #expect(link.serverEvents.last == .applicationData([1]))
    #expect(link.clientEvents.last == .applicationData([2]))
  }

  /// Another client's hello to a server that handshakes already is taken for a repetition, and answered so.
  @Test(arguments: [DTLSVersion.v12, .v13])
  func aSecondClientDoesNotDisturbTheFirst(version: DTLSVersion) throws {
    let link = try makeLink(client: factory(version), server: factory(version))
    link.start()
    link.run(for: .milliseconds(11))
    let stranger = try NativeDTLSFactory().makeEndpoint(
      role: .client, certificate: try DTLSCertificate.generate(), expectedFingerprint: nil,
      random: RandomSource(seed: 77))
    stranger.start(at: link.now)
    while let hello = stranger.nextTransmit() {
      for _ in 0..<50 { hello.withUnsafeBytes { link.server.receive($0, at: link.now) } }
    }
    link.run { $0.isConnected }
    #expect(link.isConnected)
    #expect(link.datagramCount < 20)
  }

  @Test(arguments: [DTLSVersion.v12, .v13])
  func garbageNeitherTrapsNorDisturbs(version: DTLSVersion) throws {
    let link = try makeLink(client: factory(version), server: factory(version))
    let random = RandomSource(seed: 42)
    func disturb() {
      for _ in 0..<500 {
        var bytes = random.bytes(Int(random.next() % 1400))
        if !bytes.isEmpty, random.next() & 1 == 0 { bytes[0] = UInt8(20 + random.next() % 44) }
        bytes.withUnsafeBytes {
          link.client.receive($0, at: link.now)
          link.server.receive($0, at: link.now)
        }
      }
    }
    disturb()
    link.start()
    disturb()
    link.run(for: .milliseconds(15))
    disturb()
    link.run { $0.isConnected }
    #expect(link.isConnected, "\(link.clientEvents) \(link.serverEvents)")
    disturb()
    try link.client.send([9], at: link.now)
    link.run(for: .seconds(1))
    #expect(link.serverEvents.last == .applicationData([9]))
  }

  /// A damaged handshake may fail, with a typed error, but never traps and never connects wrongly.
  @Test(arguments: [DTLSVersion.v12, .v13], 0..<4)
  func damagedHandshakesNeverTrap(version: DTLSVersion, seed: Int) throws {
    let random = RandomSource(seed: UInt64(seed))
    let certificates = (try DTLSCertificate.generate(), try DTLSCertificate.generate())
    for round in 0..<40 {
      let link = try makeLink(
        client: factory(version, mtu: round % 2 == 0 ? 1200 : 400), server: factory(.v12, .v13),
        clientCertificate: certificates.0, serverCertificate: certificates.1,
        conditions: VirtualLink.Conditions(jitter: .milliseconds(5), duplication: 0.2),
        seed: random.next())
      link.tamper = { datagram, _ in
        var bytes = datagram
        switch random.next() % 6 {
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
      link.connect(for: .seconds(40))
      if let client = link.clientSession, let server = link.serverSession {
        #expect(client.localKeyingMaterial == server.remoteKeyingMaterial)
      }
    }
  }

  @Test func datagramsAfterTheEndAreIgnored() throws {
    let link = try makeLink()
    link.connect()
    var recorded: [UInt8] = []
    try link.client.send([1], at: link.now)
    link.tamper = { datagram, _ in
      recorded = datagram
      return nil
    }
    link.collect()
    link.server.close(at: link.now)
    #expect(throws: DTLSError.notConnected) { try link.server.send([1], at: link.now) }
    recorded.withUnsafeBytes { link.server.receive($0, at: link.now) }
    link.collect()
    #expect(link.serverEvents.last == .closed)
    #expect(link.server.statistics.dropped.outOfTurn == 1)
    #expect(link.server.nextDeadline == nil)
  }

  /// Claims of huge messages, and floods of pieces, are bounded.
  @Test func impossibleLengthsCostNothing() throws {
    let server = try NativeDTLSFactory().makeEndpoint(
      role: .server, certificate: try DTLSCertificate.generate(), expectedFingerprint: nil,
      random: RandomSource(seed: 1))
    server.start(at: .zero)
    for sequence in 0..<20 as Range<UInt8> {
      for offset in 0..<200 as Range<UInt8> {
        let fragment: [UInt8] =
          [1, 0xFF, 0xFF, 0xFF, 0, sequence, 0, offset, 0, 0, 0, 1, 5]
          + [1, 0, 0x7F, 0xFF, 0, sequence, 0, offset, 0, 0, 0, 1, 5]
        let record: [UInt8] =
          [22, 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, sequence, offset, 0, UInt8(fragment.count)] + fragment
        record.withUnsafeBytes { server.receive($0, at: .zero) }
      }
    }
    #expect(server.nextEvent() == nil)
    #expect(server.nextTransmit() == nil)
  }
}

/// Replaces a sequence of bytes wherever it stands.
private func replacing(_ old: [UInt8], with new: [UInt8], in bytes: [UInt8]) -> [UInt8] {
  guard old.count == new.count, !old.isEmpty, bytes.count >= old.count else { return bytes }
  var result = bytes
  for start in 0...(bytes.count - old.count)
  where bytes[start..<(start + old.count)].elementsEqual(old) {
    result.replaceSubrange(start..<(start + old.count), with: new)
  }
  return result
}
