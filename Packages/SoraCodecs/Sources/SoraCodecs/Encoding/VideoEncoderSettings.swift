public import SoraMedia

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What an encoder is made with. Rates can change later through `VideoEncoder.setRates`, the size with any frame.
public struct VideoEncoderSettings: Sendable, Hashable {
  /// Pixels, 1 to 16,383. A frame of another size makes the encoder follow it with one key frame.
  public var width: Int
  public var height: Int
  /// Frames a second that the encoder plans with, above 0 and up to 240.
  public var framesPerSecond: Double
  /// Bits a second to aim for. 0 pauses the encoder.
  public var targetBitsPerSecond: Int
  /// Bits a second never to aim above, whatever `setRates` says. 0 means no limit.
  public var maximumBitsPerSecond: Int
  public var contentHint: VideoContentHint
  /// What the stream says of its colours; nil for nothing. A frame that states another space (`RawVideoFrame.statedColorSpace`) makes
  /// the encoder follow it with one key frame. Frames of a codec whose streams can't say it (VP8) are converted to limited BT.601.
  public var colorSpace: VideoColorSpace?
  /// Bits of a sample in the stream, 8 or 10: VP9 (profile 2) and AV1 have both, the others 8. Frames of another depth are converted.
  /// A receiver must be able to decode it, which for VP9 is negotiated (`profile-id`), and for AV1 isn't. AV1 has no spatial layers with
  /// 10 bits (libaom crashes).
  public var bitDepth: Int
  /// Layers within the stream. An encoder that can't make them throws `CodecError.invalidSetting`.
  public var scalabilityMode: ScalabilityMode
  /// Threads of the encoder. 0 chooses by size and `cores`.
  public var threads: Int
  /// Cores that the choice of threads may count on.
  public var cores: Int
  /// Whether rate control may drop frames instead of overshooting.
  public var allowsFrameDropping: Bool
  /// The library's speed setting, for measurements. Nil chooses by size, and for H.265 by the time that frames take.
  public var speed: Int?
  /// What was negotiated, as SDP's `a=fmtp` names it: `profile-level-id` and `packetization-mode` (RFC 6184 §8.1),
  /// `profile-id` (RFC 9628 §6), `profile`, `level-idx` and `tier` (AV1), `profile-id` and `level-id` (RFC 7798 §7.1).
  /// Empty: the codec's most widely decodable profile, at the level that size and rate need.
  public var formatParameters: [String: String]
  /// Bytes that one packet's payload can hold; an encoder cuts its slices to it where the negotiated format can't split
  /// them (H.264's packetization mode 0, RFC 6184 §6.2).
  public var maximumPayloadBytes: Int

  public init(
    width: Int, height: Int, framesPerSecond: Double = 30, targetBitsPerSecond: Int = 1_000_000,
    maximumBitsPerSecond: Int = 0, contentHint: VideoContentHint = .motion,
    scalabilityMode: ScalabilityMode = .l1t1, threads: Int = 0,
    cores: Int = VideoEncoderSettings.onlineCores, allowsFrameDropping: Bool = true,
    speed: Int? = nil, formatParameters: [String: String] = [:], maximumPayloadBytes: Int = 1_130,
    colorSpace: VideoColorSpace? = nil, bitDepth: Int = 8
  ) {
    self.width = width
    self.height = height
    self.framesPerSecond = framesPerSecond
    self.targetBitsPerSecond = targetBitsPerSecond
    self.maximumBitsPerSecond = maximumBitsPerSecond
    self.contentHint = contentHint
    self.scalabilityMode = scalabilityMode
    self.threads = threads
    self.cores = cores
    self.allowsFrameDropping = allowsFrameDropping
    self.speed = speed
    self.formatParameters = formatParameters
    self.maximumPayloadBytes = maximumPayloadBytes
    self.colorSpace = colorSpace
    self.bitDepth = bitDepth
  }

  /// Cores that are online in this machine, at least 1.
  public static let onlineCores = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))

  /// `threads`, or the choice for a picture of this size: a thread must have enough rows to be worth its wake-up,
  /// and half of the cores stay for the other streams of the machine.
  public func threadCount(width: Int, height: Int) -> Int {
    if threads > 0 { return min(threads, 16) }
    let pixels = width &* height
    let wanted =
      switch pixels {
      case ..<(640 * 480): 1
      case ..<(1280 * 720): 2
      case ..<(1920 * 1080): 3
      default: 6
      }
    return max(1, min(wanted, cores <= 2 ? cores : cores / 2 + 1))
  }

  /// Throws `CodecError.invalidSetting` for the first value that no codec could take.
  public func validate() throws(CodecError) {
    guard (1...16_383).contains(width), (1...16_383).contains(height) else {
      throw .invalidSetting(
        name: "size", value: "\(width)x\(height)", allowed: "1x1 to 16383x16383")
    }
    guard bitDepth == 8 || bitDepth == 10 else {
      throw .invalidSetting(name: "bitDepth", value: "\(bitDepth)", allowed: "8, 10")
    }
    guard framesPerSecond > 0, framesPerSecond <= 240 else {
      throw .invalidSetting(
        name: "framesPerSecond", value: "\(framesPerSecond)", allowed: "above 0, up to 240")
    }
    guard targetBitsPerSecond >= 0, maximumBitsPerSecond >= 0 else {
      throw .invalidSetting(
        name: "bitsPerSecond", value: "\(targetBitsPerSecond), \(maximumBitsPerSecond)",
        allowed: "0 or more")
    }
  }
}

/// What a decoder is made with.
public struct VideoDecoderSettings: Sendable, Hashable {
  /// Threads of the decoder. 0 chooses by size and `cores`.
  public var threads: Int
  /// Cores that the choice of threads may count on.
  public var cores: Int
  /// Pixels of the largest picture that memory is reserved for. A frame that announces more throws
  /// `CodecError.pictureTooLarge`.
  public var maximumPixels: Int

  public init(
    threads: Int = 0, cores: Int = VideoEncoderSettings.onlineCores,
    maximumPixels: Int = 4_096 * 2_304
  ) {
    self.threads = threads
    self.cores = cores
    self.maximumPixels = maximumPixels
  }
}
