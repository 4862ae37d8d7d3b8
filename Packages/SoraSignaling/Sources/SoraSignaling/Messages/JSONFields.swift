/// Reads the keys of one JSON object, with errors that name the key by its path.
///
/// `null` counts as absent except where any JSON is allowed: several senders write it for
/// what they don't know.
struct JSONFieldReader {
  let path: String
  private(set) var rest: [String: JSONValue]
  private let members: [String: JSONValue]

  init(_ value: JSONValue, path: String) throws(SignalingError) {
    guard case .object(let members) = value else {
      throw .invalid(path, value, expected: "an object")
    }
    self.path = path
    self.members = members
    rest = members
    rest["type"] = nil
  }

  /// For a nested object, whose own `type` key is no message type.
  init(nested value: JSONValue, path: String) throws(SignalingError) {
    try self.init(value, path: path)
    rest = members
  }

  private mutating func take(_ key: String) -> JSONValue? {
    rest[key] = nil
    guard let value = members[key], !value.isNull else { return nil }
    return value
  }

  private func name(_ key: String) -> String { "\(path).\(key)" }

  mutating func any(_ key: String) -> JSONValue? {
    rest[key] = nil
    return members[key]
  }

  mutating func string(_ key: String) throws(SignalingError) -> String? {
    guard let value = take(key) else { return nil }
    guard let string = value.stringValue else {
      throw .invalid(name(key), value, expected: "a string")
    }
    return string
  }

  mutating func requiredString(_ key: String) throws(SignalingError) -> String {
    guard let value = try string(key) else { throw .missing(name(key), expected: "a string") }
    return value
  }

  mutating func bool(_ key: String) throws(SignalingError) -> Bool? {
    guard let value = take(key) else { return nil }
    guard let bool = value.boolValue else {
      throw .invalid(name(key), value, expected: "true or false")
    }
    return bool
  }

  mutating func int(_ key: String) throws(SignalingError) -> Int? {
    guard let value = take(key) else { return nil }
    guard let int = value.intValue else {
      throw .invalid(name(key), value, expected: "an integer")
    }
    return int
  }

  mutating func requiredInt(_ key: String) throws(SignalingError) -> Int {
    guard let value = try int(key) else { throw .missing(name(key), expected: "an integer") }
    return value
  }

  mutating func double(_ key: String) throws(SignalingError) -> Double? {
    guard let value = take(key) else { return nil }
    guard let double = value.doubleValue else {
      throw .invalid(name(key), value, expected: "a number")
    }
    return double
  }

  /// One of the texts of an enumeration.
  mutating func text<Value: RawRepresentable<String> & CaseIterable>(
    _ key: String, as type: Value.Type = Value.self
  ) throws(SignalingError) -> Value? {
    guard let value = take(key) else { return nil }
    guard let string = value.stringValue, let text = Value(rawValue: string) else {
      let allowed = Value.allCases.map(\.rawValue).joined(separator: ", ")
      throw .invalid(name(key), value, expected: "one of \(allowed)")
    }
    return text
  }

  mutating func requiredText<Value: RawRepresentable<String> & CaseIterable>(
    _ key: String, as type: Value.Type = Value.self
  ) throws(SignalingError) -> Value {
    guard let value = try text(key, as: type) else {
      let allowed = Value.allCases.map(\.rawValue).joined(separator: ", ")
      throw .missing(name(key), expected: "one of \(allowed)")
    }
    return value
  }

  mutating func strings(_ key: String) throws(SignalingError) -> [String]? {
    try array(key) { (value: JSONValue, path: String) throws(SignalingError) -> String in
      guard let string = value.stringValue else {
        throw .invalid(path, value, expected: "a string")
      }
      return string
    }
  }

  mutating func values(_ key: String) throws(SignalingError) -> [JSONValue]? {
    guard let value = take(key) else { return nil }
    guard let array = value.arrayValue else {
      throw .invalid(name(key), value, expected: "an array")
    }
    return array
  }

  mutating func array<Element>(
    _ key: String, _ convert: (JSONValue, String) throws(SignalingError) -> Element
  ) throws(SignalingError) -> [Element]? {
    guard let array = try values(key) else { return nil }
    var elements: [Element] = []
    for (index, value) in array.enumerated() {
      elements.append(try convert(value, "\(name(key))[\(index)]"))
    }
    return elements
  }

  mutating func nested<Value>(
    _ key: String, _ convert: (JSONValue, String) throws(SignalingError) -> Value
  ) throws(SignalingError) -> Value? {
    guard let value = take(key) else { return nil }
    return try convert(value, name(key))
  }
}

/// Collects the keys of one JSON object; a value that is `nil` leaves its key out.
struct JSONFieldWriter {
  private(set) var members: [String: JSONValue]

  /// - Parameter additional: keys that the type does not know; typed ones win over them.
  init(additional: [String: JSONValue] = [:]) { members = additional }

  var json: JSONValue { .object(members) }

  mutating func set(_ key: String, _ value: JSONValue?) {
    if let value { members[key] = value }
  }
  mutating func set(_ key: String, _ value: String?) { set(key, value.map { .string($0) }) }
  mutating func set(_ key: String, _ value: Bool?) { set(key, value.map { .bool($0) }) }
  mutating func set(_ key: String, _ value: Int?) { set(key, value.map { .integer(Int64($0)) }) }
  mutating func set(_ key: String, _ value: Double?) { set(key, value.map { .double($0) }) }
  mutating func set(_ key: String, _ value: [String]?) {
    set(key, value.map { .array($0.map { .string($0) }) })
  }
  mutating func set(_ key: String, _ value: [JSONValue]?) { set(key, value.map { .array($0) }) }
  mutating func set<Value: RawRepresentable<String>>(_ key: String, _ value: Value?) {
    set(key, value?.rawValue)
  }
}

/// What every message and every nested object offers: reading from and writing to JSON.
protocol JSONFields {
  /// - Parameter path: where the object stands, for errors.
  init(json: JSONValue, path: String) throws(SignalingError)
  var json: JSONValue { get }
}
