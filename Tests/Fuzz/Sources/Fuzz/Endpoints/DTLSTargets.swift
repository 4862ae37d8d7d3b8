import SoraDTLS
import SoraMedia
import SoraNetworkSimulator

extension FuzzTarget {
  static var dtlsServer: FuzzTarget { dtls("dtls-server", role: .server) }
  static var dtlsClient: FuzzTarget { dtls("dtls-client", role: .client) }

  /// Made once: contexts and keys are slow to make.
  private struct Parts {
    let factory: OpenSSLDTLSFactory
    let certificate: DTLSCertificate
    let other: DTLSCertificate

    init?() {
      guard let factory = try? OpenSSLDTLSFactory(),
        let certificate = try? SimulationCertificate.make(1),
        let other = try? SimulationCertificate.make(2)
      else { return nil }
      self.factory = factory
      self.certificate = certificate
      self.other = other
    }

    func endpoint(_ role: DTLSRole) -> (any DTLSEndpoint)? {
      try? factory.makeEndpoint(
        role: role, certificate: role == .client ? certificate : other,
        expectedFingerprint: nil, random: RandomSource(seed: 1))
    }
  }

  /// An endpoint of libssl's, whose real peer's datagrams come damaged, twice, late or not at all, between others that
  /// the input makes up.
  private static func dtls(_ name: String, role: DTLSRole) -> FuzzTarget {
    func seeds() -> [[UInt8]] {
      var honest = ScriptWriter()
      for _ in 0..<8 { honest.byte(0) }
      var raw = ScriptWriter()
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
      damaged.raw([0, 1, 0, 60, 0xFF, 0, 2, 0, 3, 7, 5, 0, 0])
      return [honest.bytes, raw.bytes, damaged.bytes]
    }
    let parts = Parts()
    return FuzzTarget(name, maximumLength: 1024, seeds: seeds()) { bytes in
      var input = FuzzInput(bytes)
      guard let parts, let subject = parts.endpoint(role),
        let peer = parts.endpoint(role == .client ? .server : .client)
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
