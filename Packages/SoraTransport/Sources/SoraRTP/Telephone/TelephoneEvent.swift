import SoraWire

/// One report on a telephone event, such as a pressed key (RFC 4733 §2.3): what it is, how loud, and for how long it has lasted.
public struct TelephoneEvent: Sendable, Hashable {
  /// The encoding name of the payload format in descriptions.
  public static let encodingName = "telephone-event"
  /// Bytes of a report in a packet.
  public static let byteCount = 4
  /// The longest duration that a report can name; longer events are told in segments (RFC 4733 §2.5.1.3).
  public static let longestDuration = UInt16.max
  /// Reports of a packet that are read at most. Contiguous events may share one (RFC 4733 §2.5.1.5); nobody sends more than a few.
  static let maximumReports = 16

  /// 0...9 are the digits, 10 is the star, 11 the square, 12...15 are A to D (RFC 4733 §3.2); others are other events.
  public var code: UInt8
  /// Whether the event has ended (the E bit).
  public var isEnd: Bool
  /// Below full scale, 0...63 dBm0; a tone at 0 is the loudest.
  public var volume: UInt8
  /// Ticks of the RTP clock since the packet's timestamp. 0 is a state that lasts until something else is told.
  public var duration: UInt16

  public init(code: UInt8, isEnd: Bool = false, volume: UInt8 = 10, duration: UInt16) {
    self.code = code
    self.isEnd = isEnd
    self.volume = min(volume, 63)
    self.duration = duration
  }

  /// Reads the report that begins at `offset` of a payload; nil where there are less than four bytes.
  init?(_ payload: RawSpan, at offset: Int) {
    guard offset >= 0, offset + Self.byteCount <= payload.byteCount else { return nil }
    code = payload.u8(offset)
    let second = payload.u8(offset + 1)
    isEnd = second & 0x80 != 0
    // The bit between the two is reserved, and ignored by receivers.
    volume = second & 0x3F
    duration = payload.u16(offset + 2)
  }

  /// The reports in a payload, each with how long after the packet's timestamp its event began: a later one begins where the one before it
  /// ended (RFC 4733 §2.5.1.5).
  ///
  /// - Throws: `RTPError.malformedPayload` where the payload is empty or isn't made of whole reports.
  public static func reports(
    in payload: RawSpan
  ) throws(RTPError) -> [(event: TelephoneEvent, offset: UInt32)] {
    let count = payload.byteCount / byteCount
    guard count > 0, count <= maximumReports, payload.byteCount == count * byteCount else {
      throw .malformedPayload(codec: encodingName)
    }
    var reports: [(event: TelephoneEvent, offset: UInt32)] = []
    var offset: UInt32 = 0
    for index in 0..<count {
      guard let event = TelephoneEvent(payload, at: index * byteCount) else { break }
      reports.append((event, offset))
      offset &+= UInt32(event.duration)
    }
    return reports
  }

  /// The four bytes of the report.
  public var bytes: [UInt8] {
    [
      code, (isEnd ? 0x80 : 0) | volume & 0x3F, UInt8(duration >> 8),
      UInt8(truncatingIfNeeded: duration),
    ]
  }

  // MARK: Keys

  private static let keys: [Character] = Array("0123456789*#ABCD")

  /// The key of a telephone; nil for other events.
  public var key: Character? { code < Self.keys.count ? Self.keys[Int(code)] : nil }

  /// The code of a key: `0`...`9`, `*`, `#`, `A`...`D` or `a`...`d`; nil for other characters.
  public static func code(of key: Character) -> UInt8? {
    let upper = Character(key.uppercased())
    return keys.firstIndex(of: upper).map { UInt8($0) }
  }
}
