import SoraMedia
import SoraSDP
import SoraSignalingMessages

/// A codec with its parameters, as a publisher sends it. The payload isn't looked at, so a name and a clock suffice.
struct SFUCodec: Hashable {
  var kind: MediaKind
  var name: String
  var clockRate: Int
  var channels: Int?
  /// In the order they are written.
  var parameters: FormatParameters
  /// Milliseconds of audio that a packet should hold (`a=ptime`); nil if none is requested.
  var packetTime: Int?

  /// What RTCP feedback the server gives and understands.
  var feedback: [String] {
    kind == .audio
      ? ["transport-cc"] : ["goog-remb", "transport-cc", "ccm fir", "nack", "nack pli"]
  }

  /// Opus with what a client requests.
  static func opus(_ options: AudioOptions) -> SFUCodec {
    var parameters: FormatParameters = ["minptime": "10", "useinbandfec": "1", "stereo": "1"]
    if let bitRate = options.bitRate {
      parameters["maxaveragebitrate"] = "\(bitRate &* 1000)"
    }
    let requested = options.opusParams ?? OpusParams()
    // RFC 7587 §7: rtpmap always says two channels; what is requested is in `stereo`. The packet time is an attribute
    // of the section.
    if requested.channels == 1 { parameters["stereo"] = "0" }
    merge("maxplaybackrate", requested.maxPlaybackRate, into: &parameters)
    merge("minptime", requested.minPTime, into: &parameters)
    merge("sprop-stereo", requested.spropStereo, into: &parameters)
    merge("stereo", requested.stereo, into: &parameters)
    merge("usedtx", requested.useDTX, into: &parameters)
    merge("useinbandfec", requested.useInbandFEC, into: &parameters)
    return SFUCodec(
      kind: .audio, name: "opus", clockRate: 48_000, channels: 2, parameters: parameters,
      packetTime: requested.pTime)
  }

  /// The video codec of a name; nil where the server doesn't know it.
  static func video(_ options: VideoOptions) -> SFUCodec? {
    let name = options.codecType?.uppercased() ?? "VP9"
    var parameters: FormatParameters
    switch name {
    case "VP8": parameters = [:]
    case "VP9":
      parameters = ["profile-id": "0"]
      merge("profile-id", options.vp9Params?.profileID, into: &parameters)
    // A level is only what a receiver bears at best, but libwebrtc up to M139 at least takes another one than its own,
    // which is what an absent one means, for another codec, and answers without video.
    case "AV1":
      parameters = ["level-idx": "5", "profile": "0", "tier": "0"]
      merge("profile", options.av1Params?.profile, into: &parameters)
    // Whatever size passes here, the server takes: level 5.2 of both, where a lower one would hold a publisher of
    // full HD down to 720p.
    case "H264":
      parameters = [
        "level-asymmetry-allowed": "1", "packetization-mode": "1", "profile-level-id": "42e034",
      ]
      if let profile = options.h264Params?.profileLevelID {
        parameters["profile-level-id"] = profile
      }
    case "H265":
      parameters = ["level-id": "156", "profile-id": "1", "tier-flag": "0", "tx-mode": "SRST"]
      merge("level-id", options.h265Params?.levelID, into: &parameters)
    default: return nil
    }
    return SFUCodec(kind: .video, name: name, clockRate: 90_000, parameters: parameters)
  }

  private static func merge(_ name: String, _ value: Int?, into parameters: inout FormatParameters)
  {
    if let value { parameters[name] = "\(value)" }
  }

  private static func merge(_ name: String, _ value: Bool?, into parameters: inout FormatParameters)
  {
    merge(name, value.map { $0 ? 1 : 0 }, into: &parameters)
  }

  /// The payload types a codec has unless they are taken: its own and that of its retransmissions.
  var usualPayloadTypes: (media: UInt8, rtx: UInt8?) {
    switch name {
    case "opus": (109, nil)
    case "VP8": (120, 121)
    case "VP9": (122, 123)
    case "AV1": (124, 125)
    case "H264": (126, 127)
    default: (118, 119)
    }
  }
}

/// The payload types of one connection: one meaning each over all sections, because they are bundled
/// (RFC 8843 §10.1.2).
struct SFUPayloadTypes {
  struct Assignment: Equatable {
    var media: UInt8
    var rtx: UInt8?
  }

  private var assigned: [(codec: SFUCodec, types: Assignment)] = []
  private var next: UInt8 = 96

  init() {}

  mutating func assignment(of codec: SFUCodec) -> Assignment {
    if let known = assigned.first(where: { $0.codec == codec }) { return known.types }
    let usual = codec.usualPayloadTypes
    var types = Assignment(media: usual.media, rtx: usual.rtx)
    if assigned.contains(where: { $0.types.media == usual.media }) {
      types.media = take()
      if usual.rtx != nil { types.rtx = take() }
    }
    assigned.append((codec, types))
    return types
  }

  /// 96 to 117 without Opus', then 35 to 63 (RFC 3551 §6, RFC 5761 §4). Wraps when a connection has seen
  /// more codec settings than there are numbers, which needs more publishers with different requests than that.
  private mutating func take() -> UInt8 {
    let type = next
    switch next {
    case 108: next = 110
    case 117: next = 35
    case 63: next = 96
    default: next += 1
    }
    return type
  }
}
