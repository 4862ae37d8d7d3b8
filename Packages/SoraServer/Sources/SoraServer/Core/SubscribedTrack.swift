import SoraMedia
import SoraRTP
import SoraTransport

/// One published medium on its way to one subscriber: its own source, numbers, ids and reports.
///
/// Confined to its core.
final class SubscribedTrack {
  let source: PublishedTrack
  unowned let subscriber: SFUConnection
  let kind: MediaKind
  let mid: RTPExtensionText?
  let ssrc: UInt32
  /// nil for audio, which isn't retransmitted.
  let rtxSSRC: UInt32?
  let types: SFUPayloadTypes.Assignment
  /// Ids of the header extensions as the subscriber has answered.
  var extensions = RTPHeaderExtensionMap()
  var acceptsNack = false
  /// Whether the subscriber's answer takes the section and its transport can carry it.
  var isActive = false

  private var sequenceOffset: UInt16 = 0
  private var timestampOffset: UInt32 = 0
  private var hasOffsets = false
  private var isStarted = false
  private var firstSequence: UInt16
  private var highest: UInt16 = 0
  private var lastTimestamp: UInt32 = 0
  private var lastSentAt = Instant.zero
  private var rtxSequence: UInt16
  /// The mid rides along until the receiver has reported on the source (RFC 8843 §9.2).
  private var isKnownToReceiver = false
  private var resent = ResendTimes()
  private var reports: (RTPReportMark?, RTPReportMark?) = (nil, nil)
  private var firSequence: UInt8?
  private(set) var statistics = Statistics()

  struct Statistics {
    var packets: UInt64 = 0
    var bytes: UInt64 = 0
    var retransmissions: UInt64 = 0
    /// Asked for but not kept any more.
    var retransmissionsMissing: UInt64 = 0
    var notWritable: UInt64 = 0
    var nacks: UInt64 = 0
    var keyFrameRequests: UInt64 = 0
    var fractionLost = 0.0
    var roundTrip: Duration?
  }

  init(
    source: PublishedTrack, subscriber: SFUConnection, mid: String, ssrc: UInt32, rtxSSRC: UInt32?,
    types: SFUPayloadTypes.Assignment, random: RandomSource
  ) {
    self.source = source
    self.subscriber = subscriber
    kind = source.kind
    self.mid = RTPExtensionText(mid)
    self.ssrc = ssrc
    self.rtxSSRC = rtxSSRC
    self.types = types
    // RFC 3550 §5.1: random starts; the lower half keeps the first wrap away from the first losses.
    firstSequence = UInt16(truncatingIfNeeded: random.next()) & 0x7FFF
    rtxSequence = UInt16(truncatingIfNeeded: random.next()) & 0x7FFF
    timestampOffset = UInt32(truncatingIfNeeded: random.next())
  }

  /// The publisher's source changed: numbers and timestamps go on from what was sent last.
  func rebase() { hasOffsets = false }

  /// Sends one packet on: payload untouched, gaps of the publisher's numbers kept so that they can be asked for.
  func forward(
    _ packet: UnsafeRawBufferPointer, _ header: RTPHeader, _ values: RTPHeaderExtensions,
    at now: Instant
  ) {
    if !hasOffsets { setOffsets(header, at: now) }
    var out = header
    out.ssrc = ssrc
    out.payloadType = types.media
    out.sequenceNumber = header.sequenceNumber &+ sequenceOffset
    out.timestamp = header.timestamp &+ timestampOffset
    var extra = values
    extra.mid = isKnownToReceiver ? nil : mid
    extra.rid = nil
    extra.repairedRid = nil
    let transport = subscriber.transport
    extra.transportSequenceNumber = subscriber.nextTransportSequence
    extra.absSendTime = RTPHeaderExtensions.absSendTime(at: now)
    let isSent = transport.sendRTP(capacity: Self.headerRoom + header.payloadCount) { slot in
      guard
        let writer = try? RTPPacket.rewriteExtensions(
          of: packet, header: out, extensions: extra, map: extensions, into: slot)
      else { return 0 }
      return writer.count
    }
    guard isSent else {
      statistics.notWritable &+= 1
      return
    }
    subscriber.nextTransportSequence &+= 1
    if !isStarted || sequenceNumber(out.sequenceNumber, isNewerThan: highest) {
      highest = out.sequenceNumber
      lastTimestamp = out.timestamp
    }
    isStarted = true
    lastSentAt = now
    statistics.packets &+= 1
    statistics.bytes &+= UInt64(header.payloadCount)
  }

  /// Bytes that a header with extensions needs at most: 12, 4, and 6 elements in the two-byte form.
  private static let headerRoom = 100

  private func setOffsets(_ header: RTPHeader, at now: Instant) {
    hasOffsets = true
    if isStarted {
      sequenceOffset = highest &+ 1 &- header.sequenceNumber
      // The new source's clock starts anywhere: go on by the time that has passed.
      let ticks =
        now.nanoseconds(since: lastSentAt) / 1000 * Int64(source.codec.clockRate) / 1_000_000
      timestampOffset =
        lastTimestamp &+ UInt32(truncatingIfNeeded: max(1, ticks)) &- header.timestamp
    } else {
      sequenceOffset = firstSequence &- header.sequenceNumber
    }
  }

  // MARK: Retransmission (RFC 4588)

