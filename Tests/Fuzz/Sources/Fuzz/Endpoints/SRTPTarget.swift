import SoraMedia
import SoraSRTP

extension FuzzTarget {
  /// Both implementations get the same packets, and must say and give the same.
  static var srtp: FuzzTarget {
    func seeds() -> [[UInt8]] {
      let packet: [UInt8] = [0x80, 96, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8]
      return (0..<3).map { profile in
        var script = ScriptWriter()
        script.byte(UInt8(profile))
        // A sound packet, the same again, one that is damaged, one that was never protected.
        for operation: UInt8 in [0, 4, 1, 2] {
          script.byte(operation)
          script.raw([3, 0x55])
          script.chunk(packet)
        }
        for operation: UInt8 in [8, 9, 10] {
          script.byte(operation)
          script.raw([3, 0x55])
          script.chunk([0x80, 201, 0, 1, 0, 0, 0, 1] + packet)
        }
        return script.bytes
      }
    }
    return FuzzTarget("srtp", maximumLength: 1024, seeds: seeds()) { bytes in
      var input = FuzzInput(bytes)
      let profile = SRTPProfile.allCases[Int(input.byte()) % SRTPProfile.allCases.count]
      let random = RandomSource(seed: 9)
      let keys = (0..<2).map { _ in
        SRTPKeyingMaterial(
          key: random.bytes(profile.keyLength), salt: random.bytes(profile.saltLength))
      }
      func session(_ implementation: SRTPSession.Implementation, local: Int) -> SRTPSession? {
        try? SRTPSession(
          profile: profile, local: keys[local], remote: keys[1 - local],
          implementation: implementation, replayWindow: 64, maximumStreams: 4)
      }
      guard let sender = session(.evp, local: 0), let a = session(.evp, local: 1),
        let b = session(.libsrtp, local: 1)
      else { return check(false, "no session") }
      for _ in 0..<16 where !input.isAtEnd {
        let operation = input.byte()
        let position = Int(input.byte())
        let change = input.byte()
        var packet = input.chunk()
        let isRTCP = operation & 8 != 0
        if operation & 3 != 2 {
          // A rightly protected packet, so that the code behind authentication gets its share.
          let count = packet.count
          packet += [UInt8](repeating: 0, count: 32)
          let protected = packet.withUnsafeMutableBytes { buffer in
            isRTCP
              ? try? sender.protectRTCP(buffer, count: count)
              : try? sender.protectRTP(buffer, count: count)
          }
          guard let protected else { continue }
          packet.removeLast(packet.count - protected)
          if operation & 3 == 1, !packet.isEmpty { packet[position % packet.count] ^= change }
        }
        let first = open(packet, with: a, isRTCP: isRTCP)
        let second = open(packet, with: b, isRTCP: isRTCP)
        check(first == second, "the implementations differ: \(first as Any), \(second as Any)")
      }
    }
  }

  private static func open(
    _ packet: [UInt8], with session: SRTPSession, isRTCP: Bool
  ) -> [UInt8]? {
    lendExactly(packet) { memory in
      let count =
        isRTCP
        ? try? session.unprotectRTCP(memory, count: memory.count)
        : try? session.unprotectRTP(memory, count: memory.count)
      return count.map { Array(memory[..<$0]) }
    }
  }
}
