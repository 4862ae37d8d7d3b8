/// How much audio one Opus packet holds.
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

  public var milliseconds: Double { Double(rawValue) / 48 }

  /// The longest duration that isn't longer than `ptime` milliseconds (SDP's `ptime`), at least 2.5 ms.
  public init(notLongerThan milliseconds: Double) {
    self =
      Self.allCases.last { $0.milliseconds <= milliseconds } ?? .milliseconds2_5
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
public enum OpusBandwidth: Int, Sendable, Hashable, CaseIterable, Comparable {
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

  public static func < (a: OpusBandwidth, b: OpusBandwidth) -> Bool { a.rawValue < b.rawValue }

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

/// How the size of packets may vary.
public enum OpusRateControl: Sendable, Hashable, CaseIterable {
  /// Each packet takes what its audio needs; the bitrate is an average over seconds.
  case variable
  /// Likewise, but bits that were saved or spent ahead stay within what one packet holds: no bursts on a narrow path.
  case constrainedVariable
  /// All packets of one duration have one size. Hides what is said from those who see only sizes (RFC 6562 §3).
  case constant
}

/// What the audio is. A hint: without it the encoder judges by itself, which takes it some seconds.
public enum OpusSignal: Sendable, Hashable, CaseIterable {
  case automatic
  case voice
  case music
}

/// How an Opus encoder works. All but `channels` and `application` can change between packets.
public struct OpusEncoderSettings: Sendable, Hashable {
  /// Bits per second that an encoder can aim for.
  public static let bitrates = 6_000...510_000
  /// Bytes that a packet may be limited to. Several frames of up to 1,275 bytes (RFC 6716 §3.2) would be more than 1,400, and not fit a
  /// datagram: 510 kbit/s are reached with packets of 20 ms and less.
  public static let packetSizes = 2...1_400

  /// 1 or 2, of the samples that go in.
  public var channels: Int
  public var application: OpusApplication
  /// 6,000 to 510,000; nil lets the library choose by channels and bandwidth.
  public var bitsPerSecond: Int?
  /// 0 (fast) to 10 (best).
  public var complexity: Int
  public var frameDuration: OpusFrameDuration
  /// Whether each packet carries a coarse copy of the one before it, as far as `packetLossPercent` makes it worth it. Only
  /// the speech modes can: at low bitrates, not with `restrictedLowDelay`, from 10 ms a packet on.
  public var usesInBandFEC: Bool
  /// 0 to 100: the loss that the encoder prepares for.
  public var packetLossPercent: Int
  /// Whether nothing is sent while it is silent (a packet every 400 ms remains).
  public var usesDTX: Bool
  public var rateControl: OpusRateControl
  public var maximumBandwidth: OpusBandwidth
  public var signal: OpusSignal
  /// Whether stereo input is coded as mono.
  public var forcesMono: Bool
  /// Bytes of a packet at most, one of `packetSizes`. Quality gives way where a packet would be larger.
  public var maximumPacketSize: Int

  public init(
    channels: Int = 2, application: OpusApplication = .audio, bitsPerSecond: Int? = nil,
    complexity: Int = 9, frameDuration: OpusFrameDuration = .milliseconds20,
    usesInBandFEC: Bool = true, packetLossPercent: Int = 0, usesDTX: Bool = false,
    rateControl: OpusRateControl = .constrainedVariable, maximumBandwidth: OpusBandwidth = .full,
    signal: OpusSignal = .automatic, forcesMono: Bool = false,
    maximumPacketSize: Int = packetSizes.upperBound
  ) {
    self.channels = channels
    self.application = application
    self.bitsPerSecond = bitsPerSecond
    self.complexity = complexity
    self.frameDuration = frameDuration
    self.usesInBandFEC = usesInBandFEC
    self.packetLossPercent = packetLossPercent
    self.usesDTX = usesDTX
    self.rateControl = rateControl
    self.maximumBandwidth = maximumBandwidth
    self.signal = signal
    self.forcesMono = forcesMono
    self.maximumPacketSize = maximumPacketSize
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
    if let bitsPerSecond { try check("bitsPerSecond", bitsPerSecond, Self.bitrates) }
    try check("complexity", complexity, 0...10)
    try check("packetLossPercent", packetLossPercent, 0...100)
    try check("maximumPacketSize", maximumPacketSize, Self.packetSizes)
  }
}
