/// One data channel: as asked for in `connect.data_channels`, or announced in `offer.data_channels`.
public typealias DataChannelOptions = SignalingObject<DataChannelFields>

extension DataChannelOptions {
  /// - Parameters:
  ///   - label: the data channel's name, which begins with `#`.
  ///   - change: sets further fields.
  public init(label: String, _ change: (inout DataChannelOptions) -> Void = { _ in }) {
    self.init(members: [:])
    self.label = label
    change(&self)
  }
}

/// The keys of one element of `data_channels`.
public struct DataChannelFields: SignalingFields {
  public static let schema = Schema(Self())

  /// Starts with `#` for an application's own channel.
  public let label = Field<String>("label")
  /// As the client sees it. Sora requires it in `connect`.
  public let direction = Field<DataChannelDirection?>("direction")
  public let ordered = Field<Bool?>("ordered")
  /// Milliseconds. Not together with `maxRetransmits`.
  public let maxPacketLifeTime = Field<Int?>("max_packet_life_time", .range(0...65_535))
  public let maxRetransmits = Field<Int?>("max_retransmits", .range(0...65_535))
  public let `protocol` = Field<String?>("protocol")
  public let compress = Field<Bool?>("compress")
  public let header = Field<[DataChannelHeader]?>("header")
}

/// Who may send over a data channel, as its client sees it.
public enum DataChannelDirection: String, FieldText {
  case sendrecv, sendonly, recvonly
}

/// One part of the header that the server puts before received data.
public typealias DataChannelHeader = SignalingObject<DataChannelHeaderFields>

extension DataChannelHeader {
  public init(type: String = "sender_connection_id", length: Int? = nil) {
    self.init(members: [:])
    self.type = type
    self.length = length
  }
}

/// The keys of one element of `data_channels[].header`.
public struct DataChannelHeaderFields: SignalingFields {
  public static let schema = Schema(Self())

  /// `sender_connection_id` is the only one known.
  public let type = Field<String>("type")
  /// Bytes; the server says it (26), a client doesn't.
  public let length = Field<Int?>("length")
}
