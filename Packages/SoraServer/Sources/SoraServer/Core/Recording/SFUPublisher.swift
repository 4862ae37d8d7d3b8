/// Who a published frame is of.
public struct SFUPublisher: Sendable, Hashable {
  public let channelID: String
  /// Of the channel, from its first member's coming to its last one's going.
  public let sessionID: String
  public let connectionID: String
  public let clientID: String
  /// What it publishes; nil for what it doesn't.
  public let videoCodec: String?
  public let audioCodec: String?
}
