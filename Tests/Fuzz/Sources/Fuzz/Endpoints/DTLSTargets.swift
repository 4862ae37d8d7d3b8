@_spi(Fuzzing) import SoraDTLS
import SoraMedia
import SoraNetworkSimulator

extension FuzzTarget {
  static var dtlsServer: FuzzTarget { dtls("dtls-server", role: .server) { _ in libssl } }
  static var dtlsClient: FuzzTarget { dtls("dtls-client", role: .client) { _ in libssl } }
  static var dtlsNativeServer: FuzzTarget { dtls("dtls-native-server", role: .server, native) }
  static var dtlsNativeClient: FuzzTarget { dtls("dtls-native-client", role: .client, native) }

  private static let libssl = try? OpenSSLDTLSFactory()

  /// This project's own: the bits choose the versions, the size of datagrams, and whether a cookie is asked for.
  private static func native(_ bits: UInt8) -> (any DTLSEndpointFactory)? {
    var factory = NativeDTLSFactory()
    switch bits & 3 {
    case 0: factory.settings.versions = [.v12]
    case 1: factory.settings.versions = [.v13]
    default: break
    }
    if bits & 4 != 0 { factory.settings.mtu = 300 }
    factory.settings.requiresCookie = bits & 8 != 0
    if bits & 16 != 0 { factory.settings.groups = [.p256, .x25519] }
    return factory
  }

  static var dtlsMessages: FuzzTarget {
    FuzzTarget("dtls-messages", maximumLength: 600, seeds: messageSeeds()) { bytes in
      let bytes = Array(bytes)
      let difference = DTLSParsers.firstDifference(bytes)
      check(difference == nil, "\(difference ?? "") changes when it is written and read")
      for message in DTLSParsers.reassemble(bytes) {
        _ = DTLSParsers.firstDifference(message)
      }
    }
  }

  static var dtlsRecords: FuzzTarget {
    FuzzTarget("dtls-records", maximumLength: 400, seeds: [DTLSParsers.seedRecords()]) { bytes in
      _ = DTLSParsers.openRecords(bytes)
    }
  }

  /// The messages of a handshake's first datagrams, without their records.
  private static func messageSeeds() -> [[UInt8]] {
    var seeds: [[UInt8]] = []
    for bits in [0, 1, 3, 9] as [UInt8] {
      guard let parts = Parts(),
        let client = parts.endpoint(.client, native(bits)),
        let server = parts.endpoint(.server, native(bits))
      else { return [] }
      client.start(at: .zero)
      for _ in 0..<3 {
        while let datagram = client.nextTransmit() {
          if datagram.count > 25, datagram[0] == 22 {
            seeds.append(Array(datagram[13...]))
            seeds.append(Array(datagram[25...]))
          }
          datagram.withUnsafeBytes { server.receive($0, at: .zero) }
        }
        while let datagram = server.nextTransmit() {
          if datagram.count > 25, datagram[0] == 22 { seeds.append(Array(datagram[25...])) }
          datagram.withUnsafeBytes { client.receive($0, at: .zero) }
        }
      }
    }
    return seeds
  }

  /// Made once: contexts and keys are slow to make.
  private struct Parts {
    let certificate: DTLSCertificate
    let other: DTLSCertificate

    init?() {
      guard let certificate = try? SimulationCertificate.make(1),
        let other = try? SimulationCertificate.make(2)
      else { return nil }
      self.certificate = certificate
      self.other = other
    }

    func endpoint(
      _ role: DTLSRole, _ factory: (any DTLSEndpointFactory)?
    ) -> (any DTLSEndpoint)? {
      try? factory?.makeEndpoint(
        role: role, certificate: role == .client ? certificate : other,
        expectedFingerprint: nil, random: RandomSource(seed: role == .client ? 1 : 2))
    }
  }

  /// An endpoint whose real peer's datagrams come damaged, twice, late or not at all, between others that
  /// the input makes up.
  private static func dtls(
    _ name: String, role: DTLSRole,
    _ factory: @escaping (UInt8) -> (any DTLSEndpointFactory)?
  ) -> FuzzTarget {
    func seeds() -> [[UInt8]] {
      var honest = ScriptWriter()
      honest.byte(3)
      for _ in 0..<8 { honest.byte(0) }
      var raw = ScriptWriter()
      raw.byte(0)
      // A hello of one byte, an alert, and application data, each in a record of DTLS 1.2.
      for (type, body) in [
        (22, [1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 9]), (21, [2, 40]), (23, [1]),
      ] {
        raw.byte(4)
        raw.chunk(
          [UInt8(type), 0xFE, 0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(body.count)]
            + body.map { UInt8($0) })
        raw.raw([0, 1, 6, 9])
      }
      var damaged = ScriptWriter()
      damaged.byte(5)
      damaged.raw([0, 1, 0, 60, 0xFF, 0, 2, 0, 3, 7, 5, 0, 0])
      return [honest.bytes, raw.bytes, damaged.bytes]
    }
    let parts = Parts()
    return FuzzTarget(name, maximumLength: 1024, seeds: seeds()) { bytes in
      var input = FuzzInput(bytes)
      let made = factory(input.byte())
      guard let parts, let subject = parts.endpoint(role, made),
        let peer = parts.endpoint(role == .client ? .server : .client, made)
      else { return check(false, "no endpoint") }
      var now = Instant.zero
      subject.start(at: now)
      peer.start(at: now)
      var last: [UInt8] = []
      func toPeer() {
        while let datagram = subject.nextTransmit() {
          lendExactly(datagram) { peer.receive(UnsafeRawBufferPointer($0), at: now) }
        }
        while subject.nextEvent() != nil {}
        while peer.nextEvent() != nil {}
      }
      for _ in 0..<40 where !input.isAtEnd {
        toPeer()
        switch input.byte() % 8 {
        case 0:
          guard let datagram = peer.nextTransmit() else { break }
          last = datagram
          lendExactly(datagram) { subject.receive(UnsafeRawBufferPointer($0), at: now) }
        case 1:
          guard var datagram = peer.nextTransmit(), !datagram.isEmpty else { break }
          last = datagram
          let position = Int(input.number16()) % datagram.count
          datagram[position] ^= input.byte()
          if input.byte() & 1 != 0 { datagram.removeLast(min(datagram.count, 5)) }
          lendExactly(datagram) { subject.receive(UnsafeRawBufferPointer($0), at: now) }
        case 2: _ = peer.nextTransmit()
        case 3: lendExactly(last) { subject.receive(UnsafeRawBufferPointer($0), at: now) }
        case 4:
          lendExactly(input.chunk()) { subject.receive(UnsafeRawBufferPointer($0), at: now) }
        case 5:
          now += input.step()
          subject.poll(at: now)
          peer.poll(at: now)
        case 6:
          let message = input.shortChunk()
          message.withUnsafeBytes { try? subject.send($0, at: now) }
          message.withUnsafeBytes { try? peer.send($0, at: now) }
        default:
          if input.byte() & 1 != 0 { subject.close(at: now) } else { peer.close(at: now) }
        }
        _ = subject.nextDeadline
      }
      toPeer()
    }
  }
}
