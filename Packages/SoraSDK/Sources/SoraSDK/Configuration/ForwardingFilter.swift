import SoraSignaling

/// What a forwarding rule looks at.
public enum ForwardingFilterRuleField: String, Encodable, Sendable {
  case connectionId = "connection_id"
  case clientId = "client_id"
  case kind
}

/// How a forwarding rule compares.
public enum ForwardingFilterRuleOperator: String, Encodable, Sendable {
  case isIn = "is_in"
  case isNotIn = "is_not_in"
}

/// What happens to flows that match.
public enum ForwardingFilterAction: String, Encodable, Sendable {
  case block
  case allow
}

/// One condition of a forwarding filter.
public struct ForwardingFilterRule: Encodable, Sendable {
  public let field: ForwardingFilterRuleField
  public let `operator`: ForwardingFilterRuleOperator
  public let values: [String]

  public init(
    field: ForwardingFilterRuleField, operator: ForwardingFilterRuleOperator, values: [String]
  ) {
    self.field = field
    self.operator = `operator`
    self.values = values
  }
}

/// Which of the channel's media a connection doesn't want to receive.
public struct ForwardingFilter: Encodable, Sendable {
  public var name: String?
  /// Filters are evaluated in the order of their priority.
  public var priority: Int?
  public var action: ForwardingFilterAction?
  /// Alternatives (outer) of conditions that must all hold (inner).
  public var rules: [[ForwardingFilterRule]]
  public var version: String?
  var metadataForm = FreeForm()
  /// Any JSON; encoded when it is set.
  public var metadata: (any Encodable)? {
    get { metadataForm.encodable }
    set { metadataForm = FreeForm(encoding: newValue) }
  }

  public init(
    name: String? = nil, priority: Int? = nil, action: ForwardingFilterAction? = nil,
    rules: [[ForwardingFilterRule]], version: String? = nil, metadata: (any Encodable)? = nil
  ) {
    self.name = name
    self.priority = priority
    self.action = action
    self.rules = rules
    self.version = version
    self.metadata = metadata
  }

  public func encode(to encoder: any Encoder) throws { try message.json.encode(to: encoder) }
}

extension ForwardingFilter: Decodable {
  /// Reads a filter as the protocol writes it, such as one of an app's settings. Unknown keys are left out.
  public init(from decoder: any Decoder) throws {
    self.init(try SoraSignaling.ForwardingFilter.read(try JSONValue(from: decoder), path: "$"))
  }
}

// The SDK's words in signaling's, and back.

extension ForwardingFilter {
  /// The filter in the words of signaling.
  var message: SoraSignaling.ForwardingFilter {
    SoraSignaling.ForwardingFilter(rules: rules.map { $0.map(\.message) }) {
      $0.name = name
      $0.priority = priority
      $0.action = action.map { $0 == .block ? .block : .allow }
      $0.version = version
      $0.metadata = metadataForm.json
    }
  }

  init(_ message: SoraSignaling.ForwardingFilter) {
    self.init(
      name: message.name, priority: message.priority,
      action: message.action.map { $0 == .block ? .block : .allow },
      rules: message.rules.map { $0.map(ForwardingFilterRule.init) }, version: message.version)
    metadataForm = FreeForm(json: message.metadata)
  }
}

extension ForwardingFilterRule {
  fileprivate var message: ForwardingRule {
    let field: ForwardingRuleFields.Subject =
      switch field {
      case .connectionId: .connectionID
      case .clientId: .clientID
      case .kind: .kind
      }
    return ForwardingRule(
      field: field, operator: self.operator == .isIn ? .isIn : .isNotIn, values: values)
  }

  fileprivate init(_ message: ForwardingRule) {
    let field: ForwardingFilterRuleField =
      switch message.field {
      case .connectionID: .connectionId
      case .clientID: .clientId
      case .kind: .kind
      }
    self.init(
      field: field, operator: message.operator == .isIn ? .isIn : .isNotIn, values: message.values)
  }
}
