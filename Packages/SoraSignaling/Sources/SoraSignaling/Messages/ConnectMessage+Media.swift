/// The keys `audio` and `video` of `connect`: on, off, or on with wishes.
public enum MediaSetting<Options: Sendable & Hashable>: Sendable, Hashable {
  case enabled
  case disabled
  case options(Options)

  public var isEnabled: Bool { self != .disabled }

  /// The wishes, if there are any.
  public var options: Options? {
    if case .options(let options) = self { options } else { nil }
  }
}

extension MediaSetting where Options: JSONFields {
  init(json: JSONValue, path: String) throws(SignalingError) {
    switch json {
    case .bool(true): self = .enabled
    case .bool(false): self = .disabled
    case .object: self = .options(try Options(json: json, path: path))
    default: throw .invalid(path, json, expected: "true, false or an object")
    }
  }

  var json: JSONValue {
    switch self {
    case .enabled: .bool(true)
    case .disabled: .bool(false)
    case .options(let options): options.json
    }
  }
}

/// Wishes for the audio that a connection sends.
public struct AudioOptions: Sendable, Hashable, JSONFields {
  /// `OPUS`.
  public var codecType: String?
  /// Kilobits a second.
  public var bitRate: Int?
  /// An object; `OpusParams` names its keys.
  public var opusParams: JSONValue?
  public var additional: [String: JSONValue]

  public init(
    codecType: String? = nil, bitRate: Int? = nil, opusParams: JSONValue? = nil,
    additional: [String: JSONValue] = [:]
  ) {
    self.codecType = codecType
    self.bitRate = bitRate
    self.opusParams = opusParams
    self.additional = additional
  }

  init(json: JSONValue, path: String) throws(SignalingError) {
    var reader = try JSONFieldReader(nested: json, path: path)
    codecType = try reader.string("codec_type")
    bitRate = try reader.int("bit_rate")
    opusParams = reader.any("opus_params")
    additional = reader.rest
  }

  var json: JSONValue {
    var writer = JSONFieldWriter(additional: additional)
    writer.set("codec_type", codecType)
    writer.set("bit_rate", bitRate)
    writer.set("opus_params", opusParams)
    return writer.json
  }
}

/// Wishes for the video that a connection sends.
public struct VideoOptions: Sendable, Hashable, JSONFields {
  /// `VP8`, `VP9`, `AV1`, `H264` or `H265`.
  public var codecType: String?
  /// Kilobits a second.
  public var bitRate: Int?
  /// Objects; the types of the same name give their keys.
  public var vp9Params: JSONValue?
  public var av1Params: JSONValue?
  public var h264Params: JSONValue?
  public var h265Params: JSONValue?
  public var additional: [String: JSONValue]

  public init(
    codecType: String? = nil, bitRate: Int? = nil, vp9Params: JSONValue? = nil,
    av1Params: JSONValue? = nil, h264Params: JSONValue? = nil, h265Params: JSONValue? = nil,
    additional: [String: JSONValue] = [:]
  ) {
    self.codecType = codecType
    self.bitRate = bitRate
    self.vp9Params = vp9Params
    self.av1Params = av1Params
    self.h264Params = h264Params
    self.h265Params = h265Params
    self.additional = additional
  }

  init(json: JSONValue, path: String) throws(SignalingError) {
    var reader = try JSONFieldReader(nested: json, path: path)
    codecType = try reader.string("codec_type")
    bitRate = try reader.int("bit_rate")
    vp9Params = reader.any("vp9_params")
    av1Params = reader.any("av1_params")
    h264Params = reader.any("h264_params")
    h265Params = reader.any("h265_params")
    additional = reader.rest
  }

  var json: JSONValue {
    var writer = JSONFieldWriter(additional: additional)
    writer.set("codec_type", codecType)
    writer.set("bit_rate", bitRate)
    writer.set("vp9_params", vp9Params)
    writer.set("av1_params", av1Params)
    writer.set("h264_params", h264Params)
    writer.set("h265_params", h265Params)
    return writer.json
  }
}

/// The keys of `audio.opus_params`.
public struct OpusParams: Sendable, Hashable {
  public var channels: Int?
  public var clockRate: Int?
  public var maxPlaybackRate: Int?
  /// Milliseconds.
  public var minPTime: Int?
  public var pTime: Int?
  public var stereo: Bool?
  public var spropStereo: Bool?
  public var useInbandFEC: Bool?
  public var useDTX: Bool?

