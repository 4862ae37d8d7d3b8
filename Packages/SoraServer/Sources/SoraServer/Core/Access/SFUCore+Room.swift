extension SFUCore {
  /// Whether a channel has room for one more.
  func checkRoom(in channelID: String) throws(SFUObjection) {
    guard connections.count < configuration.maximumConnections else {
      throw SFUObjection(reason: "CONNECTION-LIMIT: the server has as many as it takes")
    }
    let members = channel(channelID)?.members.count ?? 0
    guard members < configuration.maximumChannelConnections else {
      throw SFUObjection(reason: "CONNECTION-LIMIT: the channel has as many as it takes")
    }
    // A newcomer is told of all members in one message, which has to be one that can be sent.
    let told = channel(channelID)?.metadataSize ?? 0
    guard told <= SFUNotification.mostMetadata else {
      throw SFUObjection(reason: "CONNECTION-LIMIT: the channel's metadata is as long as it may be")
    }
  }
}
