import SoraSignaling
import SoraSignalingChannels

/// One data channel that an app asks for, in types: an element of `Configuration.dataChannels`. Linux only.
///
/// The server opens it where data-channel signaling is on (`Configuration.dataChannelSignaling`).
public struct DataChannelConfiguration: Sendable, Hashable {
  /// Who may send, as this side sees it.
  public enum Direction: String, Sendable, Hashable, CaseIterable {
    case sendrecv, sendonly, recvonly
  }

  /// Begins with `#`; 255 bytes of UTF-8 at most.
  public var label: String
  public var direction: Direction
  /// Whether messages come in the order in which they were sent. nil leaves it to the server, which means yes.
  public var ordered: Bool?
  /// Milliseconds for which a message is sent again, 0 to 65,535. Not beside `maxRetransmits`.
  public var maxPacketLifeTime: Int?
  /// How often a message is sent again, 0 to 65,535. Not beside `maxPacketLifeTime`.
  public var maxRetransmits: Int?
  /// What is spoken over the channel, for the app's own use.
  public var `protocol`: String?
  /// Whether messages are compressed on their way. nil leaves it to the server, which means no.
  public var compress: Bool?
  /// Whether received messages say which connection sent them: `DataChannelMessage.senderConnectionId`.
  public var hasSenderHeader: Bool

  public init(
    label: String, direction: Direction = .sendrecv, ordered: Bool? = nil,
    maxPacketLifeTime: Int? = nil, maxRetransmits: Int? = nil, protocol: String? = nil,
    compress: Bool? = nil, hasSenderHeader: Bool = false
  ) {
    self.label = label
    self.direction = direction
    self.ordered = ordered
    self.maxPacketLifeTime = maxPacketLifeTime
    self.maxRetransmits = maxRetransmits
    self.protocol = `protocol`
    self.compress = compress
    self.hasSenderHeader = hasSenderHeader
  }

  init(_ options: DataChannelOptions) {
    self.init(
      label: options.label,
      direction: options.direction.flatMap { Direction(rawValue: $0.rawValue) } ?? .sendrecv,
      ordered: options.ordered, maxPacketLifeTime: options.maxPacketLifeTime,
      maxRetransmits: options.maxRetransmits, protocol: options.protocol,
      compress: options.compress,
      hasSenderHeader: options.header?.contains { $0.type == SenderHeader.type } ?? false)
  }

  var options: DataChannelOptions {
    DataChannelOptions(label: label) {
      $0.direction = DataChannelDirection(rawValue: direction.rawValue)
      $0.ordered = ordered
      $0.maxPacketLifeTime = maxPacketLifeTime
      $0.maxRetransmits = maxRetransmits
      $0.protocol = `protocol`
      $0.compress = compress
      $0.header = hasSenderHeader ? [DataChannelHeader(type: SenderHeader.type)] : nil
    }
  }
}

extension Configuration {
  /// `dataChannels` in types. Setting them replaces it; reading leaves out what these types don't know. Linux only.
  public var dataChannelConfigurations: [DataChannelConfiguration] {
    get {
      let options: [DataChannelOptions]? = dataChannelList.value()
      return options?.map(DataChannelConfiguration.init) ?? []
    }
    set {
      dataChannelList = newValue.isEmpty ? FreeForm() : FreeForm(json: newValue.map(\.options).json)
    }
  }
}
