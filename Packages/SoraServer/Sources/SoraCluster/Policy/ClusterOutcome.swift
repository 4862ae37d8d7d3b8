/// Where a client goes.
public enum ClusterDecision: Sendable, Hashable {
  /// It is taken here; `settle` must follow.
  case here
  /// Another node's signaling URL.
  case elsewhere(String)
  /// The channel isn't here, and nobody can tell where it is.
  case unavailable
}

/// Which node has a channel.
public enum ClusterLocation: Sendable, Hashable {
  case here
  case node(ClusterOwner)
  case nowhere
  /// The store doesn't answer.
  case unknown
}

/// What comes out of a `ClusterMember`.
public enum ClusterOutcome: Sendable, Hashable {
  case decided(UInt64, ClusterDecision)
  case located(UInt64, ClusterLocation)
  /// A sign of life has been given, or can't be.
  case beaten(UInt64)
  /// Another node has a channel that had its place here: its connections must go.
  case moved(String)
  /// The store answers, again.
  case linked
  /// The store doesn't answer any more, or hasn't yet.
  case unlinked(String)
  case left
}

/// What a node has decided since it began.
public struct ClusterCounts: Sendable, Hashable {
  /// Clients that were sent to other nodes.
  public var redirects: UInt64 = 0
  /// Clients that were turned away because nobody could tell where to go.
  public var unavailable: UInt64 = 0
  /// Channels that other nodes took while this one had connections in them.
  public var moved: UInt64 = 0
  /// Times that the store couldn't be asked.
  public var failures: UInt64 = 0
}
