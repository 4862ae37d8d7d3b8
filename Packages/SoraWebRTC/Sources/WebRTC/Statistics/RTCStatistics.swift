public import SoraTransport

/// A member of a statistics object.
public enum RTCStatisticsValue: Sendable, Hashable {
  case integer(Int64)
  case double(Double)
  case boolean(Bool)
  case string(String)
  /// Numbers by name, such as `qualityLimitationDurations`.
  case record([String: Double])
}

/// One statistics object, with the names of W3C webrtc-stats.
public final class RTCStatistics: Sendable {
  /// Unique in its report.
  public let id: String
  /// Such as `inbound-rtp`.
  public let type: String
  /// Microseconds since 1970.
  public let timestamp_us: Double
  public let values: [String: RTCStatisticsValue]

  init(id: String, type: String, timestamp_us: Double, values: [String: RTCStatisticsValue]) {
    self.id = id
    self.type = type
    self.timestamp_us = timestamp_us
    self.values = values
  }
}

/// All statistics of a peer connection at one moment.
public final class RTCStatisticsReport: Sendable {
  /// Microseconds since 1970.
  public let timestamp_us: Double
  /// By id.
  public let statistics: [String: RTCStatistics]
  /// What was lost on this host, by layer and reason, from the socket to the decoder: what occurred. Counts only grow, but for
  /// those of sockets whose interface goes. Not in webrtc-stats.
  public let packetDrops: [PacketDrop]
  /// When the connection came to which point of its making. Not in webrtc-stats.
  public let timeline: ConnectionTimeline

  init(
    timestamp_us: Double, statistics: [RTCStatistics], packetDrops: [PacketDrop] = [],
    timeline: ConnectionTimeline = ConnectionTimeline()
  ) {
    self.timestamp_us = timestamp_us
    self.packetDrops = packetDrops
    self.timeline = timeline
    self.statistics = Dictionary(statistics.map { ($0.id, $0) }) { first, _ in first }
  }

  /// The objects of a type, by id.
  public func all(_ type: String) -> [RTCStatistics] {
    statistics.values.filter { $0.type == type }.sorted { $0.id < $1.id }
  }
}

extension RTCStatistics {
  /// A member as a number; nil where it is absent or isn't one.
  public func number(_ name: String) -> Double? {
    switch values[name] {
    case .integer(let value): Double(value)
    case .double(let value): value
    default: nil
    }
  }

  /// A member as text; nil where it is absent or isn't text.
  public func text(_ name: String) -> String? {
    if case .string(let value)? = values[name] { return value }
    return nil
  }
}
