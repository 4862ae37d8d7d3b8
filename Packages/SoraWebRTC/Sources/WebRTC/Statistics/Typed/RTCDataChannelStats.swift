/// A data channel (W3C `RTCDataChannelStats`). Bytes are those of messages alone.
public struct RTCDataChannelStats: RTCStats {
  public let statistics: RTCStatistics

  public init(_ statistics: RTCStatistics) { self.statistics = statistics }

  public var label: String { statistics.text("label") ?? "" }
  public var `protocol`: String { statistics.text("protocol") ?? "" }
  /// The stream; nil until it has one.
  public var dataChannelIdentifier: Int? { statistics.integer("dataChannelIdentifier") }
  public var state: RTCDataChannelState {
    switch statistics.text("state") {
    case "connecting": .connecting
    case "open": .open
    case "closing": .closing
    default: .closed
    }
  }
  public var messagesSent: Int { statistics.count("messagesSent") }
  public var bytesSent: Int { statistics.count("bytesSent") }
  public var messagesReceived: Int { statistics.count("messagesReceived") }
  public var bytesReceived: Int { statistics.count("bytesReceived") }
}
