/// One data channel: as asked for in `connect.data_channels`, or announced in
/// `offer.data_channels`.
public struct DataChannelOptions: Sendable, Hashable, JSONFields {
  public enum Direction: String, Sendable, Hashable, CaseIterable {
    case sendrecv, sendonly, recvonly
  }

  /// One part of the header that the server puts before received data.
  public struct Header: Sendable, Hashable, JSONFields {
    /// `sender_connection_id` is the only one known.
    public var type: String
    /// Bytes; the server says it (26), a client doesn't.
    public var length: Int?

    public init(type: String = "sender_connection_id", length: Int? = nil) {
      self.type = type
      self.length = length
    }

    init(json: JSONValue, path: String) throws(SignalingError) {
      var reader = try JSONFieldReader(nested: json, path: path)
      type = try reader.requiredString("type")
      length = try reader.int("length")
    }

    var json: JSONValue {
      var writer = JSONFieldWriter()
      writer.set("type", type)
      writer.set("length", length)
      return writer.json
    }
  }

  /// Starts with `#` for an application's own channel.
  public var label: String
  /// As the client sees it. Required in `connect`.
  public var direction: Direction?
  public var ordered: Bool?
  /// Milliseconds. Not together with `maxRetransmits`.
  public var maxPacketLifeTime: Int?
  public var maxRetransmits: Int?
  public var `protocol`: String?
  public var compress: Bool?
  public var header: [Header]?
  /// Keys that this version doesn't know.
  public var additional: [String: JSONValue]

  public init(
    label: String, direction: Direction? = nil, ordered: Bool? = nil,
    maxPacketLifeTime: Int? = nil, maxRetransmits: Int? = nil, protocol: String? = nil,
    compress: Bool? = nil, header: [Header]? = nil, additional: [String: JSONValue] = [:]
  ) {
    self.label = label
    self.direction = direction
    self.ordered = ordered
    self.maxPacketLifeTime = maxPacketLifeTime
    self.maxRetransmits = maxRetransmits
    self.protocol = `protocol`
    self.compress = compress
    self.header = header
    self.additional = additional
  }

  /// Reads one element of `data_channels`.
  public init(json: JSONValue) throws(SignalingError) {
    try self.init(json: json, path: "data_channels")
  }

  init(json: JSONValue, path: String) throws(SignalingError) {
    var reader = try JSONFieldReader(nested: json, path: path)
    label = try reader.requiredString("label")
    direction = try reader.text("direction")
    ordered = try reader.bool("ordered")
    maxPacketLifeTime = try reader.int("max_packet_life_time")
    maxRetransmits = try reader.int("max_retransmits")
    self.protocol = try reader.string("protocol")
    compress = try reader.bool("compress")
    header = try reader.array("header", Header.init(json:path:))
    additional = reader.rest
  }

  public var json: JSONValue {
    var writer = JSONFieldWriter(additional: additional)
    writer.set("label", label)
    writer.set("direction", direction)
    writer.set("ordered", ordered)
    writer.set("max_packet_life_time", maxPacketLifeTime)
    writer.set("max_retransmits", maxRetransmits)
    writer.set("protocol", self.protocol)
    writer.set("compress", compress)
    writer.set("header", header?.map(\.json))
    return writer.json
  }
}
