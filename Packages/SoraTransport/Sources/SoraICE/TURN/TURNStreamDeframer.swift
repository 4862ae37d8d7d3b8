import SoraWire

/// Cuts the byte stream between a TURN client and its server into messages (RFC 8656 §3.1 and §12.5): STUN messages say how long
/// they are, and ChannelData is padded to a multiple of four.
///
/// A value with a buffer of its own, which it bounds by the longest message.
public struct TURNStreamDeframer {
  /// Bytes that are neither STUN nor ChannelData: the stream can't be read any further.
  public struct Unreadable: Error, Hashable, Sendable {
    public let firstBytes: [UInt8]
  }

  private var buffer: [UInt8] = []
  private var isBroken = false

  public init() {}

  /// Bytes that wait for the rest of their message.
  public var buffered: Int { buffer.count }

  /// Takes what the stream has brought, and lends each whole message for the length of a call, without padding.
  public mutating func append(
    _ bytes: RawSpan, _ body: (inout MutableRawSpan) -> Void
  ) throws(Unreadable) {
    if isBroken { return }
    buffer.append(copying: bytes)
    var start = 0
    var broken: Unreadable?
    buffer.withMutableRawSpan { all in
      while all.byteCount - start >= 4 {
        let left = all.byteCount - start
        guard let size = Self.size(of: all.bytes.part(from: start)) else {
          broken = Unreadable(firstBytes: [UInt8](copying: all.bytes.part(start, min(8, left))))
          return
        }
        guard left >= size.padded else { return }
        var message = all.part(start, size.message)
        body(&message)
        start += size.padded
      }
    }
    if let broken {
      isBroken = true
      buffer = []
      throw broken
    }
    buffer.removeFirst(start)
  }

  /// How long the message that starts here is, with and without padding; `nil` where it is no message. Needs four bytes.
  private static func size(of bytes: RawSpan) -> (message: Int, padded: Int)? {
    let length = Int(bytes.u16(2))
    switch bytes.u8(0) {
    case 0..<4:
      // The cookie may still be under way; a length that isn't a multiple of four can't be STUN's.
      if bytes.byteCount >= 8, bytes.u32(4) != stunMagicCookie { return nil }
      guard length % 4 == 0 else { return nil }
      return (stunHeaderSize + length, stunHeaderSize + length)
    // Channels of RFC 8656 end at 0x4FFF, those of RFC 5766 at 0x7FFE.
    case 0x40...0x7F: return (4 + length, 4 + (length + 3) & ~3)
    default: return nil
    }
  }
}
