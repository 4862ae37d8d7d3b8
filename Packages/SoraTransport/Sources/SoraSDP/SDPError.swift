/// What is wrong with a session description, where, and what to do about it.
public struct SDPError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The kind of the fault.
  public enum Reason: Sendable, Equatable {
    /// There is no line at all.
    case empty
    /// More bytes than ``SessionDescription/maximumSize``.
    case tooLarge
    /// More media sections than ``SessionDescription/maximumMediaSections``.
    case tooManyMediaSections
    /// The bytes are not UTF-8.
    case notUTF8
    /// The first line is not `v=0`.
    case missingVersion
    /// A line is not of the form `x=value`, or holds a control character.
    case malformedLine
    /// An `m=` line cannot be read.
    case malformedMediaLine
    /// A known attribute or line has a value that cannot be read; the name of the attribute.
    case malformedAttribute(String)
  }

  public var reason: Reason
  /// The line's number, from 1; 0 where the fault is not on one line.
  public var line: Int
  /// The line, cut after 160 bytes.
  public var text: String
  /// What to do, one sentence.
  public var advice: String

  public init(_ reason: Reason, line: Int = 0, text: String = "", advice: String) {
    self.reason = reason
    self.line = line
    self.text =
      text.utf8.count <= 160 ? text : String(decoding: text.utf8.prefix(160), as: UTF8.self) + "…"
    self.advice = advice
  }

  public var description: String {
    let problem =
      switch reason {
      case .empty: "The session description is empty"
      case .tooLarge: "The session description is too large"
      case .tooManyMediaSections: "The session description has too many media sections"
      case .notUTF8: "The session description is not UTF-8"
      case .missingVersion: "The session description does not start with v=0"
      case .malformedLine: "A line of the session description is malformed"
      case .malformedMediaLine: "A media line is malformed"
      case .malformedAttribute(let name): "The value of \(name) cannot be read"
      }
    let place = line > 0 ? " (line \(line): \"\(text)\")" : ""
    return "\(problem)\(place): \(advice)"
  }
}
