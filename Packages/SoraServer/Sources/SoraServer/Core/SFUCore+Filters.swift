public import SoraMedia
public import SoraSignalingMessages

/// How a forwarding filter is changed.
public enum SFUFilterChange: Sendable, Hashable {
  case create(ForwardingFilter)
  case update(ForwardingFilter)
  /// nil for the filter without a name.
  case delete(name: String?)

  func apply(to filters: inout ForwardingFilters) -> ForwardingFilters.Outcome {
    switch self {
    case .create(let filter): filters.create(filter)
    case .update(let filter): filters.update(filter)
    case .delete(let name): filters.delete(name: name)
    }
  }
}

/// What became of a change of a forwarding filter.
public enum SFUFilterOutcome: Sendable, Hashable {
  case done
  /// There is no such channel or connection.
  case unknownOwner
  case nameTaken
  case unknownName
  case tooMany

  init(_ outcome: ForwardingFilters.Outcome) {
    switch outcome {
    case .done: self = .done
    case .nameTaken: self = .nameTaken
    case .unknownName: self = .unknownName
    case .tooMany: self = .tooMany
    }
  }
}

/// A forwarding filter and whose it is.
public struct SFUFilterStatus: Sendable, Hashable {
  /// nil for the whole channel's.
  public var connectionID: String?
  public var filter: ForwardingFilter
}

// Forwarding filters from outside.
extension SFUCore {
  /// Changes a filter of a connection, or of a whole channel. Who is forwarded more or less by it is offered that.
  ///
  /// - Parameters:
  ///   - change: what becomes of which filter.
  ///   - channelID: the channel.
  ///   - connectionID: nil for the channel's.
  ///   - now: when it is changed.
  public func change(
    _ change: SFUFilterChange, channelID: String, connectionID: String?, at now: Instant
  ) -> SFUFilterOutcome {
    defer { deliver(at: now) }
    guard let channel = channels.first(where: { $0.id == channelID }) else { return .unknownOwner }
    let before = channel.members.map { ($0, $0.blockedTracks) }
    let outcome: ForwardingFilters.Outcome
    if let connectionID {
      guard let owner = channel.members.first(where: { $0.connectionID == connectionID }) else {
        return .unknownOwner
      }
      outcome = change.apply(to: &owner.downlink.filters)
    } else {
      outcome = change.apply(to: &channel.filters)
    }
    guard outcome == .done else { return SFUFilterOutcome(outcome) }
    for (member, blocked) in before {
      member.tellBlocked(since: blocked, at: now)
      member.synchronize(at: now)
      touch(member)
    }
    return .done
  }

  /// The filters of a channel and of its connections; nil where there is no such channel.
  public func filters(channelID: String) -> [SFUFilterStatus]? {
    guard let channel = channels.first(where: { $0.id == channelID }) else { return nil }
    return channel.filters.all.map { SFUFilterStatus(filter: $0) }
      + channel.members.flatMap { member in
        member.downlink.filters.all.map {
          SFUFilterStatus(connectionID: member.connectionID, filter: $0)
        }
      }
  }
}
