/// One key of an object of the protocol: its name, its type and the values it may have.
///
/// A key is declared once, as a property of the object's `SignalingFields`. Reading, writing, checking and access by name
/// follow from that line. Its type says whether it may be absent: `Field<Int?>` may; `Field<Int>` must be there, unless
/// a value is given that stands for its absence.
public struct Field<Value: FieldValue>: Sendable {
  /// The key on the wire.
  public let name: String
  private let rule: FieldRule<Value.Content>?
  private let absent: Value.Content?

  /// - Parameters:
  ///   - name: the key on the wire.
  ///   - rule: which values of the type are allowed; nil allows all. Only `check` applies it, so that a reader takes
  ///     what a newer peer sends.
  ///   - absent: what an absent key means; nil makes a key whose type isn't optional a required one.
  public init(
    _ name: String, _ rule: FieldRule<Value.Content>? = nil, absent: Value.Content? = nil
  ) {
    self.name = name
    self.rule = rule
    self.absent = absent
  }

  /// The value in an object that has been read or built with all of its required keys.
  func value(in members: [String: JSONValue]) -> Value {
    let content = members[name].flatMap { try? Value.Content.read($0, path: name) }
    guard let value = Value(content: content ?? absent) else {
      preconditionFailure("an object was built without its required key \(name)")
    }
    return value
  }

  func put(_ value: Value, into members: inout [String: JSONValue]) {
    members[name] = value.content?.json
  }
}

/// A field of any type, for what is done with all fields of an object.
protocol AnyField: Sendable {
  var name: String { get }

  /// Puts the value into its one form: absent instead of `null`, `500` instead of `500.0`.
  func normalize(
    _ members: inout [String: JSONValue], path: () -> String
  ) throws(SignalingError)

  /// Applies the rule to a value that `normalize` has accepted.
  func check(_ members: [String: JSONValue], path: String) throws(SignalingError)

  /// The paths of keys in the value that this version doesn't know.
  func unknownKeys(in members: [String: JSONValue], path: String) -> [String]
}

extension Field: AnyField {
  func normalize(
    _ members: inout [String: JSONValue], path: () -> String
  ) throws(SignalingError) {
    // Several senders write null for what they don't know.
    if let json = members[name], !json.isNull || Value.Content.isNullAllowed {
      let normal = try Value.Content.read(json, path: "\(path()).\(name)").json
      switch (json, normal) {
      case (.string, .string), (.bool, .bool), (.integer, .integer), (.double, .double): break
      default: members[name] = normal
      }
    } else if absent != nil || Value(content: nil) != nil {
      members[name] = absent?.json
    } else {
      throw .missing("\(path()).\(name)", expected: Value.Content.expectation)
    }
  }

  func check(_ members: [String: JSONValue], path: String) throws(SignalingError) {
    guard let content = value(in: members).content else { return }
    let path = "\(path).\(name)"
    if let rule, !rule.isMet(content) {
      throw .notAllowed(path, content.json, expected: rule.expectation)
    }
    try content.check(path: path)
  }

  func unknownKeys(in members: [String: JSONValue], path: String) -> [String] {
    switch members[name] {
    case .object, .array:
      value(in: members).content?.unknownKeys(path: "\(path).\(name)") ?? []
    default: []
    }
  }
}

/// Which values of a type a field may have.
public struct FieldRule<Content>: Sendable {
  /// What an error asks for, such as `an integer from 1 to 8`.
  let expectation: String
  let isMet: @Sendable (Content) -> Bool

  public init(_ expectation: String, isMet: @escaping @Sendable (Content) -> Bool) {
    self.expectation = expectation
    self.isMet = isMet
  }
}

extension FieldRule where Content == Int {
  public static func range(_ range: ClosedRange<Int>) -> FieldRule {
    FieldRule("an integer from \(range.lowerBound) to \(range.upperBound)") { range.contains($0) }
  }
}

extension FieldRule where Content == String {
  /// How long the text is in UTF-8.
  public static func bytes(_ range: ClosedRange<Int>) -> FieldRule {
    FieldRule("a string of \(range.lowerBound) to \(range.upperBound) bytes") {
      range.contains($0.utf8.count)
    }
  }

  public static func hexadecimalDigits(_ count: Int) -> FieldRule {
    FieldRule("\(count) hexadecimal digits") { text in
      text.utf8.count == count && text.unicodeScalars.allSatisfy(\.properties.isASCIIHexDigit)
    }
  }

  public static func prefix(_ prefix: String) -> FieldRule {
    FieldRule("a string that starts with \(prefix)") { $0.hasPrefix(prefix) }
  }
}
