/// What a node asks of the store that all nodes share. Each is done as a whole or not at all, whatever others ask meanwhile.
public enum ClusterRequest: Sendable, Hashable {
  /// The node is there, for the length of a lease from now on. Replied with `nodes`.
  case beat(ClusterNode)
  /// Which node has a channel: the one that has it, if that is there and doesn't drain, or else the candidate from now on. Replied with
  /// `placed`.
  case place(channel: String, candidate: String)
  /// The channels stay this node's. Replied with `lost`: those that others have meanwhile. A node that drains claims none anew.
  case keep([String], isDraining: Bool)
  /// The channels have nobody any more. Replied with `done`.
  case free([String])
  /// Which node has a channel. Replied with `found`.
  case find(channel: String)
  /// The node goes, and its channels are free. Replied with `done`.
  case leave
}

/// What the store replies.
public enum ClusterReply: Sendable, Hashable {
  case nodes([ClusterPeer])
  /// Of a node that drains or isn't there, nothing remains. `isNew`: the channel had no place before.
  case placed(id: String, url: String, remaining: Duration, isNew: Bool)
  case lost([String])
  /// nil where no node has it.
  case found(ClusterOwner?)
  case done
}

/// The node that has a channel.
public struct ClusterOwner: Sendable, Hashable {
  public var id: String
  public var apiURL: String?

  public init(id: String, apiURL: String?) {
    self.id = id
    self.apiURL = apiURL
  }
}
