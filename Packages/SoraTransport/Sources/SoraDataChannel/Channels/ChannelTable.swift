/// The channels of a session: by name, by stream, and which stream a new one gets.
struct ChannelTable {
  private var channels: [DataChannelID: Channel] = [:]
  private var channelOfStream: [UInt16: DataChannelID] = [:]
  private var next = 0
  /// Where the search for a free stream begins, of even and of odd ones.
  private var nextStream: [UInt16] = [0, 1]

  /// The highest stream of a data channel (RFC 8832 §4: 65535 is reserved).
  static let lastStream: UInt16 = 65534

  var count: Int { channels.count }
  /// In the order they were made.
  var ids: [DataChannelID] { channels.keys.sorted { $0.number < $1.number } }

  subscript(id: DataChannelID) -> Channel? { channels[id] }

  subscript(stream: UInt16) -> DataChannelID? { channelOfStream[stream] }

  mutating func insert(
    _ parameters: DataChannelParameters, stream: UInt16?, isNegotiated: Bool, isKnownToPeer: Bool
  ) -> DataChannelID {
    let id = DataChannelID(number: next)
    next += 1
    channels[id] = Channel(
      id: id, parameters: parameters, isNegotiated: isNegotiated, stream: stream,
      isKnownToPeer: isKnownToPeer)
    if let stream { channelOfStream[stream] = id }
    return id
  }

  @discardableResult
  mutating func remove(_ id: DataChannelID) -> Channel? {
    guard let channel = channels.removeValue(forKey: id) else { return nil }
    if let stream = channel.stream {
      channelOfStream[stream] = nil
      let parity = Int(stream & 1)
      nextStream[parity] = min(nextStream[parity], stream)
    }
    return channel
  }

  /// Gives a channel the lowest free stream of its end: even ones are the DTLS client's, odd ones the server's (RFC 8832 §6).
  ///
  /// - Parameter limit: how many streams there are.
  /// - Returns: the stream; nil where none is free.
  mutating func assignStream(_ id: DataChannelID, isClient: Bool, limit: UInt16) -> UInt16? {
    let parity = isClient ? 0 : 1
    var stream = Int(nextStream[parity])
    while stream < Int(limit), stream <= Int(Self.lastStream) {
      let candidate = UInt16(stream)
      if channelOfStream[candidate] == nil {
        channelOfStream[candidate] = id
        channels[id]?.stream = candidate
        nextStream[parity] = candidate
        return candidate
      }
      stream += 2
    }
    return nil
  }
}
