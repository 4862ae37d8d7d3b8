import SoraWire

/// One line of a session description.
///
/// An `a=` line is kept as a name and an optional value; every other line as its whole value. Nothing is
/// interpreted, so that what isn't known survives.
public struct SDPLine: Sendable, Hashable {
  /// The letter before `=`, in ASCII.
  public var type: UInt8
  /// The attribute's name; empty for lines that are not `a=`.
  public var name: String
  /// What follows the first `:` of an attribute (nil without a colon), or all that follows `=`.
  public var value: String?

  /// A line that isn't an attribute, such as `b=AS:500`.
  public init(type: Unicode.Scalar, value: String) {
    self.type = UInt8(truncatingIfNeeded: type.value)
    self.name = ""
    self.value = value
  }

  /// An attribute: `a=name` or `a=name:value`.
  public init(attribute name: String, value: String? = nil) {
    self.type = UInt8(ascii: "a")
    self.name = name
    self.value = value
  }

  /// Reads a line without its line end. The caller has checked that it begins with a letter and `=`.
  init(checked bytes: RawSpan) {
    type = bytes.u8(0)
    let content = bytes.part(from: 2)
    guard type == UInt8(ascii: "a"),
      let colon = content.byteOffsets.first(where: { content.u8($0) == UInt8(ascii: ":") })
    else {
      let all = String(repairing: content)
      name = type == UInt8(ascii: "a") ? all : ""
      value = type == UInt8(ascii: "a") ? nil : all
      return
    }
    name = String(repairing: content.part(0, colon))
    value = String(repairing: content.part(from: colon + 1))
  }

  /// Whether this is an `a=` line.
  public var isAttribute: Bool { type == UInt8(ascii: "a") }

  /// The line without a line end.
  public var text: String {
    var result: [UInt8] = []
    write(to: &result)
    return String(decoding: result, as: UTF8.self)
  }

  func write(to output: inout [UInt8]) {
    if let letter = UTF8.encode(Unicode.Scalar(type)) { output += letter }
    output.append(UInt8(ascii: "="))
    if isAttribute {
      SDPLine.append(name, to: &output)
      guard let value else { return }
      output.append(UInt8(ascii: ":"))
      SDPLine.append(value, to: &output)
    } else if let value {
      SDPLine.append(value, to: &output)
    }
  }

  /// Appends `text` without the bytes that would end or break a line, so that a value set by an application
  /// can't smuggle in lines of its own.
  static func append(_ text: String, to output: inout [UInt8]) {
    let start = output.count
    output.append(contentsOf: text.utf8)
    let isBreaking = { (byte: UInt8) in byte == 10 || byte == 13 || byte == 0 }
    guard output[start...].contains(where: isBreaking) else { return }
    output.removeSubrange(start...)
    output.append(contentsOf: text.utf8.filter { !isBreaking($0) })
  }
}
