public import SoraMedia

/// Counts the packets of one source and makes its report blocks (RFC 3550 §6.4.1, appendix A).
public struct ReceiveStatistics: Sendable {
  public let ssrc: UInt32
  /// Ticks a second of the source's RTP clock.
  public let clockRate: Int
  /// Packets that arrived, duplicates and retransmissions included.
  public private(set) var packetsReceived: UInt64 = 0
  /// Payload bytes that arrived.
  public private(set) var payloadBytesReceived: UInt64 = 0
  /// Header and padding bytes that arrived.
  public private(set) var headerBytesReceived: UInt64 = 0
  /// Packets that were restored from retransmissions.
  public private(set) var retransmittedPacketsReceived: UInt64 = 0
  public private(set) var lastPacketReceivedAt: Instant?

  private var extender = SequenceNumberExtender()
  private var base: Int64 = 0
  /// What counts against the expected packets.
  private var received: Int64 = 0
  private var expectedPrior: Int64 = 0
  private var receivedPrior: Int64 = 0
  /// Losses of the sequence-number spaces before a restart.
  private var lostBefore: Int64 = 0
  private var restartCandidate: UInt16?
  private var arrivals: InterarrivalJitter

  public init(ssrc: UInt32, clockRate: Int) {
    self.ssrc = ssrc
    self.clockRate = max(1, min(clockRate, 1_000_000_000))
    arrivals = InterarrivalJitter(clockRate: self.clockRate)
  }

  /// RFC 3550 A.1's MAX_DROPOUT: a larger jump is a restart, once the next packet confirms it.
  private static let maximumDropout: Int64 = 3000

  /// A packet arrived. `packetCount` is its whole length. Retransmissions fill losses and leave jitter alone.
  public mutating func received(
    _ header: RTPHeader, packetCount: Int, isRetransmission: Bool = false, at now: Instant
  ) {
    packetsReceived += 1
    payloadBytesReceived += UInt64(header.payloadCount)
    headerBytesReceived += UInt64(max(0, packetCount - header.payloadCount))
    lastPacketReceivedAt = now
    if isRetransmission { retransmittedPacketsReceived += 1 }

    guard let highest = extender.highest else {
      base = extender.extend(header.sequenceNumber)
      received = 1
      arrivals.add(header.timestamp, at: now)
      return
    }
    let sequence = extender.peek(header.sequenceNumber)
    if abs(sequence - highest) > ReceiveStatistics.maximumDropout {
      guard restartCandidate == header.sequenceNumber, !isRetransmission else {
        if !isRetransmission { restartCandidate = header.sequenceNumber &+ 1 }
        return
      }
      restart(at: header.sequenceNumber)
    }
    restartCandidate = nil
    extender.extend(header.sequenceNumber)
    received += 1
    if !isRetransmission { arrivals.add(header.timestamp, at: now) }
  }

  /// A packet was restored from a retransmission stream: it is counted as arrived, and the loss that it repairs
  /// stays a loss. Reports tell the sender what the network does (RFC 4588 §6.3 keeps the streams' reports apart);
  /// probes of repeated packets would even make losses negative.
  public mutating func receivedRepair(_ header: RTPHeader, packetCount: Int, at now: Instant) {
    packetsReceived += 1
    retransmittedPacketsReceived += 1
    payloadBytesReceived += UInt64(header.payloadCount)
    headerBytesReceived += UInt64(max(0, packetCount - header.payloadCount))
    lastPacketReceivedAt = now
  }

  private mutating func restart(at sequenceNumber: UInt16) {
    lostBefore = packetsLost
    extender = SequenceNumberExtender()
    base = extender.extend(sequenceNumber)
    received = 0
    expectedPrior = 0
    receivedPrior = 0
    arrivals.restart()
  }

  /// Interarrival jitter in units of the RTP clock.
  public var jitterTicks: UInt32 { arrivals.ticks }

  /// Interarrival jitter in seconds, as webrtc-stats wants it.
  public var jitter: Double { arrivals.seconds }

  /// Packets expected minus packets received since the beginning; negative after duplicates.
  public var packetsLost: Int64 { lostBefore + expected - received }

  private var expected: Int64 {
    guard let highest = extender.highest else { return 0 }
    return highest - base + 1
  }

  /// The block for the next report; starts a new interval for `fractionLost` (RFC 3550 A.3). `nil` before the first
  /// packet.
  public mutating func makeReportBlock(
    senderReports: SenderReportTracker?, at now: Instant
  ) -> RTCPReportBlock? {
    guard let highest = extender.highest else { return nil }
    let expectedInterval = expected - expectedPrior
    let lostInterval = expectedInterval - (received - receivedPrior)
    expectedPrior = expected
    receivedPrior = received
    var block = RTCPReportBlock(ssrc: ssrc)
    if expectedInterval > 0, lostInterval > 0 {
      block.fractionLost = UInt8(clamping: (lostInterval << 8) / expectedInterval)
    }
    block.cumulativeLost = Int32(max(-0x80_0000, min(0x7F_FFFF, packetsLost)))
    block.extendedHighestSequence = UInt32(truncatingIfNeeded: highest)
    block.jitter = jitterTicks
    block.lastSenderReport = senderReports?.lastSenderReport ?? 0
    block.delaySinceLastSenderReport = senderReports?.delaySinceLast(at: now) ?? 0
    return block
  }
}
