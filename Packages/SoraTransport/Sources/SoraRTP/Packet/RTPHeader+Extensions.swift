import SoraWire

// Reading header extension elements (RFC 8285).

extension RTPHeader {
  /// Where the value of extension `id` lies in `packet`, the buffer that was parsed; `nil` when it isn't there.
  ///
  /// Scans the elements, so it costs a few nanoseconds; to read several values use
  /// `RTPHeaderExtensions(of:in:map:)`, which scans once.
  public func extensionRange(id: UInt8, in packet: RawSpan) -> Range<Int>? {
    var elements = RTPExtensionElements(of: self, in: packet)
    while let element = elements.next() {
      if element.id == id { return element.range }
    }
    return nil
  }
}

/// Walks the extension elements of one packet. Elements that go beyond the extension's length end the walk.
public struct RTPExtensionElements: ~Escapable {
  /// One element: its id (1 to 14, or 1 to 255 in the two-byte form) and where its value lies in the packet.
  public struct Element: Equatable, Sendable {
    public var id: UInt8
    public var range: Range<Int>
  }

  private let packet: RawSpan
  private let isTwoByte: Bool
  private var offset: Int
  private let end: Int

  /// `packet` must be the buffer that `header` was parsed from; it must outlive the iteration.
  @_lifetime(copy packet)
  public init(of header: RTPHeader, in packet: RawSpan) {
    self.packet = packet
    // RFC 8285 §4.2 and §4.3: 0xBEDE, or 0x100 and four application bits.
    let isOneByte = header.extensionProfile == 0xBEDE
    isTwoByte = header.extensionProfile & 0xFFF0 == 0x1000
    offset = header.extensionOffset
    let last = header.extensionOffset + header.extensionCount
    end = (isOneByte || isTwoByte) && last <= packet.byteCount ? last : 0
  }

  @_lifetime(self: copy self)
  public mutating func next() -> Element? {
    while offset < end {
      let first = packet.u8(offset)
      if first == 0 {  // padding
        offset += 1
        continue
      }
      let id: UInt8
      let start: Int
      let count: Int
      if isTwoByte {
        guard offset + 2 <= end else { break }
        id = first
        count = Int(packet.u8(offset + 1))
        start = offset + 2
      } else {
        id = first >> 4
        // RFC 8285 §4.2: id 15 ends the elements; id 0 with a length is skipped.
        if id == 15 { break }
        count = Int(first & 0x0F) + 1
        start = offset + 1
      }
      guard start + count <= end else { break }
      offset = start + count
      if id != 0 { return Element(id: id, range: start..<start + count) }
    }
    offset = end
    return nil
  }
}
