public import SoraMedia
public import SoraWire

/// An amount of data in a time, in whole bits per second.
public struct Bitrate: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// Bits per second; zero or more wherever this module makes one.
  public var bitsPerSecond: Int

  @inlinable
  public init(bitsPerSecond: Int) { self.bitsPerSecond = bitsPerSecond }

  public static let zero = Bitrate(bitsPerSecond: 0)
  /// More than any link carries.
  public static let unlimited = Bitrate(bitsPerSecond: 1 << 50)

  /// 1,000 bits per second.
  @inlinable
  public static func kilobits(_ count: Int) -> Bitrate { Bitrate(bitsPerSecond: count * 1_000) }

  /// 1,000,000 bits per second.
  @inlinable
  public static func megabits(_ count: Double) -> Bitrate {
    Bitrate(bitsPerSecond: Int(count * 1_000_000))
  }

  /// The rate in kilobits per second.
  @inlinable
  public var inKilobits: Double { Double(bitsPerSecond) / 1_000 }

  /// Bytes that pass in so many nanoseconds.
  @inlinable
  public func bytes(inNanoseconds nanoseconds: Int64) -> Double {
    Double(bitsPerSecond) * Double(nanoseconds) / 8e9
  }

  /// Nanoseconds that so many bytes take; saturates for a rate of zero.
  @inlinable
  public func nanoseconds(forBytes bytes: Double) -> Int64 {
    guard bitsPerSecond > 0 else { return .max / 4 }
    return Int64(min(bytes * 8e9 / Double(bitsPerSecond), 4e18))
  }

  @inlinable
  public static func < (a: Bitrate, b: Bitrate) -> Bool { a.bitsPerSecond < b.bitsPerSecond }

  @inlinable
  public static func + (a: Bitrate, b: Bitrate) -> Bitrate {
    Bitrate(bitsPerSecond: a.bitsPerSecond &+ b.bitsPerSecond)
  }

  @inlinable
  public static func - (a: Bitrate, b: Bitrate) -> Bitrate {
    Bitrate(bitsPerSecond: max(0, a.bitsPerSecond &- b.bitsPerSecond))
  }

  /// Rounded to whole bits per second; at most `unlimited`.
  @inlinable
  public static func * (rate: Bitrate, factor: Double) -> Bitrate {
    let product = Double(rate.bitsPerSecond) * factor
    return Bitrate(bitsPerSecond: Int(min(max(product, 0), 0x1p50)))
  }

  public var description: String { "\(bitsPerSecond / 1_000) kbit/s" }
}

/// What became of one packet that was sent with a transport-wide sequence number
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01).
public struct PacketFeedback: Sendable, Equatable {
  /// The transport-wide number, extended to 64 bits.
  public var sequence: Int64
  /// Bytes sent, as `packetSent` was told.
  public var size: Int
  /// When it was sent, on this end's clock.
  public var sendTime: Instant
  /// When it arrived, on the receiver's clock, whose origin doesn't matter; `nil` while it counts as lost.
  public var arrivalTime: Instant?
  /// The probe that it was part of.
  public var probeCluster: Int?
  /// How it was marked where it arrived; nil where the feedback doesn't say.
  public var ecn: ECNCodepoint?

  public init(
    sequence: Int64, size: Int, sendTime: Instant, arrivalTime: Instant?, probeCluster: Int? = nil,
    ecn: ECNCodepoint? = nil
  ) {
    self.sequence = sequence
    self.size = size
    self.sendTime = sendTime
    self.arrivalTime = arrivalTime
    self.probeCluster = probeCluster
    self.ecn = ecn
  }
}
