public import SoraMedia

/// What the network does to one outgoing stream of audio.
public struct OpusNetworkState: Sendable, Hashable {
  /// Bits per second that the stream may take with all its headers; nil if unknown.
  public var availableBitsPerSecond: Int?
  public var roundTrip: Duration?
  /// The share of packets that the receiver lost since its report before, 0 to 1; nil without a new report.
  public var lossFraction: Double?

  public init(
    availableBitsPerSecond: Int? = nil, roundTrip: Duration? = nil, lossFraction: Double? = nil
  ) {
    self.availableBitsPerSecond = availableBitsPerSecond
    self.roundTrip = roundTrip
    self.lossFraction = lossFraction
  }
}

/// Fits an Opus encoder to its network: longer packets where headers would eat up what there is, redundancy where packets
/// get lost, and a bitrate that the path carries. Numbers alone: no encoder, no clock.
///
/// The idea is that of libwebrtc's audio network adaptor; thresholds here are of what is left for audio after headers.
public struct OpusNetworkAdapter: Sendable {
  public struct Configuration: Sendable, Hashable {
    /// Bits per second to encode at if the network takes them.
    public var bitsPerSecond: Int
    public var channels: Int
    /// What may be chosen, shortest first; at least one.
    public var durations: [OpusFrameDuration]
    /// Whether the receiver makes use of in-band redundancy.
    public var allowsInBandFEC: Bool
    /// Earlier packets that each packet repeats whole (RFC 2198). In-band redundancy is left out then: it would be a
    /// worse copy of the same.
    public var redundancy: Int
    /// Bytes around the Opus packet: by default IPv4 (20), UDP (8), RTP with its extensions (12 and 20) and the tag of
    /// SRTP (16).
    public var overheadPerPacket: Int
    /// Bytes that the payload of a packet may have.
    public var maximumPayload: Int

    public init(
      bitsPerSecond: Int, channels: Int, durations: [OpusFrameDuration], allowsInBandFEC: Bool,
      redundancy: Int = 0, overheadPerPacket: Int = 76,
      maximumPayload: Int = OpusEncoder.maximumPacketSize
    ) {
      self.bitsPerSecond = min(
        max(bitsPerSecond, OpusEncoderSettings.bitrates.lowerBound),
        OpusEncoderSettings.bitrates.upperBound)
      self.channels = min(max(channels, 1), 2)
      self.durations = durations.isEmpty ? [.milliseconds20] : durations
      self.allowsInBandFEC = allowsInBandFEC
      self.redundancy = min(max(redundancy, 0), 4)
      self.overheadPerPacket = max(0, overheadPerPacket)
      self.maximumPayload = max(100, maximumPayload)
    }
  }

  /// What the encoder is to do.
  public struct Decision: Sendable, Hashable {
    public var frameDuration: OpusFrameDuration
    public var bitsPerSecond: Int
    public var usesInBandFEC: Bool
    public var packetLossPercent: Int
  }

  /// Where packets get shorter again, the path must have had room for that long: each change costs a little quality, and an
  /// estimate that swings must not swing the packets with it.
  private static let holdTime = Duration.seconds(5)
  /// Loss from which it is prepared for, and below which it isn't any more.
  private static let lossOn = 0.01
  private static let lossOff = 0.004
  /// Loss from which long packets do more harm than their headers cost.
  private static let lossForShort = 0.08
  /// Beyond this a call has echoes of silence anyway, so 20 or 40 ms more weigh less than better audio.
  private static let longRoundTrip = Duration.milliseconds(300)

  public let configuration: Configuration
  public private(set) var decision: Decision
  /// The smoothed share of lost packets.
  public private(set) var loss = 0.0
  /// The allowed durations whose packets fit a datagram at the full rate, or the shortest one.
  private let candidates: [OpusFrameDuration]
  /// Since when shorter packets have had room.
  private var roomSince: Instant?

  public init(_ configuration: Configuration) {
    self.configuration = configuration
    candidates = Self.candidates(configuration)
    decision = Decision(
      frameDuration: .milliseconds20, bitsPerSecond: configuration.bitsPerSecond,
      usesInBandFEC: false, packetLossPercent: 0)
    decision.frameDuration = candidates[0]
    decision.bitsPerSecond = payloadRate(decision.frameDuration, available: nil)
  }

  /// Takes in what the network did, about once per second, and says what the encoder is to do from now on.
  @discardableResult
  public mutating func update(_ network: OpusNetworkState, at now: Instant) -> Decision {
    if let fraction = network.lossFraction { noteLoss(min(max(fraction, 0), 1)) }
    decision.frameDuration = duration(network, at: now)
    decision.bitsPerSecond = payloadRate(
      decision.frameDuration, available: network.availableBitsPerSecond)
    return decision
  }

  // MARK: Loss

