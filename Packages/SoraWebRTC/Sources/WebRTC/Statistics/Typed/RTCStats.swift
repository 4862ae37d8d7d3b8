public import Foundation
import SoraCongestion

/// One statistics object with a Swift type for each member. Names are those of W3C webrtc-stats.
///
/// A member is optional where it may be absent: before there is something to tell, or because it is one of the other kind of media.
/// Counters are never absent; they are 0 at first.
public protocol RTCStats: Sendable {
  /// The object as it is, with every member by name.
  var statistics: RTCStatistics { get }

  init(_ statistics: RTCStatistics)
}

extension RTCStats {
  /// Unique in its report, and the same in the next report.
  public var id: String { statistics.id }
  /// When it was measured.
  public var timestamp: Date { Date(timeIntervalSince1970: statistics.timestamp_us / 1_000_000) }
}

extension RTCStatistics {
  func integer(_ name: String) -> Int? {
    switch values[name] {
    case .integer(let value): Int(clamping: value)
    case .double(let value): Int(exactly: value.rounded())
    default: nil
    }
  }

  func count(_ name: String) -> Int { integer(name) ?? 0 }

  /// A size in pixels; nil where it isn't known yet.
  func pixels(_ name: String) -> Int? { integer(name).flatMap { $0 > 0 ? $0 : nil } }

  func flag(_ name: String) -> Bool? {
    if case .boolean(let value)? = values[name] { return value }
    return nil
  }

  /// Of seconds.
  func duration(_ name: String) -> Duration? { number(name).map { .seconds($0) } }

  /// Of bits per second.
  func bitrate(_ name: String) -> Bitrate? { integer(name).map { Bitrate(bitsPerSecond: $0) } }

  /// Of milliseconds since 1970.
  func date(_ name: String) -> Date? {
    number(name).map { Date(timeIntervalSince1970: $0 / 1_000) }
  }

  func word<Word: RawRepresentable<String>>(_ name: String) -> Word? {
    text(name).flatMap(Word.init)
  }

  /// The numbers of a record, of seconds.
  func durations(_ name: String) -> [String: Duration] {
    guard case .record(let numbers)? = values[name] else { return [:] }
    return numbers.mapValues { .seconds($0) }
  }

  /// The rate at which a counter of bytes grew since an earlier report; nil where no time has passed, or for another object.
  func bitrate(_ name: String, since earlier: RTCStatistics) -> Bitrate? {
    let seconds = (timestamp_us - earlier.timestamp_us) / 1_000_000
    guard seconds > 0, id == earlier.id else { return nil }
    return Bitrate(bitsPerSecond: Int(Double(count(name) - earlier.count(name)) * 8 / seconds))
  }
}
