/// Which media of others the server shall forward to this connection.
public struct ForwardingFilter: Sendable, Hashable, JSONFields {
  public enum Action: String, Sendable, Hashable, CaseIterable {
    case block, allow
  }

  public struct Rule: Sendable, Hashable, JSONFields {
    public enum Field: String, Sendable, Hashable, CaseIterable {
      case connectionID = "connection_id"
      case clientID = "client_id"
      case kind
    }

    public enum Operator: String, Sendable, Hashable, CaseIterable {
      case isIn = "is_in"
      case isNotIn = "is_not_in"
    }

    public var field: Field
    public var `operator`: Operator
    public var values: [String]

    public init(field: Field, operator: Operator, values: [String]) {
      self.field = field
      self.operator = `operator`
      self.values = values
    }

    init(json: JSONValue, path: String) throws(SignalingError) {
      var reader = try JSONFieldReader(nested: json, path: path)
      field = try reader.requiredText("field")
      self.operator = try reader.requiredText("operator")
      guard let values = try reader.strings("values") else {
        throw .missing("\(path).values", expected: "an array of strings")
      }
      self.values = values
    }

    var json: JSONValue {
      var writer = JSONFieldWriter()
      writer.set("field", field)
      writer.set("operator", self.operator)
      writer.set("values", values)
      return writer.json
    }
  }

  /// Absent means `default`.
  public var name: String?
  /// Absent means 32767.
  public var priority: Int?
  public var action: Action?
  /// Any of the lists, each with all of its rules.
  public var rules: [[Rule]]
  public var version: String?
  public var metadata: JSONValue?

  public init(
    name: String? = nil, priority: Int? = nil, action: Action? = nil, rules: [[Rule]],
    version: String? = nil, metadata: JSONValue? = nil
  ) {
    self.name = name
    self.priority = priority
    self.action = action
    self.rules = rules
    self.version = version
    self.metadata = metadata
  }

  init(json: JSONValue, path: String) throws(SignalingError) {
    var reader = try JSONFieldReader(nested: json, path: path)
    name = try reader.string("name")
    priority = try reader.int("priority")
    action = try reader.text("action")
    let lists = try reader.array("rules") {
      (list: JSONValue, path: String) throws(SignalingError) -> [Rule] in
      guard let elements = list.arrayValue else {
        throw .invalid(path, list, expected: "an array of rules")
      }
      var rules: [Rule] = []
      for (index, element) in elements.enumerated() {
        rules.append(try Rule(json: element, path: "\(path)[\(index)]"))
      }
      return rules
    }
    guard let lists else {
      throw .missing("\(path).rules", expected: "an array of arrays of rules")
    }
    rules = lists
    version = try reader.string("version")
    metadata = reader.any("metadata")
  }

  var json: JSONValue {
    var writer = JSONFieldWriter()
    writer.set("name", name)
    writer.set("priority", priority)
    writer.set("action", action)
    writer.set("rules", .array(rules.map { .array($0.map(\.json)) }))
    writer.set("version", version)
    writer.set("metadata", metadata)
    return writer.json
  }
}
