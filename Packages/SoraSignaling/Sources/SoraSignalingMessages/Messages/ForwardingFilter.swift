/// Which media of others the server shall forward to this connection.
public typealias ForwardingFilter = SignalingObject<ForwardingFilterFields>

extension ForwardingFilter {
  /// - Parameters:
  ///   - rules: what is matched: all of an inner list, any of the outer.
  ///   - change: sets further fields.
  public init(
    rules: [[ForwardingRule]], _ change: (inout ForwardingFilter) -> Void = { _ in }
  ) {
    self.init(members: [:])
    self.rules = rules
    change(&self)
  }
}

/// The keys of `connect.forwarding_filter` and of one element of `connect.forwarding_filters`.
public struct ForwardingFilterFields: SignalingFields {
  public static let schema = Schema(Self())

  /// Absent means `default`.
  public let name = Field<String?>("name")
  /// Absent means 32767.
  public let priority = Field<Int?>("priority")
  public let action = Field<ForwardingFilterAction?>("action")
  /// Alternatives, each a list of rules that must all hold.
  public let rules = Field<[[ForwardingRule]]>("rules")
  public let version = Field<String?>("version")
  public let metadata = Field<JSONValue?>("metadata")
}

/// What happens to media that a filter matches.
public enum ForwardingFilterAction: String, FieldText {
  case block, allow
}

/// One condition of a forwarding filter, on the sender of media.
public typealias ForwardingRule = SignalingObject<ForwardingRuleFields>

extension ForwardingRule {
  public init(
    field: ForwardingRuleFields.Subject, operator: ForwardingRuleFields.Operator, values: [String]
  ) {
    self.init(members: [:])
    self.field = field
    self.operator = `operator`
    self.values = values
  }
}

/// The keys of one rule of a forwarding filter.
public struct ForwardingRuleFields: SignalingFields {
  /// What the rule looks at.
  public enum Subject: String, FieldText {
    case connectionID = "connection_id"
    case clientID = "client_id"
    case kind
  }

  public enum Operator: String, FieldText {
    case isIn = "is_in"
    case isNotIn = "is_not_in"
  }

  public static let schema = Schema(Self())

  public let field = Field<Subject>("field")
  public let `operator` = Field<Operator>("operator")
  public let values = Field<[String]>("values")
}
