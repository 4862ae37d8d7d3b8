import SoraCongestion
import SoraMedia
import SoraRTP
import SoraWire

/// Tells a sender what the network does to its packets, in the one way that was agreed on.
final class CongestionReporter {
  /// Changes take effect with the next packet.
  var kind = CongestionFeedbackKind.transportWide
  private let transportWide = TransportFeedbackGenerator()
  private let bySource = CongestionFeedbackGenerator()
  private var estimate = ReceiverEstimateReporter()

  /// A packet arrived.
  func noteArrival(
    _ header: RTPHeader, _ values: RTPHeaderExtensions, packetCount: Int, ecn: ECNCodepoint,
    roundTrip: Duration?, at now: Instant
  ) {
    switch kind {
    case .transportWide:
      if let number = values.transportSequenceNumber {
        transportWide.received(sequenceNumber: number, ssrc: header.ssrc, at: now)
      }
    case .bySource:
      bySource.received(
        ssrc: header.ssrc, sequenceNumber: header.sequenceNumber, ecn: ecn, at: now)
    case .receiverEstimate:
      estimate.received(
        ssrc: header.ssrc, size: packetCount, absSendTime: values.absSendTime,
        roundTrip: roundTrip, at: now)
    }
  }

  /// A source has ended.
  func forget(ssrc: UInt32) {
    bySource.forget(ssrc: ssrc)
    estimate.forget(ssrc: ssrc)
  }

  /// When something is to be told; nil while there is nothing.
  var nextDeadline: Instant? {
    switch kind {
    case .transportWide: transportWide.nextDeadline
    case .bySource: bySource.nextDeadline
    case .receiverEstimate: estimate.nextDeadline
    }
  }

  func isDue(at now: Instant) -> Bool { nextDeadline.map { $0 <= now } ?? false }

  /// Puts off what couldn't be sent.
  func postpone(at now: Instant) {
    switch kind {
    case .transportWide: transportWide.postpone(at: now)
    case .bySource: bySource.postpone(at: now)
    case .receiverEstimate: estimate.postpone(at: now)
    }
  }

  /// Appends what is due, or as much of it as fits.
  func write(
    into writer: inout RTCPWriter, sender: UInt32, reportTime: UInt32, at now: Instant
  ) throws(RTPError) {
    switch kind {
    case .transportWide: _ = try transportWide.write(into: &writer, sender: sender, at: now)
    case .bySource:
      _ = try bySource.write(into: &writer, sender: sender, reportTime: reportTime, at: now)
    case .receiverEstimate: try estimate.write(into: &writer, sender: sender, at: now)
    }
  }
}

/// Says when a receiver's own estimate is to be sent: at once where it falls, else now and then, as one message may get lost.
private struct ReceiverEstimateReporter {
  private static let interval = Duration.seconds(1)
  /// A fall by less than this share waits.
  private static let smallFall = 0.03
  private static let maximumSources = 64

  private var estimator = ReceiverEstimator()
  private var sources: [UInt32] = []
  private var current: Bitrate?
  private var told: Bitrate?
  private(set) var nextDeadline: Instant?

  mutating func received(
    ssrc: UInt32, size: Int, absSendTime: UInt32?, roundTrip: Duration?, at now: Instant
  ) {
    if !sources.contains(ssrc) {
      if sources.count >= Self.maximumSources { sources.removeFirst() }
      sources.append(ssrc)
    }
    guard
      let rate = estimator.received(
        size: size, absSendTime: absSendTime, roundTrip: roundTrip, at: now)
    else { return }
    current = rate
    if let told, rate.bitsPerSecond >= Int(Double(told.bitsPerSecond) * (1 - Self.smallFall)) {
      if nextDeadline == nil { nextDeadline = now + Self.interval }
    } else {
      nextDeadline = now
    }
  }

  mutating func forget(ssrc: UInt32) { sources.removeAll { $0 == ssrc } }

  mutating func postpone(at now: Instant) {
    if nextDeadline != nil { nextDeadline = now + Self.interval }
  }

  mutating func write(
    into writer: inout RTCPWriter, sender: UInt32, at now: Instant
  ) throws(RTPError) {
    nextDeadline = nil
    guard let current else { return }
    try writer.receiverEstimate(
      sender: sender, bitsPerSecond: UInt64(max(0, current.bitsPerSecond)), sources: sources)
    told = current
  }
}
