public import Foundation
import SoraSignaling
public import WebRTC

/// Seconds as Core Foundation counts them.
public typealias CFTimeInterval = Double

/// A statistics report (W3C webrtc-stats names).
///
/// `inboundRTP`, `outboundRTP`, `transport` and the other lists of `RTCStatsReport` have a Swift type for each member; `entries` has the
/// same as it is, by name.
///
/// ```swift
/// import Sora
///
/// /// Prints what a channel receives and sends, once per second.
/// func watch(_ channel: MediaChannel) async throws {
///   var last: Statistics?
///   while channel.isAvailable {
///     let now = await channel.statistics()
///     for stream in now.inboundRTP {
///       let before = last?.inboundRTP.first { $0.id == stream.id }
///       print(stream.kind, before.flatMap { stream.bitrate(since: $0) } ?? .zero, stream.packetsLost, stream.jitter)
///     }
///     for stream in now.outboundRTP where stream.kind == .video {
///       print(stream.frameWidth ?? 0, stream.framesPerSecond ?? 0, stream.qualityLimitationReason ?? .none)
///     }
///     print(now.selectedCandidatePair?.currentRoundTripTime ?? .zero)
///     last = now
///     try await Task.sleep(for: .seconds(1))
///   }
/// }
/// ```
public final class Statistics: RTCStatsReport, Sendable {
  /// Microseconds since 1970.
  public let timestamp: CFTimeInterval
  public let entries: [StatisticsEntry]
  /// With what webrtc-stats hasn't: `packetDrops` and `timeline`. nil where there is no connection. Linux only.
  public let native: RTCStatisticsReport?

  /// A report of nothing.
  init() {
    timestamp = Date().timeIntervalSince1970 * 1_000_000
    entries = []
    native = nil
  }

  init(_ report: RTCStatisticsReport) {
    timestamp = report.timestamp_us
    entries = report.statistics.values.sorted { $0.id < $1.id }.map(StatisticsEntry.init)
    native = report
  }

  /// The objects of a W3C type such as `inbound-rtp`, by id. Linux only.
  public func all(_ type: String) -> [RTCStatistics] { native?.all(type) ?? [] }

  /// The same as `jsonObject`, for signaling.
  var json: [JSONValue] { entries.map(\.json) }

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

  /// The members, as `NSNumber`, `NSString` and `NSDictionary`.
  public var values: [String: NSObject] {
    native.mapValues { value in
      switch value {
      case .integer(let number): NSNumber(value: number)
      case .double(let number): NSNumber(value: number)
      case .boolean(let flag): NSNumber(value: flag)
      case .string(let text): NSString(string: text)
      case .record(let numbers): NSDictionary(dictionary: numbers.mapValues { NSNumber(value: $0) })
      }
    }
  }

  var json: JSONValue {
    var members = native.mapValues { value -> JSONValue in
      switch value {
      case .integer(let number): .integer(number)
      case .double(let number): .double(number)
      case .boolean(let flag): .bool(flag)
      case .string(let text): .string(text)
      case .record(let numbers): .object(numbers.mapValues { .double($0) })
      }
    }
    members["id"] = .string(id)
    members["type"] = .string(type)
    members["timestamp"] = .double(timestamp)
    return .object(members)
  }
}
