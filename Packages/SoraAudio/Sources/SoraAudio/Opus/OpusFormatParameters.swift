/// What a receiver of Opus says about itself in SDP: `a=fmtp` with `a=ptime` and `a=maxptime` (RFC 7587 §6.1, §7).
///
/// nil if it says nothing that can be used.
public struct OpusFormatParameters: Sendable, Hashable {
  /// Hz that it plays at most; 8,000 to 48,000.
  public var maximumPlaybackRate: Int?
  /// Bits per second that it takes on average at most; 6,000 to 510,000.
  public var maximumAverageBitrate: Int?
  /// Whether it would rather receive stereo than mono.
  public var prefersStereo = false
  /// Whether what the writer itself sends is likely to be stereo (`sprop-stereo`).
  public var sendsStereo = false
  public var prefersConstantBitrate = false
  /// Whether it makes use of in-band redundancy.
  public var usesInBandFEC = false
  /// Whether it would rather have silence left out.
  public var prefersDTX = false
  /// Milliseconds of audio that it would like in a packet.
  public var packetTime: Double?
  /// Bounds of it, in milliseconds.
  public var minimumPacketTime: Double?
  public var maximumPacketTime: Double?

  public init() {}

  /// Reads the parameters; `value` gives that of a name as it is written, nil if it isn't there.
  public init(_ value: (String) -> String?) {
    func number(_ name: String, _ range: ClosedRange<Int>) -> Int? {
      value(name).flatMap { Int($0) }.flatMap { range.contains($0) ? $0 : nil }
    }
    func milliseconds(_ name: String) -> Double? {
      // Browsers write 2.5 ms as 3, and some peers as it is.
      value(name).flatMap { Double($0) }.flatMap { (2.5...120).contains($0) ? $0 : nil }
    }
    maximumPlaybackRate = number("maxplaybackrate", 8_000...48_000)
    // A rate beyond what Opus has means the nearest one that it has.
    maximumAverageBitrate = value("maxaveragebitrate").flatMap { Int($0) }.map {
      min(max($0, 6_000), 510_000)
    }
    prefersStereo = value("stereo") == "1"
    sendsStereo = value("sprop-stereo") == "1"
    prefersConstantBitrate = value("cbr") == "1"
    usesInBandFEC = value("useinbandfec") == "1"
    prefersDTX = value("usedtx") == "1"
    packetTime = milliseconds("ptime")
    minimumPacketTime = milliseconds("minptime")
    maximumPacketTime = milliseconds("maxptime")
  }

  /// The durations of packets that an encoder may choose from, shortest first; never empty.
  ///
  /// Where the receiver names a duration that is the only one. Else they are those that pay: 20 ms, and 40 and 60 ms to
  /// save headers; with a bound beyond them, the nearest one to it.
  public var packetDurations: [OpusFrameDuration] {
    let minimum = minimumPacketTime ?? 2.5
    let maximum = max(maximumPacketTime ?? 120, minimum)
    if let packetTime {
      return [OpusFrameDuration(notLongerThan: min(max(packetTime, minimum), maximum))]
    }
    let usual: [OpusFrameDuration] = [.milliseconds20, .milliseconds40, .milliseconds60]
    let allowed = usual.filter { $0.milliseconds >= minimum && $0.milliseconds <= maximum }
    if !allowed.isEmpty { return allowed }
    guard minimum > 20 else { return [OpusFrameDuration(notLongerThan: maximum)] }
    let longer = OpusFrameDuration.allCases.first { $0.milliseconds >= minimum }
    return [longer ?? .milliseconds120]
  }

  /// How to encode for this receiver.
  ///
  /// - Parameter bitrateLimit: bits per second that its section may take at most (`b=`), where it says so.
  public func encoderSettings(bitrateLimit: Int? = nil) -> OpusEncoderSettings {
    var settings = OpusEncoderSettings()
    settings.channels = prefersStereo ? 2 : 1
    // What is heard in mono is speech as a rule, and only the speech modes have redundancy in band.
    settings.application = prefersStereo ? .audio : .voip
    settings.usesInBandFEC = usesInBandFEC
    settings.usesDTX = prefersDTX
    if prefersConstantBitrate { settings.rateControl = .constant }
    if let maximumPlaybackRate {
      settings.maximumBandwidth = OpusBandwidth(maximumPlaybackRate: maximumPlaybackRate)
    }
    settings.frameDuration = packetDurations[0]
    // The usual choice for what is heard, unless told otherwise: speech 32 kbit/s, stereo 64; less than full band needs
    // less (RFC 7587 §3.1.1 has 16 to 20 kbit/s for wideband speech, 8 to 12 for narrowband).
    let usual =
      switch settings.maximumBandwidth {
      case .narrow: 12_000
      case .medium, .wide: 20_000
      case .superWide, .full: 32_000
      }
    let wanted = maximumAverageBitrate ?? bitrateLimit ?? usual * settings.channels
    let bits = min(wanted, bitrateLimit ?? wanted)
    settings.bitsPerSecond = min(max(bits, 6_000), 510_000)
    return settings
  }
}
