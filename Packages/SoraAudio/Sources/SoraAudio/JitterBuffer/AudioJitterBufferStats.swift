/// Counters of an `AudioJitterBuffer`, with the names and meanings of W3C webrtc-stats (RTCInboundRtpStreamStats); those
/// below the line are ours. Counts of samples are samples of each channel at 48 kHz; times are in seconds.
public struct AudioJitterBufferStats: Sendable, Hashable {
  public var totalSamplesReceived: UInt64 = 0
  public var concealedSamples: UInt64 = 0
  public var silentConcealedSamples: UInt64 = 0
  public var concealmentEvents: UInt64 = 0
  public var insertedSamplesForDeceleration: UInt64 = 0
  public var removedSamplesForAcceleration: UInt64 = 0
  /// Sum over all emitted samples of the time since their packet arrived.
  public var jitterBufferDelay: Double = 0
  /// Sum over all emitted samples of the delay that was aimed for.
  public var jitterBufferTargetDelay: Double = 0
  public var jitterBufferEmittedCount: UInt64 = 0
  public var totalAudioEnergy: Double = 0
  public var totalSamplesDuration: Double = 0
  /// Packets that came too late, or for which there was no room.
  public var packetsDiscarded: UInt64 = 0
  /// Copies of earlier packets that came inside later ones (RFC 2198), and those of them that nothing was missing for, or
  /// that came too late.
  public var fecPacketsReceived: UInt64 = 0
  public var fecPacketsDiscarded: UInt64 = 0
  /// Packets that were restored from the redundancy of the packet after them.
  public var fecPacketsUsed: UInt64 = 0

  // Not in webrtc-stats.

  /// Packets that were taken in.
  public var packetsInserted: UInt64 = 0
  /// Packets that were there already.
  public var packetsDuplicated: UInt64 = 0
  /// Packets that no decoder could read.
  public var packetsMalformed: UInt64 = 0
  /// Of `packetsDiscarded`: those that came after their time.
  public var packetsLate: UInt64 = 0
  /// How often everything was dropped, because of too much to keep or a jump of the sender's clock.
  public var flushes: UInt64 = 0
  /// Samples of comfort noise or silence while the sender transmitted nothing on purpose.
  public var comfortNoiseSamples: UInt64 = 0

  public init() {}
}
