import SoraMedia
import SoraRTP
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
    kind == .audio ? ["transport-cc"] : VideoCodecFormat.feedback
  }

  /// The audio codec of a name, Opus without one; nil where the server doesn't know it.
  static func audio(_ options: AudioOptions) -> SFUCodec? {
    switch AudioCodecKind(encodingName: options.codecType ?? AudioCodecKind.opus.encodingName) {
    case nil: nil
    case .opus: opus(options)
    case let codec?:
      SFUCodec(
        kind: .audio, name: codec.encodingName, clockRate: codec.clockRate,
        channels: codec.rtpMapChannels, parameters: [:])
    }
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
    // Sora's default is VP9.
    let name = options.codecType ?? VideoCodecKind.vp9.encodingName
    guard let codec = VideoCodecKind(encodingName: name) else { return nil }
    var parameters = FormatParameters(codec.format)
    switch codec {
    case .vp8: break
    case .vp9: merge("profile-id", options.vp9Params?.profileID, into: &parameters)
    case .av1: merge("profile", options.av1Params?.profile, into: &parameters)
    case .h264:
      if let profile = options.h264Params?.profileLevelID {
        parameters["profile-level-id"] = profile
      }
    case .h265: merge("level-id", options.h265Params?.levelID, into: &parameters)
    }
    return SFUCodec(
      kind: .video, name: codec.encodingName, clockRate: VideoCodecFormat.clockRate,
      parameters: parameters)
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
    guard let types = VideoCodecKind(encodingName: name)?.format.servedPayloadTypes else {
      return (AudioCodecKind(encodingName: name)?.staticPayloadType ?? 109, nil)
    }
    return (types.media, types.retransmission)
  }
}

extension SFUCodec {
  /// That of keys of a telephone beside audio: one for each clock, and none that `SFUPayloadTypes` or a codec's format hands out.
  fileprivate var telephonePayloadType: UInt8? {
    guard kind == .audio else { return nil }
    return clockRate == 8000 ? 119 : 118
  }

  /// That of redundant audio beside Opus; as for keys of a telephone.
  fileprivate var redundantPayloadType: UInt8? {
    name == AudioCodecKind.opus.encodingName ? 63 : nil
  }

  /// What stands beside it in a section for packets that repeat some before them (RFC 2198), with one copy or more.
  func redundancy(_ payloadType: UInt8, of media: UInt8) -> SDPCodec {
    SDPCodec(
      payloadType: payloadType, name: "red", clockRate: clockRate, channels: channels,
      parameters: FormatParameters(entries: [.init(key: "\(media)/\(media)", value: nil)]),
      feedback: feedback)
  }

  /// What stands beside it in a section for keys of a telephone.
  func telephoneEvents(_ payloadType: UInt8) -> SDPCodec {
    SDPCodec(
      payloadType: payloadType, name: TelephoneEvent.encodingName, clockRate: clockRate,
      feedback: feedback)
  }
}

/// The payload types of one connection: one meaning each over all sections, because they are bundled
/// (RFC 8843 §10.1.2).
struct SFUPayloadTypes {
  struct Assignment: Equatable {
    var media: UInt8
    var rtx: UInt8?
    /// Keys of a telephone in the place of audio (RFC 4733), on its clock.
    var telephone: UInt8?
    /// Redundant audio (RFC 2198), of the codec alone.
    var red: UInt8?
    /// Whether the client would rather send that.
    var prefersRED = false

    /// As a section lists them.
    var all: [UInt8] {
      (prefersRED ? [red, media, rtx, telephone] : [media, red, rtx, telephone]).compactMap { $0 }
    }

    /// Whether packets of a type are the codec's, alone or with copies of others.
    func isMedia(_ type: UInt8) -> Bool { type == media || type == red }

    /// Those of them that a client's answer has.
    func accepted(_ answered: Set<UInt8>) -> Assignment {
      func kept(_ type: UInt8?) -> UInt8? { type.flatMap { answered.contains($0) ? $0 : nil } }
      return Assignment(
        media: media, rtx: kept(rtx), telephone: kept(telephone), red: kept(red))
    }
  }

  private var assigned: [(codec: SFUCodec, types: Assignment)] = []
  private var next: UInt8 = 96

  init() {}

  mutating func assignment(of codec: SFUCodec) -> Assignment {
    if let known = assigned.first(where: { $0.codec == codec }) { return known.types }
    let usual = codec.usualPayloadTypes
    var types = Assignment(
      media: usual.media, rtx: usual.rtx, telephone: codec.telephonePayloadType,
      red: codec.redundantPayloadType)
    if assigned.contains(where: { $0.types.media == usual.media }) {
      types.media = take()
      // It names the codec's, so a second one has none.
      types.red = nil
      if usual.rtx != nil { types.rtx = take() }
    }
    assigned.append((codec, types))
    return types
  }

  /// 96 to 117 without Opus', then 35 to 62 (RFC 3551 §6, RFC 5761 §4). Wraps when a connection has seen
  /// more codec settings than there are numbers, which needs more publishers with different requests than that.
  private mutating func take() -> UInt8 {
    let type = next
    switch next {
    case 108: next = 110
    case 117: next = 35
    case 62: next = 96
    default: next += 1
    }
    return type
  }
}
