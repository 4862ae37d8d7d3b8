import SoraMedia
import SoraRTP

/// Lends an array's bytes to code that throws an `RTPError`.
func withBytes<R>(_ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
  try bytes.withUnsafeBytes(body)
}

/// What `write` puts into a buffer of `capacity` bytes.
func written(
  capacity: Int = 1500, _ write: (UnsafeMutableRawBufferPointer) throws -> Int
) rethrows -> [UInt8] {
  var bytes = [UInt8](repeating: 0xEE, count: capacity)
  let count = try bytes.withUnsafeMutableBytes { try write($0) }
  return Array(bytes[0..<count])
}

/// A compound RTCP datagram.
func rtcp(capacity: Int = 1500, _ write: (inout RTCPWriter) throws -> Void) rethrows -> [UInt8] {
  try written(capacity: capacity) { buffer in
    var writer = RTCPWriter(into: buffer)
    try write(&writer)
    return writer.count
  }
}

/// A whole RTP packet.
func rtpPacket(
  _ header: RTPHeader, extensions: RTPHeaderExtensions = RTPHeaderExtensions(),
  map: RTPHeaderExtensionMap = RTPHeaderExtensionMap(), payload: [UInt8] = [], padding: Int = 0
) throws -> [UInt8] {
  try written { buffer in
    var writer = RTPPacketWriter(into: buffer)
    try writer.writeHeader(header, extensions: extensions, map: map)
    try payload.withUnsafeBytes { try writer.append($0) }
    if padding > 0 { try writer.appendPadding(padding) }
    return writer.count
  }
}

/// Changes `input` in up to eight places, and sometimes its length.
func mutated(_ input: [UInt8], _ random: RandomSource) -> [UInt8] {
  var bytes = input
  for _ in 0..<Int(random.next() % 9) where !bytes.isEmpty {
    bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
  }
  switch random.next() % 6 {
  case 0: bytes.removeLast(Int(random.next() % UInt64(bytes.count + 1)))
  case 1: bytes.append(contentsOf: random.bytes(Int(random.next() % 40)))
  case 2: bytes = random.bytes(Int(random.next() % 80))
  default: break
  }
  return bytes
}