  public init(
    channels: Int? = nil, clockRate: Int? = nil, maxPlaybackRate: Int? = nil,
    minPTime: Int? = nil, pTime: Int? = nil, stereo: Bool? = nil, spropStereo: Bool? = nil,
    useInbandFEC: Bool? = nil, useDTX: Bool? = nil
  ) {
    self.channels = channels
    self.clockRate = clockRate
    self.maxPlaybackRate = maxPlaybackRate
    self.minPTime = minPTime
    self.pTime = pTime
    self.stereo = stereo
    self.spropStereo = spropStereo
    self.useInbandFEC = useInbandFEC
    self.useDTX = useDTX
  }

  public init(json: JSONValue) throws(SignalingError) {
    var reader = try JSONFieldReader(nested: json, path: "audio.opus_params")
    channels = try reader.int("channels")
    clockRate = try reader.int("clock_rate")
    maxPlaybackRate = try reader.int("maxplaybackrate")
    minPTime = try reader.int("minptime")
    pTime = try reader.int("ptime")
    stereo = try reader.bool("stereo")
    spropStereo = try reader.bool("sprop_stereo")
    useInbandFEC = try reader.bool("useinbandfec")
    useDTX = try reader.bool("usedtx")
  }

  public var json: JSONValue {
    var writer = JSONFieldWriter()
    writer.set("channels", channels)
    writer.set("clock_rate", clockRate)
    writer.set("maxplaybackrate", maxPlaybackRate)
    writer.set("minptime", minPTime)
    writer.set("ptime", pTime)
    writer.set("stereo", stereo)
    writer.set("sprop_stereo", spropStereo)
    writer.set("useinbandfec", useInbandFEC)
    writer.set("usedtx", useDTX)
    return writer.json
  }
}

/// The keys of `video.vp9_params`.
public struct VP9Params: Sendable, Hashable {
  /// 0 to 3.
  public var profileID: Int?

  public init(profileID: Int? = nil) { self.profileID = profileID }

  public init(json: JSONValue) throws(SignalingError) {
    var reader = try JSONFieldReader(nested: json, path: "video.vp9_params")
    profileID = try reader.int("profile_id")
  }

  public var json: JSONValue {
    var writer = JSONFieldWriter()
    writer.set("profile_id", profileID)
    return writer.json
  }
}

/// The keys of `video.av1_params`.
public struct AV1Params: Sendable, Hashable {
  /// 0 to 2.
  public var profile: Int?

  public init(profile: Int? = nil) { self.profile = profile }

  public init(json: JSONValue) throws(SignalingError) {
    var reader = try JSONFieldReader(nested: json, path: "video.av1_params")
    profile = try reader.int("profile")
  }

  public var json: JSONValue {
    var writer = JSONFieldWriter()
    writer.set("profile", profile)
    return writer.json
  }
}

/// The keys of `video.h264_params`.
public struct H264Params: Sendable, Hashable {
  /// Six hexadecimal digits (RFC 6184 §8.1).
  public var profileLevelID: String?
  public var bFrame: Bool?

  public init(profileLevelID: String? = nil, bFrame: Bool? = nil) {
    self.profileLevelID = profileLevelID
    self.bFrame = bFrame
  }

  public init(json: JSONValue) throws(SignalingError) {
    var reader = try JSONFieldReader(nested: json, path: "video.h264_params")
    profileLevelID = try reader.string("profile_level_id")
    bFrame = try reader.bool("b_frame")
  }

  public var json: JSONValue {
    var writer = JSONFieldWriter()
    writer.set("profile_level_id", profileLevelID)
    writer.set("b_frame", bFrame)
    return writer.json
  }
}

/// The keys of `video.h265_params`.
public struct H265Params: Sendable, Hashable {
  public var levelID: Int?
  public var bFrame: Bool?

  public init(levelID: Int? = nil, bFrame: Bool? = nil) {
    self.levelID = levelID
    self.bFrame = bFrame
  }

  public init(json: JSONValue) throws(SignalingError) {
    var reader = try JSONFieldReader(nested: json, path: "video.h265_params")
    levelID = try reader.int("level_id")
    bFrame = try reader.bool("b_frame")
  }

  public var json: JSONValue {
    var writer = JSONFieldWriter()
    writer.set("level_id", levelID)
    writer.set("b_frame", bFrame)
    return writer.json
  }
}
