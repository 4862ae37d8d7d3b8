/// How long one Opus packet sounds.
public enum OpusFrameDuration: Int, Sendable, Hashable, CaseIterable {
  // The raw value is the number of samples of each channel at 48 kHz.
  case milliseconds2_5 = 120
  case milliseconds5 = 240
  case milliseconds10 = 480
  case milliseconds20 = 960
  case milliseconds40 = 1_920
  case milliseconds60 = 2_880
  case milliseconds80 = 3_840
  case milliseconds100 = 4_800
  case milliseconds120 = 5_760

  /// Samples of each channel at 48 kHz.
  public var sampleCount: Int { rawValue }

  /// The longest duration that isn't longer than `ptime` milliseconds (SDP's `ptime`), at least 2.5 ms.
  public init(notLongerThan milliseconds: Double) {
    self =
      Self.allCases.last { Double($0.rawValue) / 48 <= milliseconds } ?? .milliseconds2_5
  }
}

/// What an Opus encoder tunes itself for.
public enum OpusApplication: Sendable, Hashable, CaseIterable {
  case voip
  case audio
  /// No speech modes, and 2.5 ms less delay. Has no in-band FEC.
  case restrictedLowDelay
}

/// The highest audio frequency that is coded.
public enum OpusBandwidth: Sendable, Hashable, CaseIterable {
  /// 4 kHz.
  case narrow
  /// 6 kHz.
  case medium
  /// 8 kHz.
  case wide
  /// 12 kHz.
  case superWide
  /// 20 kHz.
  case full

  /// The least bandwidth that carries what a receiver plays (`maxplaybackrate`, RFC 7587 §6.1).
  public init(maximumPlaybackRate: Int) {
    self =
      switch maximumPlaybackRate {
      case ...8_000: .narrow
      case ...12_000: .medium
      case ...16_000: .wide
      case ...24_000: .superWide
      default: .full
      }
  }
}

/// How an Opus encoder works. All but `channels` and `application` can change between packets.
public struct OpusEncoderSettings: Sendable, Hashable {
  /// 1 or 2, of the samples that go in.
  public var channels: Int
  public var application: OpusApplication
  /// 6,000 to 510,000; nil lets the library choose by channels and bandwidth.
  public var bitsPerSecond: Int?
  /// 0 (fast) to 10 (best).
  public var complexity: Int
  public var frameDuration: OpusFrameDuration
  /// Whether each packet carries a coarse copy of the one before it, as far as `packetLossPercent` makes it worth it.
  public var usesInBandFEC: Bool
  /// 0 to 100: the loss that the encoder prepares for.
  public var packetLossPercent: Int
  /// Whether nothing is sent while it is silent (a packet every 400 ms remains).
  public var usesDTX: Bool
  /// Whether packets vary in size with what they hold.
  public var usesVariableBitrate: Bool
  /// Whether variable bitrate keeps each packet within the bits of an average one.
  public var isVariableBitrateConstrained: Bool
  public var maximumBandwidth: OpusBandwidth
  /// Whether stereo input is coded as mono.
  public var forcesMono: Bool

  public init(
    channels: Int = 2, application: OpusApplication = .audio, bitsPerSecond: Int? = nil,
    complexity: Int = 9, frameDuration: OpusFrameDuration = .milliseconds20,
    usesInBandFEC: Bool = true, packetLossPercent: Int = 0, usesDTX: Bool = false,
    usesVariableBitrate: Bool = true, isVariableBitrateConstrained: Bool = false,
    maximumBandwidth: OpusBandwidth = .full, forcesMono: Bool = false
  ) {
    self.channels = channels
    self.application = application
    self.bitsPerSecond = bitsPerSecond
    self.complexity = complexity
    self.frameDuration = frameDuration
    self.usesInBandFEC = usesInBandFEC
    self.packetLossPercent = packetLossPercent
    self.usesDTX = usesDTX
    self.usesVariableBitrate = usesVariableBitrate
    self.isVariableBitrateConstrained = isVariableBitrateConstrained
    self.maximumBandwidth = maximumBandwidth
    self.forcesMono = forcesMono
  }

  /// Throws `AudioCodecError.invalidSetting` for the first value out of range.
  public func validate() throws(AudioCodecError) {
    func check(_ name: String, _ value: Int, _ range: ClosedRange<Int>) throws(AudioCodecError) {
      guard range.contains(value) else {
        throw .invalidSetting(
          name: name, value: "\(value)", allowed: "\(range.lowerBound) to \(range.upperBound)")
      }
    }
    try check("channels", channels, 1...2)
    if let bitsPerSecond { try check("bitsPerSecond", bitsPerSecond, 6_000...510_000) }
    try check("complexity", complexity, 0...10)
    try check("packetLossPercent", packetLossPercent, 0...100)
  }
}
