import SoraICE
import SoraMedia

/// Reads an input as a script: choices, lengths and datagrams. Reading past the end gives zeros and nothing.
struct FuzzInput {
  private let bytes: UnsafeRawBufferPointer
  private var offset = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  var isAtEnd: Bool { offset >= bytes.count }

  mutating func byte() -> UInt8 {
    guard offset < bytes.count else { return 0 }
    offset += 1
    return bytes[offset - 1]
  }

  mutating func number16() -> UInt16 { UInt16(byte()) << 8 | UInt16(byte()) }
  mutating func number32() -> UInt32 { UInt32(number16()) << 16 | UInt32(number16()) }
  mutating func number64() -> UInt64 { UInt64(number32()) << 32 | UInt64(number32()) }

  /// As many bytes as a 16-bit length says and as there are.
  mutating func chunk() -> [UInt8] {
    let wanted = Int(number16())
    return take(wanted)
  }

  /// As many bytes as an 8-bit length says and as there are.
  mutating func shortChunk() -> [UInt8] {
    let wanted = Int(byte())
    return take(wanted)
  }

  mutating func rest() -> [UInt8] { take(bytes.count) }

  private mutating func take(_ wanted: Int) -> [UInt8] {
    let end = min(bytes.count, offset + wanted)
    defer { offset = end }
    return Array(bytes[offset..<end])
  }

  /// A step of time: mostly milliseconds, now and then seconds or hours.
  mutating func step() -> Duration {
    let value = Int64(byte())
    switch value {
    case 0..<200: return .milliseconds(value)
    case 200..<250: return .milliseconds((value - 199) * 500)
    case 250..<255: return .seconds((value - 249) * 3_600)
    default: return .zero
    }
  }
}

/// Writes what `FuzzInput` reads: for seeds.
struct ScriptWriter {
  private(set) var bytes: [UInt8] = []

  mutating func byte(_ value: UInt8) { bytes.append(value) }
  mutating func number16(_ value: Int) {
    bytes += [UInt8(truncatingIfNeeded: value >> 8), UInt8(truncatingIfNeeded: value)]
  }
  mutating func number32(_ value: UInt32) {
    number16(Int(value >> 16))
    number16(Int(value & 0xFFFF))
  }
  mutating func chunk(_ content: [UInt8]) {
    number16(content.count)
    bytes += content
  }
  mutating func raw(_ content: [UInt8]) { bytes += content }
}

/// Lends a copy of exactly the bytes, so that the address sanitizer sees a read of one byte too many.
func lendExactly<R>(
  _ content: [UInt8], room: Int = 0, _ body: (UnsafeMutableRawBufferPointer) -> R
) -> R {
  // malloc's own bounds, not an array's, whose storage is rounded up.
  let memory = UnsafeMutableRawBufferPointer.allocate(
    byteCount: content.count + room, alignment: 1)
  defer { memory.deallocate() }
  memory.copyBytes(from: content)
  return body(memory)
}

/// Calls `poll` at `nextDeadline` as a loop would, and fails where time never moves on.
///
/// - Parameter now: a loop that asks for a moment that is over is called at once; that may happen, but not for ever.
func drive(
  until end: Instant, from start: Instant, deadline: @autoclosure () -> Instant?,
  poll: (Instant) -> Void
) {
  var now = start
  var stuck = 0
  var rounds = 0
  while let next = deadline(), next <= end {
    if next <= now {
      stuck += 1
      check(stuck < 200, "a deadline at or before now comes again and again: \(next) at \(now)")
    } else {
      stuck = 0
      now = next
    }
    poll(now)
    rounds += 1
    if rounds > 500 { break }
  }
  poll(end)
}

/// Collects datagrams instead of sending them.
final class FuzzAddresses {
  static let local = TransportAddress(ip: IPAddress(v4: 0xC000_0201), port: 5000)
  static let remote = TransportAddress(ip: IPAddress(v4: 0xC633_6401), port: 6000)

  static func remote(_ choice: UInt8) -> TransportAddress {
    switch choice & 3 {
    case 0: remote
    case 1: TransportAddress(ip: IPAddress(v6: (0x2001_0DB8_0000_0000, UInt64(choice))), port: 7)
    case 2: TransportAddress(ip: IPAddress(v4: 0), port: 0)
    default: TransportAddress(ip: IPAddress(v4: 0xC633_6400 | UInt32(choice)), port: 6000)
    }
  }
}
