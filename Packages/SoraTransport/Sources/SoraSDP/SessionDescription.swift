import SoraWire

/// A session description (RFC 8866) that keeps every line in its order.
///
/// `text` of a parsed description equals the parsed text where that was well-formed and used CRLF. Typed
/// views (``SDPAttributeContainer``, ``MediaDescription``) read and write single attributes and leave the
/// rest alone. Parsing checks the structure only; ``validate()`` also checks the values of known attributes.
public struct SessionDescription: Sendable, Hashable, SDPAttributeContainer {
  /// The most bytes that are parsed.
  public static let maximumSize = 256 * 1024
  /// The most media sections that are parsed.
  public static let maximumMediaSections = 512

  /// The lines before the first media section, `v=` included.
  public var lines: [SDPLine]
  /// The media sections. Their index is the "m-line index" of WebRTC.
  public var media: [MediaDescription]

  /// A description with the given lines.
  public init(lines: [SDPLine], media: [MediaDescription] = []) {
    self.lines = lines
    self.media = media
  }

  /// The lines that every description starts with (RFC 9429 §5.2.1).
  public init(origin: SDPOrigin) {
    lines = [
      SDPLine(type: "v", value: "0"), SDPLine(type: "o", value: origin.description),
      SDPLine(type: "s", value: "-"), SDPLine(type: "t", value: "0 0"),
    ]
    media = []
  }

  /// Reads a description. Lines may end in CRLF or LF; empty lines at the end are ignored.
  public init(parsing text: String) throws(SDPError) {
    try self.init(validUTF8: Array(text.utf8).rawSpan)
  }

  /// Reads a description from bytes, which may be anything.
  public init(parsing bytes: RawSpan) throws(SDPError) {
    guard bytes.byteCount <= Self.maximumSize else { throw Self.tooLarge(bytes.byteCount) }
    guard let text = String(validating: bytes) else {
      throw SDPError(.notUTF8, advice: "Send the description as UTF-8 text.")
    }
    try self.init(parsing: text)
  }

  /// The description as text, each line ended by CRLF.
  public var text: String {
    var result: [UInt8] = []
    result.reserveCapacity(256 + media.count * 4096)
    for line in lines {
      line.write(to: &result)
      result += "\r\n".utf8
    }
    for section in media { section.write(to: &result) }
    return String(decoding: result, as: UTF8.self)
  }

  private init(validUTF8 bytes: RawSpan) throws(SDPError) {
    guard bytes.byteCount <= Self.maximumSize else { throw Self.tooLarge(bytes.byteCount) }
    lines = []
    media = []
    var end = bytes.byteCount
    while end > 0, bytes.u8(end - 1) == 10 || bytes.u8(end - 1) == 13 { end -= 1 }
    guard end > 0 else {
      throw SDPError(.empty, advice: "Pass the text of an offer or an answer.")
    }
    var number = 0
    var start = 0
    while start < end {
      var stop = start
      while stop < end, bytes.u8(stop) != 10 { stop += 1 }
      let next = stop + 1
      if stop > start, stop < end, bytes.u8(stop - 1) == 13 { stop -= 1 }
      number += 1
      try append(bytes.extracting(start..<stop), number: number)
      start = next
    }
  }

  private mutating func append(_ line: RawSpan, number: Int) throws(SDPError) {
    func text() -> String { String(repairing: line) }
    guard line.byteCount >= 2, line.u8(1) == UInt8(ascii: "="),
      (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(line.u8(0)),
      !line.byteOffsets.contains(where: { line.u8($0) == 13 || line.u8($0) == 0 })
    else {
      throw SDPError(
        .malformedLine, line: number, text: text(),
        advice: "Each line must be a lowercase letter, '=' and a value, ended by CRLF.")
    }
    if number == 1 {
      guard text() == "v=0" else {
        throw SDPError(
          .missingVersion, line: 1, text: text(), advice: "Begin the description with v=0.")
      }
    }
    if line.u8(0) == UInt8(ascii: "m") {
      guard media.count < Self.maximumMediaSections else {
        throw SDPError(
          .tooManyMediaSections, line: number, text: text(),
          advice: "At most \(Self.maximumMediaSections) media sections are read.")
      }
      let value = String(repairing: line.part(from: 2))
      guard let section = MediaDescription(mediaLine: value) else {
        throw SDPError(
          .malformedMediaLine, line: number, text: text(),
          advice: "Write 'm=<kind> <port> <protocol> <format> ...' with a port from 0 to 65535.")
      }
      media.append(section)
    } else if media.isEmpty {
      lines.append(SDPLine(checked: line))
    } else {
      media[media.count - 1].lines.append(SDPLine(checked: line))
    }
  }

  private static func tooLarge(_ count: Int) -> SDPError {
    SDPError(.tooLarge, advice: "It has \(count) bytes; at most \(maximumSize) are read.")
  }
}

extension SessionDescription {
  /// The `o=` line; nil where it is missing or malformed. Setting nil removes it.
  public var origin: SDPOrigin? {
    get { firstLine("o").flatMap { SDPOrigin(parsing: $0) } }
    set { setLine("o", newValue?.description, after: "v") }
  }

  /// The `s=` line.
  public var sessionName: String? {
    get { firstLine("s") }
    set { setLine("s", newValue, after: "vo") }
  }

  /// The groups of the session (RFC 5888 §5), in order.
  public var groups: [SDPGroup] { values(of: SDPGroup.self) }

  /// The mids of the first BUNDLE group (RFC 9143 §7.1), in its order; nil without one.
  public var bundle: [String]? {
    get { groups.first { $0.semantics == "BUNDLE" }?.mids }
    set {
      lines.removeAll { $0.name == SDPGroup.attributeName && ($0.value ?? "").hasPrefix("BUNDLE") }
      if let newValue { append(SDPGroup(semantics: "BUNDLE", mids: newValue)) }
    }
  }

  /// The value of `a=msid-semantic`, for example ` WMS *`.
  public var msidSemantic: String? {
    get { attribute("msid-semantic") }
    set { setAttribute("msid-semantic", newValue) }
  }

  /// Whether the writer is an ICE-lite agent (RFC 8839 §5.3).
  public var isICELite: Bool {
    get { hasFlag("ice-lite") }
    set { setFlag("ice-lite", newValue) }
  }

  /// The index of the section with this mid; the first that is not rejected where several share it.
  public func index(ofMid mid: String) -> Int? {
    var rejected: Int?
    for (index, section) in media.enumerated() where section.mid == mid {
      if section.port != 0 || section.isBundleOnly { return index }
      rejected = rejected ?? index
    }
    return rejected
  }

  /// The number, from 1, of line `offset` in section `index` (offset 0 is its `m=` line), in ``text``.
  public func lineNumber(section index: Int, offset: Int = 0) -> Int {
    var number = lines.count + 1 + offset
    for section in media.prefix(index) { number += 1 + section.lines.count }
    return number
  }
}
