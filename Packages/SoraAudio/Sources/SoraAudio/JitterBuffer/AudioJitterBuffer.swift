public import SoraMedia

/// Turns packets that come unevenly, late, twice or never into audio that never stops.
///
/// Packets go in as they arrive; 10 ms of audio at a time are pulled out at the pace of the audio device. The delay adapts
/// to the jitter of the last half minute: it grows when packets would come too late and shrinks when it can, by taking out
/// or repeating pitch periods, out of pauses where there are any. Lost packets are restored from redundancy or concealed by the decoder.
///
/// Sans-I/O and confined: it isn't `Sendable`, and all its calls come from one serial executor or thread. Steady state
/// allocates nothing.
public final class AudioJitterBuffer {
  /// How an `AudioJitterBuffer` works.
  public struct Configuration: Sendable, Hashable {
    /// Packets that are kept at most, 4 to 2,000, or more where `minimumDelay` holds more of them back; one more makes the buffer start over.
    public var maximumPackets: Int
    /// Bounds of the delay that is aimed for.
    public var minimumDelay: Duration
    public var maximumDelay: Duration

    public init(
      maximumPackets: Int = 200, minimumDelay: Duration = .zero,
      maximumDelay: Duration = .milliseconds(1_000)
    ) {
      self.maximumPackets = maximumPackets
      self.minimumDelay = minimumDelay
      self.maximumDelay = maximumDelay
    }
  }

  /// What 10 ms of output are made of.
  public enum Content: Sendable, Hashable {
    /// Silence: nothing has come yet.
    case silence
    /// Decoded packets, perhaps stretched or restored from redundancy.
    case audio
    /// Made up for packets that are missing.
    case concealment
    /// The sender transmits nothing on purpose.
    case comfortNoise
  }

  /// What one pull gave.
  public struct Playout: Sendable, Hashable {
    public var content: Content
    /// The RTP timestamp of the first sample; nil before the first packet. To keep video in step.
    public var rtpTimestamp: UInt32?
  }

  /// Samples of each channel that one pull gives: 10 ms at 48 kHz.
  public static let samplesPerPull = 480

  /// Channels of the output, interleaved.
  public let channels: Int
  public var configuration: Configuration
  public internal(set) var stats = AudioJitterBufferStats()

  let decoder: any AudioPayloadDecoder
  var packets: AudioPacketBuffer
  var samples: PlayoutSamples
  var delays = DelayManager()
  var position = PlayoutPosition()
  var isSilenceAnnounced = false
  var content = Content.silence
  var isConcealing = false
  var pace = StretchPace()
  var pauses = SpeechPauses()

  private var arrivals = PacketArrivals()
  private var lateRun = 0

  /// A buffer that decodes with `decoder`, which must be its alone.
  public init(
    decoder: any AudioPayloadDecoder, configuration: Configuration = Configuration()
  ) {
    self.decoder = decoder
    self.configuration = configuration
    channels = min(max(decoder.channels, 1), 2)
    packets = AudioPacketBuffer(
      capacity: min(max(configuration.maximumPackets, 4), Self.mostPackets))
    samples = PlayoutSamples(channels: channels)
  }

  /// Takes in the payload of one RTP packet (48 kHz clock) that arrived at `now`. The bytes are copied.
  ///
  /// Late, duplicate, malformed and surplus packets are dropped and counted in `stats`.
  public func insert(
    sequenceNumber: UInt16, timestamp: UInt32, payload: Span<UInt8>, at now: Instant
  ) {
    guard let sampleCount = decoder.sampleCount(of: payload), sampleCount > 0,
      sampleCount <= 5_760
    else {
      stats.packetsMalformed += 1
      return
    }
    let sequence = arrivals.extend(sequenceNumber)
    let time = arrivals.extend(timestamp)
    let isNewest = arrivals.insert(sequence, timestamp: time)
    delays.note(mediaTime: Self.nanoseconds(time), isOvertaken: !isNewest, at: now)
    let restored = decoder.redundantSampleCount(of: payload)
    if restored > 0 {
      delays.expectRedundancy()
      // What is restored from this packet comes with it. As with whole copies, the delay grows by that only while packets are missing.
      if position.phase != .starting, !arrivals.contains(sequence - 1) {
        delays.noteCopy(mediaTime: Self.nanoseconds(time &- Int64(restored)), at: now)
      }
    }

    if position.isPast(time) {
      stats.packetsDiscarded += 1
      stats.packetsLate += 1
      lateRun += 1
      // Half a second of nothing but late packets: the sender's clock has jumped back.
      if lateRun >= 25 { restart(flushing: true) }
      return
    }
    makeRoom(for: sampleCount)
    switch packets.insert(
      sequenceNumber: sequence, timestamp: time, sampleCount: sampleCount,
      arrival: now.nanoseconds, payload: payload)
    {
    case .stored:
      stats.packetsInserted += 1
      lateRun = 0
    case .duplicate: stats.packetsDuplicated += 1
    case .tooLarge: stats.packetsMalformed += 1
    case .full:
      stats.packetsDiscarded += UInt64(packets.count) + 1
      restart(flushing: true)
    }
  }

