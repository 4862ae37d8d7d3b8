import SoraMedia
import SoraWire

/// A client's channels, by their numbers from 0x4000 on: a number is never used for another peer (RFC 8656 §12).
struct TURNChannels {
  private struct Channel {
    let peer: TransportAddress
    var isBound = false
    var refreshAt: Instant?
  }

  private var channels: [Channel] = []

  var count: Int { channels.count }

  func contains(_ peer: TransportAddress) -> Bool { channels.contains { $0.peer == peer } }

  /// Whether one leads to an address.
  func reaches(_ ip: IPAddress) -> Bool { channels.contains { $0.peer.ip == ip } }

  /// The peer of a channel, and its number on the wire.
  func peer(of index: Int) -> (peer: TransportAddress, number: UInt16)? {
    channels.indices.contains(index) ? (channels[index].peer, Self.number(index)) : nil
  }

  /// Whose a number on the wire is. What comes before the answer to ChannelBind is already from its peer.
  func peer(number: UInt16) -> TransportAddress? {
    let index = Int(number) - Int(TURNLimits.firstChannel)
    return channels.indices.contains(index) ? channels[index].peer : nil
  }

  /// The number by which a peer is reached; `nil` without a channel that is bound.
  func boundNumber(of peer: TransportAddress) -> UInt16? {
    for index in channels.indices where channels[index].isBound && channels[index].peer == peer {
      return Self.number(index)
    }
    return nil
  }

  private static func number(_ index: Int) -> UInt16 {
    TURNLimits.firstChannel + UInt16(truncatingIfNeeded: index)
  }

  /// Adds a channel, and returns which it is.
  mutating func add(_ peer: TransportAddress) -> Int {
    channels.append(Channel(peer: peer))
    return channels.count - 1
  }

  /// The server has bound one.
  mutating func bound(_ index: Int, at now: Instant) {
    guard channels.indices.contains(index) else { return }
    channels[index].isBound = true
    // RFC 8656 §12: ten minutes, but its permission only five; the permission has a timer of its own.
    channels[index].refreshAt = now + TURNLimits.channelLifetime - .seconds(60)
  }

  /// The server refuses one. Indications still carry what the permission allows.
  mutating func refused(_ index: Int) {
    if channels.indices.contains(index) { channels[index].isBound = false }
  }

  mutating func askAgain(_ index: Int, at instant: Instant) {
    if channels.indices.contains(index) { channels[index].refreshAt = instant }
  }

  /// Those that the server is to be asked for now; each once.
  mutating func takeDue(at now: Instant) -> [Int] {
    var due: [Int] = []
    for index in channels.indices {
      guard let at = channels[index].refreshAt, at <= now else { continue }
      channels[index].refreshAt = nil
      due.append(index)
    }
    return due
  }

  var nextDeadline: Instant? {
    var deadline: Instant?
    for channel in channels { deadline = earliest(deadline, channel.refreshAt) }
    return deadline
  }
}
