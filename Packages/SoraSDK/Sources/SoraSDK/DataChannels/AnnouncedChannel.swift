import SoraSignaling
import SoraSignalingChannels
import SoraWire

/// What the server's offer says of one data channel. Of one that it doesn't list: what holds where nothing is said.
struct AnnouncedChannel: Sendable, Hashable {
  let label: String
  /// As this side sees it.
  var direction = DataChannelDirection.sendrecv
  /// Whether each message is one stream of zlib's.
  var isCompressed = false
  /// Whether the sender's id stands before what is received.
  var hasSenderHeader = false

  init(label: String) { self.label = label }

  init(_ options: DataChannelOptions) {
    label = options.label
    direction = options.direction ?? .sendrecv
    isCompressed = options.compress ?? false
    hasSenderHeader = options.header?.contains { $0.type == SenderHeader.type } ?? false
  }

  /// Bytes that a message may have once it is inflated. What isn't compressed is bounded by what the answer's SDP says
  /// (`RTCSettings.maximumMessageSize`).
  static let maximumInflatedSize = 1 << 20

  /// The message of what came.
  func unpack(_ payload: [UInt8]) throws(ChannelMessageError) -> [UInt8] {
    guard isCompressed else { return payload }
    return try MessageCompression.inflate(payload.rawSpan, limit: Self.maximumInflatedSize)
  }

  /// What goes out for a message.
  func pack(_ message: [UInt8]) throws(ChannelMessageError) -> [UInt8] {
    guard isCompressed else { return message }
    return try MessageCompression.compress(message.rawSpan)
  }
}
