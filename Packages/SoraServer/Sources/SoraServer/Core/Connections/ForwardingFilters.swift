package import SoraMedia
package import SoraSignalingMessages

/// Which media of others a connection, or everybody in a channel, isn't forwarded. Plain memory.
package struct ForwardingFilters {
  /// What became of a change.
  package enum Outcome: Hashable, Sendable { case done, nameTaken, unknownName, tooMany }

  private static let most = 64
  private static let standardName = "default"
  private static let standardPriority = 32_767

  /// In the order in which they are asked: the smallest priority first.
  package private(set) var all: [ForwardingFilter] = []

  package init() {}

  private static func name(of filter: ForwardingFilter) -> String {
    filter.name ?? standardName
  }

  /// Adds a filter under a name that is free.
  package mutating func create(_ filter: ForwardingFilter) -> Outcome {
    let name = Self.name(of: filter)
    guard !all.contains(where: { Self.name(of: $0) == name }) else { return .nameTaken }
    guard all.count < Self.most else { return .tooMany }
    all.append(filter)
    sort()
    return .done
  }

  /// Puts a filter in the place of the one that has its name.
  package mutating func update(_ filter: ForwardingFilter) -> Outcome {
    let name = Self.name(of: filter)
    guard let index = all.firstIndex(where: { Self.name(of: $0) == name }) else {
      return .unknownName
    }
    all[index] = filter
    sort()
    return .done
  }

  /// Stable: of one priority the older comes first.
  private mutating func sort() {
    all.sort { ($0.priority ?? Self.standardPriority) < ($1.priority ?? Self.standardPriority) }
  }

  /// - Parameter name: nil for the name of those that have none.
  package mutating func delete(name: String?) -> Outcome {
    let name = name ?? Self.standardName
    guard let index = all.firstIndex(where: { Self.name(of: $0) == name }) else {
      return .unknownName
    }
    all.remove(at: index)
    return .done
  }

  /// Whether a medium of a sender is forwarded. The first filter that it matches decides; where none does, it is unless filters say
  /// what alone may pass.
  package func forwards(_ kind: MediaKind, connectionID: String, clientID: String) -> Bool {
    for filter in all
    where filter.matches(kind, connectionID: connectionID, clientID: clientID) {
      return filter.action == .allow
    }
    return !all.contains { $0.action == .allow }
  }
}

extension ForwardingFilter {
  /// Whether all rules of one of its lists hold.
  fileprivate func matches(_ kind: MediaKind, connectionID: String, clientID: String) -> Bool {
    self.rules.contains { rules in
      rules.allSatisfy { rule in
        let value =
          switch rule.field {
          case .connectionID: connectionID
          case .clientID: clientID
          case .kind: kind.rawValue
          }
        return rule.values.contains(value) == (rule.operator == .isIn)
      }
    }
  }
}
