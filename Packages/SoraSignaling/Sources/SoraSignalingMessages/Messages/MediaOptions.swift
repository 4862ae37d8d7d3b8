/// The keys `audio` and `video` of `connect`: on, off, or on with options.
public enum MediaSetting<Options: FieldContent>: FieldContent {
  case enabled
  case disabled
  case options(Options)

  public var isEnabled: Bool { self != .disabled }

  /// nil without options.
  public var options: Options? {
    if case .options(let options) = self { options } else { nil }
  }

  public static func read(
    _ json: JSONValue, path: @autoclosure () -> String
  ) throws(SignalingError) -> MediaSetting {
    switch json {
    case .bool(true): return .enabled
    case .bool(false): return .disabled
    case .object: return .options(try Options.read(json, path: path()))
    default: throw .invalid(path(), json, expected: expectation)
    }
  }

  public var json: JSONValue {
    switch self {
    case .enabled: .bool(true)
    case .disabled: .bool(false)
    case .options(let options): options.json
    }
  }

  public static var expectation: String { "true, false or an object" }

  public func check(path: String) throws(SignalingError) { try options?.check(path: path) }

  public func unknownKeys(path: String) -> [String] { options?.unknownKeys(path: path) ?? [] }
}

/// What a client requests for the audio that it sends.
public typealias AudioOptions = SignalingObject<AudioFields>

/// The keys of `connect.audio`.
public struct AudioFields: OptionalFields {
  public static let schema = Schema(Self())

  /// `OPUS`.
  public let codecType = Field<String?>("codec_type")
  /// kbit/s; what Opus can do (RFC 6716 §2.1.1).
  public let bitRate = Field<Int?>("bit_rate", .range(6...510))
  public let opusParams = Field<OpusParams?>("opus_params")
}

/// What a client requests for the video that it sends.
public typealias VideoOptions = SignalingObject<VideoFields>

/// The keys of `connect.video`.
public struct VideoFields: OptionalFields {
  public static let schema = Schema(Self())

  /// `VP8`, `VP9`, `AV1`, `H264` or `H265`.
  public let codecType = Field<String?>("codec_type")
  /// kbit/s
  public let bitRate = Field<Int?>("bit_rate", .range(1...50_000))
  public let vp9Params = Field<VP9Params?>("vp9_params")
  public let av1Params = Field<AV1Params?>("av1_params")
  public let h264Params = Field<H264Params?>("h264_params")
  public let h265Params = Field<H265Params?>("h265_params")
}

/// How Opus shall be used.
public typealias OpusParams = SignalingObject<OpusFields>

/// The keys of `connect.audio.opus_params`; RFC 7587 §6.1 explains most of them.
public struct OpusFields: OptionalFields {
  public static let schema = Schema(Self())

  public let channels = Field<Int?>("channels", .range(1...2))
  /// Hz. Opus has but this one RTP clock (RFC 7587 §4.1).
  public let clockRate = Field<Int?>("clock_rate", .range(48_000...48_000))
  /// Hz
  public let maxPlaybackRate = Field<Int?>("maxplaybackrate", .range(8_000...48_000))
  /// Milliseconds.
  public let minPTime = Field<Int?>("minptime", .range(3...120))
  /// Milliseconds.
  public let pTime = Field<Int?>("ptime", .range(3...120))
  public let stereo = Field<Bool?>("stereo")
  public let spropStereo = Field<Bool?>("sprop_stereo")
  public let useInbandFEC = Field<Bool?>("useinbandfec")
  public let useDTX = Field<Bool?>("usedtx")
}

/// Which VP9.
public typealias VP9Params = SignalingObject<VP9Fields>

/// The keys of `connect.video.vp9_params`.
public struct VP9Fields: OptionalFields {
  public static let schema = Schema(Self())

  public let profileID = Field<Int?>("profile_id", .range(0...3))
}

/// Which AV1.
public typealias AV1Params = SignalingObject<AV1Fields>

/// The keys of `connect.video.av1_params`.
public struct AV1Fields: OptionalFields {
  public static let schema = Schema(Self())

  public let profile = Field<Int?>("profile", .range(0...2))
}

/// Which H.264.
public typealias H264Params = SignalingObject<H264Fields>

/// The keys of `connect.video.h264_params`.
public struct H264Fields: OptionalFields {
  public static let schema = Schema(Self())

  /// RFC 6184 §8.1.
  public let profileLevelID = Field<String?>("profile_level_id", .hexadecimalDigits(6))
  public let bFrame = Field<Bool?>("b_frame")
}

/// Which H.265.
public typealias H265Params = SignalingObject<H265Fields>

/// The keys of `connect.video.h265_params`.
public struct H265Fields: OptionalFields {
  public static let schema = Schema(Self())

  /// Thirty times the level (RFC 7798 §7.1).
  public let levelID = Field<Int?>("level_id", .range(0...255))
  public let bFrame = Field<Bool?>("b_frame")
}