  /// Answers a NACK entry from what the publisher's history keeps, at most once a round trip.
  func retransmit(_ number: UInt16, at now: Instant) {
    guard acceptsNack, hasOffsets, let rtxSSRC, let rtx = types.rtx,
      let stored = source.history?.stored(sequenceNumber: number &- sequenceOffset)
    else {
      statistics.retransmissionsMissing &+= 1
      return
    }
    let interval = statistics.roundTrip ?? .milliseconds(20)
    guard resent.take(number, interval: interval, at: now) else { return }
    let packet = UnsafeRawBufferPointer(stored)
    guard let header = try? RTPHeader(parsing: packet) else { return }
    var extra = RTPHeaderExtensions(of: header, in: packet, map: source.extensions)
    extra.rid = nil
    extra.repairedRid = nil
    extra.mid = mid
    extra.transportSequenceNumber = subscriber.nextTransportSequence
    extra.absSendTime = RTPHeaderExtensions.absSendTime(at: now)
    var out = header
    out.ssrc = rtxSSRC
    out.payloadType = rtx
    out.sequenceNumber = rtxSequence
    out.timestamp = header.timestamp &+ timestampOffset
    let capacity = Self.headerRoom + Retransmission.overhead + header.payloadCount
    let isSent = subscriber.transport.sendRTP(capacity: capacity) { slot in
      var writer = RTPPacketWriter(into: slot)
      guard (try? writer.writeHeader(out, extensions: extra, map: extensions)) != nil else {
        return 0
      }
      let free = writer.free
      guard free.count >= Retransmission.overhead + header.payloadCount else { return 0 }
      free[0] = UInt8(truncatingIfNeeded: number >> 8)
      free[1] = UInt8(truncatingIfNeeded: number)
      UnsafeMutableRawBufferPointer(rebasing: free[Retransmission.overhead...])
        .copyMemory(from: header.payload(in: packet))
      writer.advance(by: Retransmission.overhead + header.payloadCount)
      return writer.count
    }
    guard isSent else {
      statistics.notWritable &+= 1
      return
    }
    rtxSequence &+= 1
    subscriber.nextTransportSequence &+= 1
    statistics.retransmissions &+= 1
  }

  func countNack() { statistics.nacks &+= 1 }

  func countKeyFrameRequest() { statistics.keyFrameRequests &+= 1 }

  /// Whether a FIR is a new one: a repetition keeps its number (RFC 5104 §4.3.1.2).
  func isNewFullIntraRequest(_ number: UInt8) -> Bool {
    guard firSequence != number else { return false }
    firSequence = number
    return true
  }

  // MARK: Reports

  /// The sender's part of a report: the publisher's pairing of wall clock and RTP clock, moved on to now, so that
  /// sound and picture of one publisher stay in step (RFC 3550 §6.4.1). nil before the publisher has reported.
  func senderInfo(at now: Instant) -> RTCPSenderInfo? {
    guard hasOffsets, isStarted, let last = source.senderReports.last,
      let arrival = source.senderReports.lastArrival
    else { return nil }
    let elapsed = max(0, now.nanoseconds(since: arrival))
    let (seconds, rest) = elapsed.quotientAndRemainder(dividingBy: 1_000_000_000)
    let rate = Int64(source.codec.clockRate)
    let ticks = seconds &* rate &+ rest * rate / 1_000_000_000
    let fraction = (UInt64(rest) << 32) / 1_000_000_000
    let info = RTCPSenderInfo(
      ssrc: ssrc,
      ntp: NTPTime(rawValue: last.ntp.rawValue &+ UInt64(seconds) << 32 &+ fraction),
      rtpTimestamp: last.rtpTimestamp &+ timestampOffset &+ UInt32(truncatingIfNeeded: ticks),
      packetCount: UInt32(truncatingIfNeeded: statistics.packets),
      octetCount: UInt32(truncatingIfNeeded: statistics.bytes))
    reports = (RTPReportMark(middle: info.ntp.middle, sentAt: now), reports.0)
    return info
  }

  /// The subscriber reports on this source. Its round trip is measured by our own clock, for the times in the reports
  /// are the publisher's.
  func received(_ block: RTCPReportBlock, at now: Instant) {
    isKnownToReceiver = true
    statistics.fractionLost = Double(block.fractionLost) / 256
    guard block.lastSenderReport != 0 else { return }
    for case let mark? in [reports.0, reports.1] where mark.middle == block.lastSenderReport {
      let delay = Int64(block.delaySinceLastSenderReport) * 1_000_000_000 / 65_536
      statistics.roundTrip = .nanoseconds(max(0, now.nanoseconds(since: mark.sentAt) &- delay))
    }
  }
}

/// A sender report that left, as report blocks refer to it.
struct RTPReportMark {
  var middle: UInt32
  var sentAt: Instant
}

/// When packets were sent again last, for the newest few.
struct ResendTimes {
  private var slots = [(number: UInt16, at: Int64)](repeating: (0, .min), count: 256)

  /// Returns whether the packet may be sent again now, and notes it.
  mutating func take(_ number: UInt16, interval: Duration, at now: Instant) -> Bool {
    let slot = Int(number & 255)
    let last = slots[slot]
    if last.number == number, last.at != .min,
      now.nanoseconds &- last.at < interval.wholeNanoseconds
    {
      return false
    }
    slots[slot] = (number, now.nanoseconds)
    return true
  }
}
