/// Any JSON text as a value: what free-form keys such as `metadata` hold.
///
/// Integers that fit 64 bits are kept exactly; other numbers become `double`.
/// The order of an object's keys is not kept.
public enum JSONValue: Sendable, Hashable {
  case null
  case bool(Bool)
  case integer(Int64)
  /// Only for integers above `Int64.max`; smaller ones are always `integer`.
  case unsigned(UInt64)
  /// Written as `null` when it isn't finite, because JSON has no such number.
  case double(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// The longest text that is read where nothing else is said, in bytes.
  public static let maximumSize = 1 << 20
  /// How many arrays and objects may be open at once in a text that is read.
  public static let maximumDepth = 64

  public var isNull: Bool { self == .null }

  public var boolValue: Bool? {
    if case .bool(let value) = self { value } else { nil }
  }

  public var stringValue: String? {
    if case .string(let value) = self { value } else { nil }
  }

  /// The number as an `Int`, if it is an integer that fits (`500` and `500.0` alike).
  public var intValue: Int? {
    switch self {
    case .integer(let value): Int(exactly: value)
    case .unsigned(let value): Int(exactly: value)
    case .double(let value): Int(exactly: value)
    default: nil
    }
  }

  public var doubleValue: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .unsigned(let value): Double(value)
    case .double(let value): value
    default: nil
    }
  }

  public var arrayValue: [JSONValue]? {
    if case .array(let value) = self { value } else { nil }
  }

  public var objectValue: [String: JSONValue]? {
    if case .object(let value) = self { value } else { nil }
  }

  /// The value of a key, `nil` when this is no object or has no such key.
  public subscript(key: String) -> JSONValue? { objectValue?[key] }

  /// The element at an index, `nil` when this is no array or the index is outside of it.
  public subscript(index: Int) -> JSONValue? {
    guard let array = arrayValue, array.indices.contains(index) else { return nil }
    return array[index]
  }

  /// What it is, short enough for an error: containers are named, not printed.
  var summary: String {
    switch self {
    case .array(let elements): "array of \(elements.count)"
    case .object(let members): "object of \(members.count)"
    default: text
    }
  }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
  ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  public init(nilLiteral: ()) { self = .null }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .double(value) }
  public init(stringLiteral value: String) { self = .string(value) }
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self = .object(Dictionary(elements, uniquingKeysWith: { $1 }))
  }
}

extension JSONValue: CustomStringConvertible {
  public var description: String { text }
}