  private mutating func noteLoss(_ fraction: Double) {
    // Up at once, as the next packets are at risk; down slowly, as losses come in bursts.
    loss = fraction > loss ? loss + (fraction - loss) * 0.6 : loss * 0.85 + fraction * 0.15
    // Encoders spend more on redundancy in steps; a value that wavers would change the quality with every report.
    let isExpected =
      loss >= Self.lossOn || (decision.packetLossPercent > 0 && loss > Self.lossOff)
    decision.packetLossPercent = isExpected ? percent : 0
    decision.usesInBandFEC =
      isExpected && configuration.allowsInBandFEC && configuration.redundancy == 0
  }

  /// Whole percents, in the steps 1, 2, 5, 10, 15, 20, 25: more than a quarter is beyond what one copy mends.
  private var percent: Int {
    let exact = loss * 100
    return [25, 20, 15, 10, 5, 2, 1].last { Double($0) >= exact } ?? 25
  }

  // MARK: Packet time and rate

  private static func candidates(_ configuration: Configuration) -> [OpusFrameDuration] {
    let bits = configuration.bitsPerSecond * (1 + configuration.redundancy)
    let fitting = configuration.durations.filter {
      Double(bits) / 8_000 * $0.milliseconds <= Double(configuration.maximumPayload)
    }
    if !fitting.isEmpty { return fitting }
    guard let shortest = configuration.durations.first else { return [.milliseconds20] }
    // The bitrate needs shorter packets than the usual ones: 510 kbit/s don't fit 20 ms with everything around them.
    let shorter = OpusFrameDuration.allCases.last {
      $0 < shortest
        && Double(bits) / 8_000 * $0.milliseconds <= Double(configuration.maximumPayload)
    }
    return [configuration.durations.count > 1 ? shorter ?? shortest : shortest]
  }

  /// Bits per second that are left for audio.
  private func payloadRate(_ duration: OpusFrameDuration, available: Int?) -> Int {
    let wanted = configuration.bitsPerSecond
    let most = Double(configuration.maximumPayload * 8_000) / duration.milliseconds
    let fitting = min(Double(wanted), most / Double(1 + configuration.redundancy))
    guard let available else { return clamped(fitting) }
    let headers = Double(configuration.overheadPerPacket * 8_000) / duration.milliseconds
    let rest = (Double(max(0, available)) - headers) / Double(1 + configuration.redundancy)
    return clamped(min(fitting, rest))
  }

  private func clamped(_ bits: Double) -> Int {
    min(max(Int(bits), OpusEncoderSettings.bitrates.lowerBound), configuration.bitsPerSecond)
  }

  private mutating func duration(_ network: OpusNetworkState, at now: Instant)
    -> OpusFrameDuration
  {
    guard let available = network.availableBitsPerSecond, candidates.count > 1 else {
      roomSince = nil
      return candidates.contains(decision.frameDuration) ? decision.frameDuration : candidates[0]
    }
    // Below `poor` speech suffers to be heard; `good` is what a shorter packet must leave before it is taken.
    let isFar = (network.roundTrip ?? .zero) >= Self.longRoundTrip
    let share = isFar ? 1.5 : 1.0
    let full = Double(configuration.bitsPerSecond)
    let poor = min(full, 16_000 * Double(configuration.channels) * share)
    let good = min(full, 22_000 * Double(configuration.channels) * share)
    func rate(_ duration: OpusFrameDuration) -> Double {
      Double(payloadRate(duration, available: available))
    }
    let index = candidates.firstIndex(of: decision.frameDuration) ?? 0
    let isLossy = loss >= Self.lossForShort
    if rate(candidates[index]) < poor, index + 1 < candidates.count,
      !(isLossy && rate(candidates[index]) >= 10_000)
    {
      roomSince = nil
      // As long as it takes, at once: what doesn't fit the path now becomes delay and loss.
      let next = candidates[(index + 1)...].first { rate($0) >= poor }
      return next ?? candidates[candidates.count - 1]
    }
    guard index > 0 else {
      roomSince = nil
      return candidates[index]
    }
    let shorter = candidates[index - 1]
    guard rate(shorter) >= (isLossy ? 10_000 : good) else {
      roomSince = nil
      return candidates[index]
    }
    let since = roomSince ?? now
    roomSince = since
    guard now - since >= Self.holdTime || isLossy else { return candidates[index] }
    roomSince = nil
    return shorter
  }
}

extension OpusFrameDuration: Comparable {
  public static func < (a: OpusFrameDuration, b: OpusFrameDuration) -> Bool {
    a.rawValue < b.rawValue
  }
}

extension OpusEncoderSettings {
  /// Takes over what an adapter decided.
  public mutating func apply(_ decision: OpusNetworkAdapter.Decision) {
    frameDuration = decision.frameDuration
    bitsPerSecond = decision.bitsPerSecond
    usesInBandFEC = decision.usesInBandFEC
    packetLossPercent = decision.packetLossPercent
  }
}
