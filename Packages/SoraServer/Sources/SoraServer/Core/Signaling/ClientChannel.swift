import SoraDataChannel
import SoraSignalingChannels
import SoraSignalingMessages
import SoraTransport

/// One data channel of a client: a label of signaling's, or one of its app's.
struct ClientChannel {
  /// How many an app may have: nobody needs more.
  static let mostLabels = 64
  let label: String
  let parameters: DataChannelParameters
  /// As the client sees it.
  let direction: DataChannelDirection
  let isCompressed: Bool
  /// Whether the sender's id stands before what the client receives.
  let hasHeader: Bool
  /// nil before it was made.
  var id: DataChannelID?
  /// Whether the client has said that it knows the channel, or has sent on it.
  var isKnown = false

  /// One of signaling's: in order and reliable. Session descriptions and statistics have some ten kilobytes each, and are compressed: as
  /// text a client's statistics would keep a link of 500 kbit/s for a quarter of a second.
  init(_ label: SignalingLabel) {
    self.label = label.rawValue
    parameters = DataChannelParameters(label: label.rawValue, priority: .high)
    direction = .sendrecv
    isCompressed = label == .signaling || label == .stats
    hasHeader = false
  }

  /// One that the client asks for.
  ///
  /// - Throws: why there can't be such a channel.
  init(_ options: DataChannelOptions) throws(SFUObjection) {
    label = options.label
    guard SignalingLabel.isMessaging(label), label.utf8.count <= 255 else {
      throw SFUObjection(
        reason: "INVALID-DATA-CHANNELS: a label begins with # and has 255 bytes at most")
    }
    // One that can't be opened would keep the client from ever being switched.
    guard options.protocol?.utf8.count ?? 0 <= 255 else {
      throw SFUObjection(reason: "INVALID-DATA-CHANNELS: protocol has 255 bytes at most")
    }
    guard let direction = options.direction else {
      throw SFUObjection(
        reason: "INVALID-DATA-CHANNELS: direction must be sendrecv, sendonly or recvonly")
    }
    self.direction = direction
    isCompressed = options.compress ?? false
    let reliability: DataChannelReliability
    switch (options.maxPacketLifeTime, options.maxRetransmits) {
    case (nil, nil): reliability = .reliable
    case (let time?, nil): reliability = .maximumLifetime(milliseconds: UInt32(clamping: time))
    case (nil, let count?): reliability = .maximumRetransmits(UInt16(clamping: count))
    case (.some, .some):
      throw SFUObjection(
        reason:
          "INVALID-DATA-CHANNELS: max_packet_life_time and max_retransmits exclude each other")
    }
    parameters = DataChannelParameters(
      label: label, protocol: options.protocol ?? "", isOrdered: options.ordered ?? true,
      reliability: reliability)
    let header = options.header ?? []
    guard header.count <= 1, header.allSatisfy({ $0.type == SenderHeader.type }) else {
      throw SFUObjection(
        reason: "INVALID-DATA-CHANNELS: header may have one part, sender_connection_id")
    }
    hasHeader = !header.isEmpty
  }

  /// What `offer.data_channels` says of it.
  var announced: DataChannelOptions {
    DataChannelOptions(label: label) {
      $0.direction = direction
      $0.compress = isCompressed
      $0.ordered = parameters.isOrdered
      switch parameters.reliability {
      case .reliable: break
      case .maximumRetransmits(let count): $0.maxRetransmits = Int(count)
      case .maximumLifetime(let milliseconds): $0.maxPacketLifeTime = Int(milliseconds)
      }
      if !parameters.protocol.isEmpty { $0.protocol = parameters.protocol }
      if hasHeader {
        $0.header = [DataChannelHeader(type: SenderHeader.type, length: SenderHeader.length)]
      }
    }
  }
}
