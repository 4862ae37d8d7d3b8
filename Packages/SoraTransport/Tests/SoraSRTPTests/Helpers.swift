import SoraMedia
import SoraSRTP

extension String {
  /// The bytes of hexadecimal digits; spaces and line ends don't count.
  var hex: [UInt8] {
    let digits = utf8.filter { $0 > 0x20 }
    return stride(from: 0, to: digits.count, by: 2).map { position in
      let start = digits.index(digits.startIndex, offsetBy: position)
      return UInt8(String(decoding: digits[start..<(start + 2)], as: UTF8.self), radix: 16)!
    }
  }
}

enum Operation: CaseIterable { case protectRTP, unprotectRTP, protectRTCP, unprotectRTCP }

extension SRTPSession {
  /// Runs an operation on a copy of `packet` in a buffer with `room` bytes to spare.
  func run(
    _ operation: Operation, _ packet: [UInt8], room: Int = 32
  ) -> Result<[UInt8], SRTPError> {
    var buffer = packet + [UInt8](repeating: 0xEE, count: room)
    let count = packet.count
    let result = buffer.withUnsafeMutableBytes { bytes in
      Result<Int, SRTPError> { () throws(SRTPError) in
        switch operation {
        case .protectRTP: try protectRTP(bytes, count: count)
        case .unprotectRTP: try unprotectRTP(bytes, count: count)
        case .protectRTCP: try protectRTCP(bytes, count: count)
        case .unprotectRTCP: try unprotectRTCP(bytes, count: count)
        }
      }
    }
    return result.map { Array(buffer[..<$0]) }
  }

  /// Protects into another buffer.
  func copyProtected(_ packet: [UInt8]) -> Result<[UInt8], SRTPError> {
    var buffer = [UInt8](repeating: 0xEE, count: packet.count + profile.rtpOverhead)
    let result = packet.withUnsafeBytes { source in
      buffer.withUnsafeMutableBytes { destination in
        Result<Int, SRTPError> { () throws(SRTPError) in
          try protectRTP(from: source, into: destination)
        }
      }
    }
    return result.map { Array(buffer[..<$0]) }
  }
}

extension SRTPSession {
  /// Protects a packet whose payload lies elsewhere.
  ///
  /// - Parameters:
  ///   - header: bytes of the header; nil for as many as the packet says.
  ///   - room: bytes to spare behind the packet.
  func protectedLent(
    _ packet: [UInt8], header: Int? = nil, room: Int = 16
  ) -> Result<[UInt8], SRTPError> {
    let header = header ?? packet.rtpHeaderCount
    let payload = Array(packet[header...])
    var buffer = Array(packet[..<header]) + [UInt8](repeating: 0xEE, count: payload.count + room)
    let result = payload.withUnsafeBytes { payload in
      buffer.withUnsafeMutableBytes { buffer in
        Result<Int, SRTPError> { () throws(SRTPError) in
          try protectRTP(buffer, count: header, payload: payload.bytes)
        }
      }
    }
    return result.map { Array(buffer[..<$0]) }
  }
}

extension [UInt8] {
  /// Bytes of the header of an RTP packet (RFC 3550 §5.1, §5.3.1).
  fileprivate var rtpHeaderCount: Int {
    let fixed = 12 + Int(self[0] & 0x0F) * 4
    guard self[0] & 0x10 != 0 else { return fixed }
    return fixed + 4 + (Int(self[fixed + 2]) << 8 | Int(self[fixed + 3])) * 4
  }
}

/// Two sessions that hold each other's keys.
func makeSessions(
  _ profile: SRTPProfile, _ sender: SRTPSession.Implementation,
  _ receiver: SRTPSession.Implementation, seed: UInt64 = 1, replayWindow: Int = 1024,
  maximumStreams: Int = 1024
) throws -> (SRTPSession, SRTPSession) {
  let random = RandomSource(seed: seed)
  let a = SRTPKeyingMaterial(
    key: random.bytes(profile.keyLength), salt: random.bytes(profile.saltLength))
  let b = SRTPKeyingMaterial(
    key: random.bytes(profile.keyLength), salt: random.bytes(profile.saltLength))
  return (
    try SRTPSession(
      profile: profile, local: a, remote: b, implementation: sender, replayWindow: replayWindow,
      maximumStreams: maximumStreams),
    try SRTPSession(
      profile: profile, local: b, remote: a, implementation: receiver, replayWindow: replayWindow,
      maximumStreams: maximumStreams)
  )
}

/// An RTP packet with random CSRCs, extension and payload.
func makeRTP(
  sequence: UInt16, ssrc: UInt32 = 0x1234_5678, random: RandomSource, payload: Int? = nil
) -> [UInt8] {
  let contributors = random.next() % 4 == 0 ? Int(random.next() % 16) : 0
  let hasExtension = random.next() & 1 == 0
  var packet: [UInt8] = [
    0x80 | (hasExtension ? 0x10 : 0) | UInt8(contributors),
    UInt8(truncatingIfNeeded: random.next()),
    UInt8(sequence >> 8), UInt8(sequence & 255),
  ]
  packet += random.bytes(4)
  for shift in [24, 16, 8, 0] { packet.append(UInt8(truncatingIfNeeded: ssrc >> UInt32(shift))) }
  packet += random.bytes(4 * contributors)
  if hasExtension {
    let words = Int(random.next() % 6)
    packet += [0xBE, 0xDE, 0, UInt8(words)] + random.bytes(4 * words)
  }
  return packet + random.bytes(payload ?? Int(random.next() % 1200))
}

/// An RTCP packet with a random body of whole words.
func makeRTCP(ssrc: UInt32 = 0x1234_5678, random: RandomSource) -> [UInt8] {
  let words = Int(random.next() % 100)
  var packet: [UInt8] = [0x80, 200, UInt8((words + 1) >> 8), UInt8((words + 1) & 255)]
  for shift in [24, 16, 8, 0] { packet.append(UInt8(truncatingIfNeeded: ssrc >> UInt32(shift))) }
  return packet + random.bytes(4 * words)
}
