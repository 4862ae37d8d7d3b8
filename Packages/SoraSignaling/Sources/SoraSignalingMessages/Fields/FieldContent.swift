/// What a field holds: some content, or an optional one where the key may be absent.
public protocol FieldValue: Sendable {
  associatedtype Content: FieldContent

  /// nil if the content is absent and may not be.
  init?(content: Content?)

  /// nil where the key is absent.
  var content: Content? { get }
}

/// A type that one JSON value is read into and written from.
public protocol FieldContent: FieldValue, Hashable where Content == Self {
  /// - Parameters:
  ///   - json: the value.
  ///   - path: where the value stands, such as `connect.audio.bit_rate`. Made for errors only: most values of most
  ///     messages have none.
  static func read(
    _ json: JSONValue, path: @autoclosure () -> String
  ) throws(SignalingError) -> Self

  var json: JSONValue { get }

  /// What an error asks for, such as `a string`.
  static var expectation: String { get }

  /// Whether `null` is a value, and not another way to be absent.
  static var isNullAllowed: Bool { get }

  /// Applies the rules of the fields inside.
  func check(path: String) throws(SignalingError)

  /// The paths of keys inside that this version doesn't know, in order.
  func unknownKeys(path: String) -> [String]
}

extension FieldContent {
  public init?(content: Self?) {
    guard let content else { return nil }
    self = content
  }

  public var content: Self? { self }
  public static var isNullAllowed: Bool { false }
  public func check(path: String) throws(SignalingError) {}
  public func unknownKeys(path: String) -> [String] { [] }
}

extension Optional: FieldValue where Wrapped: FieldContent {
  public init?(content: Wrapped?) { self = content }
  public var content: Wrapped? { self }
}

extension JSONValue: FieldContent {
  public static func read(
    _ json: JSONValue, path: @autoclosure () -> String
  ) throws(SignalingError) -> JSONValue {
    json
  }

  public var json: JSONValue { self }
  public static var expectation: String { "any JSON" }
  public static var isNullAllowed: Bool { true }
}

extension String: FieldContent {
  public static func read(
    _ json: JSONValue, path: @autoclosure () -> String
  ) throws(SignalingError) -> String {
    guard let value = json.stringValue else {
      throw .invalid(path(), json, expected: expectation)
    }
    return value
  }

  public var json: JSONValue { .string(self) }
  public static var expectation: String { "a string" }
}

extension Bool: FieldContent {
  public static func read(
    _ json: JSONValue, path: @autoclosure () -> String
  ) throws(SignalingError) -> Bool {
    guard let value = json.boolValue else { throw .invalid(path(), json, expected: expectation) }
    return value
  }

  public var json: JSONValue { .bool(self) }
  public static var expectation: String { "true or false" }
}

extension Int: FieldContent {
  public static func read(
    _ json: JSONValue, path: @autoclosure () -> String
  ) throws(SignalingError) -> Int {
    guard let value = json.intValue else { throw .invalid(path(), json, expected: expectation) }
    return value
  }

  public var json: JSONValue { .integer(Int64(self)) }
  public static var expectation: String { "an integer" }
}

extension Double: FieldContent {
  public static func read(
    _ json: JSONValue, path: @autoclosure () -> String
  ) throws(SignalingError) -> Double {
    guard let value = json.doubleValue else { throw .invalid(path(), json, expected: expectation) }
    return value
  }

  public var json: JSONValue { .double(self) }
  public static var expectation: String { "a number" }
}

/// A text of a fixed list.
public protocol FieldText: FieldContent, RawRepresentable<String>, CaseIterable {}

extension FieldText {
  public static func read(
    _ json: JSONValue, path: @autoclosure () -> String
  ) throws(SignalingError) -> Self {
    guard let value = json.stringValue.flatMap(Self.init(rawValue:)) else {
      throw .invalid(path(), json, expected: expectation)
    }
    return value
  }

  public var json: JSONValue { .string(rawValue) }

  public static var expectation: String {
    "one of " + allCases.map(\.rawValue).joined(separator: ", ")
  }
}

extension Array: FieldValue, FieldContent where Element: FieldContent {
  public typealias Content = [Element]

  public static func read(
    _ json: JSONValue, path: @autoclosure () -> String
  ) throws(SignalingError) -> [Element] {
    guard let values = json.arrayValue else { throw .invalid(path(), json, expected: expectation) }
    var elements: [Element] = []
    for (index, value) in values.enumerated() {
      elements.append(try Element.read(value, path: "\(path())[\(index)]"))
    }
    return elements
  }

  public var json: JSONValue { .array(map(\.json)) }
  public static var expectation: String { "an array, each element \(Element.expectation)" }

  public func check(path: String) throws(SignalingError) {
    for (index, element) in enumerated() { try element.check(path: "\(path)[\(index)]") }
  }

  public func unknownKeys(path: String) -> [String] {
    enumerated().flatMap { $1.unknownKeys(path: "\(path)[\($0)]") }
  }
}

/// An object whose keys are not known beforehand. A `null` counts as absent.
extension Dictionary: FieldValue, FieldContent where Key == String, Value: FieldContent {
  public typealias Content = [String: Value]

  public static func read(
    _ json: JSONValue, path: @autoclosure () -> String
  ) throws(SignalingError) -> [String: Value] {
    guard let members = json.objectValue else {
      throw .invalid(path(), json, expected: expectation)
    }
    var values: [String: Value] = [:]
    for (key, member) in members where !member.isNull {
      values[key] = try Value.read(member, path: "\(path()).\(key)")
    }
    return values
  }

  public var json: JSONValue { .object(mapValues(\.json)) }
  public static var expectation: String { "an object, each value \(Value.expectation)" }

  public func check(path: String) throws(SignalingError) {
    for (key, value) in self { try value.check(path: "\(path).\(key)") }
  }

  public func unknownKeys(path: String) -> [String] {
    sorted { $0.key < $1.key }.flatMap { $1.unknownKeys(path: "\(path).\($0)") }
  }
}
