/// What a `VideoJitterBuffer` has seen and done, in the words of webrtc-stats where it has some.
public struct VideoJitterBufferStatistics: Sendable, Equatable {
  /// Packets that weren't used, by reason.
  public struct Discarded: Sendable, Equatable {
    /// The packet had arrived before.
    public var duplicate: UInt64 = 0
    /// Its frame had been released or given up.
    public var late: UInt64 = 0
    /// Its payload contradicts its codec's rules.
    public var malformed: UInt64 = 0
    /// No format is set for its payload type.
    public var unknownFormat: UInt64 = 0
    /// The buffer was full.
    public var overflow: UInt64 = 0
    /// It lies far from the stream, and no packet confirmed that the source restarted.
    public var jump: UInt64 = 0

    public init() {}

    public var total: UInt64 {
      duplicate + late + malformed + unknownFormat + overflow + jump
    }

    public static func += (sum: inout Discarded, other: Discarded) {
      sum.duplicate += other.duplicate
      sum.late += other.late
      sum.malformed += other.malformed
      sum.unknownFormat += other.unknownFormat
      sum.overflow += other.overflow
      sum.jump += other.jump
    }
  }

  public var packetsReceived: UInt64 = 0
  /// Packets of nothing but padding.
  public var paddingPackets: UInt64 = 0
  public var packetsDiscarded = Discarded()
  /// Dependency descriptors that made no sense, or whose structure hadn't come; their packets are used without.
  public var unreadableDependencyDescriptors: UInt64 = 0
  /// Frames that became complete.
  public var framesReceived: UInt64 = 0
  /// Complete frames that took more than one packet.
  public var framesAssembledFromMultiplePackets: UInt64 = 0
  public var keyFramesReceived: UInt64 = 0
  /// Frames handed out.
  public var framesEmitted: UInt64 = 0
  /// Frames of which something arrived and that weren't handed out.
  public var framesDropped: UInt64 = 0
  /// Key frames among them whose parameter sets were in no packet and no description.
  public var framesLackingParameterSets: UInt64 = 0
  /// Times that the buffer gave up waiting for missing packets.
  public var waitsGivenUp: UInt64 = 0
  /// Times that the source was found to have restarted.
  public var restarts: UInt64 = 0
  /// Requests for a key frame that `takeKeyFrameRequest(at:)` let through.
  public var keyFrameRequests: UInt64 = 0
  /// Sum over the emitted frames of the time from first packet to emission.
  public var jitterBufferDelay = Duration.zero
  /// Sum over the emitted frames of the delay that was aimed at.
  public var jitterBufferTargetDelay = Duration.zero
  /// Sum over the complete frames of the time from first packet to completion.
  public var totalAssemblyTime = Duration.zero
  /// Payloads copied into frames: one each.
  public var payloadCopies: UInt64 = 0
  /// Payloads copied a second time, because they came before their turn.
  public var stashCopies: UInt64 = 0
  /// Payload bytes copied, both kinds.
  public var bytesCopied: UInt64 = 0

  public init() {}
}
