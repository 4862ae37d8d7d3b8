public import SoraSignalingMessages

/// Some connections of a channel: all, or those of a client, of a role, or one.
public struct SFUSelection: Sendable, Hashable {
  public var channelID: String
  public var clientID: String?
  public var connectionID: String?
  public var role: SignalingRole?

  public init(
    channelID: String, clientID: String? = nil, connectionID: String? = nil,
    role: SignalingRole? = nil
  ) {
    self.channelID = channelID
    self.clientID = clientID
    self.connectionID = connectionID
    self.role = role
  }
}
