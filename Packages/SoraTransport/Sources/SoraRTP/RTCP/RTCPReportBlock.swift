/// How well one source is received (RFC 3550 §6.4.1).
public struct RTCPReportBlock: Hashable, Sendable {
  /// The source that the block is about.
  public var ssrc: UInt32
  /// Packets lost since the last report, in 1/256.
  public var fractionLost: UInt8
  /// Packets lost since the beginning: 24 bits, negative when there were more duplicates than losses.
  public var cumulativeLost: Int32
  /// Cycles in the upper half, the highest sequence number in the lower half.
  public var extendedHighestSequence: UInt32
  /// Interarrival jitter in units of the RTP clock.
  public var jitter: UInt32
  /// Middle 32 bits of the NTP time of the last sender report; 0 if there was none.
  public var lastSenderReport: UInt32
  /// Time from the arrival of that report to this block, in 1/65536 s.
  public var delaySinceLastSenderReport: UInt32

  /// Bytes of a block on the wire.
  static let byteCount = 24

  public init(
    ssrc: UInt32, fractionLost: UInt8 = 0, cumulativeLost: Int32 = 0,
    extendedHighestSequence: UInt32 = 0, jitter: UInt32 = 0, lastSenderReport: UInt32 = 0,
    delaySinceLastSenderReport: UInt32 = 0
  ) {
    self.ssrc = ssrc
    self.fractionLost = fractionLost
    self.cumulativeLost = cumulativeLost
    self.extendedHighestSequence = extendedHighestSequence
    self.jitter = jitter
    self.lastSenderReport = lastSenderReport
    self.delaySinceLastSenderReport = delaySinceLastSenderReport
  }
}
