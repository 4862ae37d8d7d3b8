/// What the payload types of a stream mean to its receiver: their formats, and the depayloaders that understand these.
package struct PayloadTypeMap {
  private struct Entry {
    let format: any RTPPayloadFormat
    let depayloader: any RTPDepayloader
  }

  private var entries: [Entry?] = Array(repeating: nil, count: 128)
  /// The format of the frame that was handed out last; it stays when its payload type is taken back.
  package private(set) var current: (any RTPPayloadFormat)?

  package init() {}

  /// Packets with `payloadType` carry `format` from now on, read by a depayloader of its own; nil takes it back.
  package mutating func set(_ format: (any RTPPayloadFormat)?, payloadType: UInt8) {
    entries[Self.index(payloadType)] = format.map {
      Entry(format: $0, depayloader: $0.makeDepayloader())
    }
  }

  /// What reads packets with `payloadType`; nil without a format.
  package func depayloader(payloadType: UInt8) -> (any RTPDepayloader)? {
    entries[Self.index(payloadType)]?.depayloader
  }

  /// A frame with `payloadType` is handed out.
  package mutating func use(payloadType: UInt8) {
    current = entries[Self.index(payloadType)]?.format
  }

  /// Payload types have 7 bits (RFC 3550 §5.1).
  private static func index(_ payloadType: UInt8) -> Int { Int(payloadType & 0x7F) }
}
