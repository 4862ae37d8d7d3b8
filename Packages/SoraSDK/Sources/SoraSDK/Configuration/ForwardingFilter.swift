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

  private enum CodingKeys: String, CodingKey {
    case name, priority, action, rules, version, metadata
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encodeIfPresent(name, forKey: .name)
    try container.encodeIfPresent(priority, forKey: .priority)
    try container.encodeIfPresent(action, forKey: .action)
    try container.encode(rules, forKey: .rules)
    try container.encodeIfPresent(version, forKey: .version)
    try container.encodeIfPresent(metadataForm.json, forKey: .metadata)
  }
}

extension ForwardingFilter {
  /// The filter in the words of signaling.
  var message: SoraSignaling.ForwardingFilter {
    typealias Message = SoraSignaling.ForwardingFilter
    let rules = rules.map { list in
      list.map { rule in
        let field: Message.Rule.Field =
          switch rule.field {
          case .connectionId: .connectionID
          case .clientId: .clientID
          case .kind: .kind
          }
        return Message.Rule(
          field: field, operator: rule.operator == .isIn ? .isIn : .isNotIn, values: rule.values)
      }
    }
    return Message(
      name: name, priority: priority, action: action.map { $0 == .block ? .block : .allow },
      rules: rules, version: version, metadata: metadataForm.json)
  }
}
