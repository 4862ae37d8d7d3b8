import SoraMedia
import SoraWire

extension SFUCore {
  /// Whether there is a place for one more client, which need not become a connection; somebody may have to go for it.
  func hasPlace(for network: ClientNetwork?, at now: Instant) -> Bool {
    guard clients.count >= configuration.maximumPeers else { return true }
    let guests = clients.unconnected.map { ($0, clients.network(of: $0)) }
    guard let leaver = ClientNetwork.leaver(of: guests, for: network) else { return false }
    refuse(leaver, SFUClose(code: 1013, reason: "SERVER-FULL"), at: now)
    return true
  }

  private static let full = SFUObjection(
    reason: "CONNECTION-LIMIT: the server has as many as it takes")

  /// Makes room for one more in a channel. Where the server has none, a connection that isn't established yet may have to go.
  func makeRoom(
    in channelID: String, for network: ClientNetwork?, at now: Instant
  ) throws(SFUObjection) {
    try checkRoom(in: channelID, for: network)?.end(.refused(Self.full.reason), at: now)
  }

  /// Checks that a channel has room for one more.
  ///
  /// - Returns: the connection that isn't established yet and has to go for it; nil where nobody has to.
  @discardableResult
  func checkRoom(
    in channelID: String, for network: ClientNetwork?
  ) throws(SFUObjection) -> SFUConnection? {
    let connections = connections
    if let network,
      clients.connectionCount(of: network) >= configuration.maximumNetworkConnections
    {
      throw SFUObjection(reason: "CONNECTION-LIMIT: the address has as many as it may")
    }
    let channel = self.channel(channelID)
    guard channel?.members.count ?? 0 < configuration.maximumChannelConnections else {
      throw SFUObjection(reason: "CONNECTION-LIMIT: the channel has as many as it takes")
    }
    // A newcomer is told of all members in one message, which has to be one that can be sent.
    guard channel?.metadataSize ?? 0 <= SFUNotification.mostMetadata else {
      throw SFUObjection(reason: "CONNECTION-LIMIT: the channel's metadata is as long as it may be")
    }
    guard connections.count >= configuration.maximumConnections else { return nil }
    let beginners = connections.filter { !$0.isConnected }
      .map { ($0, clients.network(of: $0.signaling.peer)) }
    guard let leaver = ClientNetwork.leaver(of: beginners, for: network) else { throw Self.full }
    return leaver
  }
}
