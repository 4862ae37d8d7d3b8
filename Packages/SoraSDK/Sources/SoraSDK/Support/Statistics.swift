public import Foundation
import WebRTC

/// Seconds as Core Foundation counts them.
public typealias CFTimeInterval = Double

/// A statistics report (W3C webrtc-stats names).
public final class Statistics: Sendable {
  /// Microseconds since 1970.
  public let timestamp: CFTimeInterval
  public let entries: [StatisticsEntry]

  init(_ report: RTCStatisticsReport) {
    timestamp = report.timestamp_us
    entries = report.statistics.values.sorted { $0.id < $1.id }.map(StatisticsEntry.init)
  }

  /// An array of objects with `id`, `type`, `timestamp` and every value: what `pong` carries.
  public var jsonObject: Any {
    entries.map { entry -> [String: Any] in
      var object: [String: Any] = entry.values
      object["id"] = entry.id
      object["type"] = entry.type
      object["timestamp"] = entry.timestamp
      return object
    }
  }
}

/// One object of a statistics report.
public final class StatisticsEntry: Sendable {
  public let id: String
  public let type: String
  /// Microseconds since 1970.
  public let timestamp: CFTimeInterval
  private let native: [String: RTCStatisticsValue]

  init(_ native: RTCStatistics) {
    id = native.id
    type = native.type
    timestamp = native.timestamp_us
    self.native = native.values
  }

  /// The members, as `NSNumber` and `NSString`.
  public var values: [String: NSObject] {
    native.mapValues { value in
      switch value {
      case .integer(let number): NSNumber(value: number)
      case .double(let number): NSNumber(value: number)
      case .boolean(let flag): NSNumber(value: flag)
      case .string(let text): NSString(string: text)
      }
    }
  }
}