  /// Takes in a copy of an earlier packet that came inside a later one (RFC 2198), which was inserted before it.
  ///
  /// - Parameters:
  ///   - sequenceNumber: that of the earlier packet: what is before the later one by as many as copies are between.
  ///   - timestamp: the earlier packet's own.
  ///   - payload: the copy, lent for the call.
  ///   - now: the present time.
  ///
  /// Copies of what came by itself, and of what was played or given up, are dropped and counted. A copy that fills a gap
  /// also tells how long to wait for copies: while packets get lost the delay grows by what a copy comes later.
  public func insertRedundant(
    sequenceNumber: UInt16, timestamp: UInt32, payload: Span<UInt8>, at now: Instant
  ) {
    stats.fecPacketsReceived += 1
    guard !arrivals.isEmpty, let sampleCount = decoder.sampleCount(of: payload),
      sampleCount > 0, sampleCount <= 5_760
    else {
      stats.fecPacketsDiscarded += 1
      return
    }
    let sequence = arrivals.extend(sequenceNumber)
    let time = arrivals.extend(timestamp)
    guard !arrivals.contains(sequence) else {
      stats.fecPacketsDiscarded += 1
      return
    }
    delays.noteCopy(mediaTime: Self.nanoseconds(time), at: now)
    makeRoom(for: sampleCount)
    // A stream begins with the first packet that came by itself: its copies would only make the start later.
    let isUseful =
      position.phase == .starting
      ? packets.first.map { time > $0.timestamp } ?? false : time >= position.expected
    guard isUseful,
      case .stored = packets.insert(
        sequenceNumber: sequence, timestamp: time, sampleCount: sampleCount,
        arrival: now.nanoseconds, payload: payload)
    else {
      stats.fecPacketsDiscarded += 1
      return
    }
    _ = arrivals.insert(sequence, timestamp: time)
  }

  /// Has packets of a length wait for as long as is wished, and half as long again, for those that come all at once.
  private func makeRoom(for sampleCount: Int) {
    let held = configuration.minimumDelay.wholeNanoseconds / Self.nanoseconds(Int64(sampleCount))
    packets.capacity = min(
      max(configuration.maximumPackets, 4, Int(held + held / 2)), Self.mostPackets)
  }

  /// Forgets the stream, as at the start, but for the counters. For another SSRC.
  public func reset() {
    restart(flushing: true)
    arrivals = PacketArrivals()
    delays.reset()
    samples.reset()
    decoder.reset()
    pauses = SpeechPauses()
    isSilenceAnnounced = false
    content = .silence
  }

  /// Packets that wait.
  public var packetCount: Int { packets.count }

  /// The delay that is aimed for at present, counted from the fastest packets.
  public var targetDelay: Duration { .nanoseconds(target) }

  /// The delay of what is played at present, likewise; nil before anything was.
  public var currentDelay: Duration? { pace.delay.map { .nanoseconds($0) } }

  var target: Int64 {
    // A packet is needed at the latest one pull before its first sample is due.
    let lowest = configuration.minimumDelay.wholeNanoseconds
    let highest = max(lowest, configuration.maximumDelay.wholeNanoseconds)
    return min(max(delays.targetDelay + PlayoutPolicy.pull, lowest), highest)
  }

  func restart(flushing: Bool) {
    position.restart()
    lateRun = 0
    pace.clear()
    if flushing {
      packets.removeAll()
      delays.restart()
      stats.flushes += 1
    }
  }

  /// Four seconds of the shortest packets, and some.
  private static let mostPackets = 2_000

  static func nanoseconds(_ samples: Int64) -> Int64 { samples &* 62_500 / 3 }
}
