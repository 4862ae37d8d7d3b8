/// A channel as its session keeps it. Changed in place, message by message.
final class Channel {
  enum Phase {
    /// There is no association yet, or no number for it.
    case connecting
    case open
    /// Each end resets what it sends; the channel is gone when both have.
    case closing(hasReset: Bool, peerHasReset: Bool)
  }

  let id: DataChannelID
  let parameters: DataChannelParameters
  /// Both ends know of it: nobody tells (RFC 8831 §6.5).
  let isNegotiated: Bool
  var stream: UInt16?
  var phase = Phase.connecting
  /// The peer knows the channel. Before that its messages have to keep behind DATA_CHANNEL_OPEN (RFC 8832 §6).
  var isKnownToPeer: Bool
  var counters = DataChannelCounters()
  var bufferedAmountLowThreshold = 0

  init(
    id: DataChannelID, parameters: DataChannelParameters, isNegotiated: Bool, stream: UInt16?,
    isKnownToPeer: Bool
  ) {
    self.id = id
    self.parameters = parameters
    self.isNegotiated = isNegotiated
    self.stream = stream
    self.isKnownToPeer = isKnownToPeer
  }

  var state: DataChannelState {
    switch phase {
    case .connecting: .connecting
    case .open: .open
    case .closing: .closing
    }
  }

  var isOpen: Bool { if case .open = phase { true } else { false } }
}
