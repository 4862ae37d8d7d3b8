import SoraMedia
import SoraSDP

/// A codec with its parameters, as a publisher sends it. The payload isn't looked at, so a name and a clock suffice.
struct SFUCodec: Hashable {
  var kind: MediaKind
  var name: String
  var clockRate: Int
  var channels: Int?
  /// In the order they are written.
  var parameters: FormatParameters
  /// Milliseconds of sound that a packet should hold (`a=ptime`); nil where nobody wishes for any.
  var packetTime: Int?

  /// What RTCP feedback the server gives and understands.
  var feedback: [String] {
    kind == .audio ? ["transport-cc"] : VideoCodecFormat.feedback
  }

  /// Opus with what a client wishes.
  static func opus(_ request: SFUConnectRequest.Audio) -> SFUCodec {
    var parameters: FormatParameters = ["minptime": "10", "useinbandfec": "1", "stereo": "1"]
    if let bitRate = request.bitRate {
      parameters["maxaveragebitrate"] = "\(bitRate &* 1000)"
    }
    // RFC 7587 §7: rtpmap always says two channels; what is wished for is in `stereo`. The packet time is an attribute
    // of the section.
    if request.channels == 1 { parameters["stereo"] = "0" }
    var wishes = request.parameters
    let packetTime = wishes.removeValue(forKey: "ptime").flatMap { Int($0) }
    merge(wishes, into: &parameters)
    return SFUCodec(
      kind: .audio, name: "opus", clockRate: 48_000, channels: 2, parameters: parameters,
      packetTime: packetTime)
  }

  /// The video codec of a name; nil where the server doesn't know it.
  static func video(_ request: SFUConnectRequest.Video) -> SFUCodec? {
    // Sora's default is VP9.
    let name = request.codec ?? VideoCodecKind.vp9.encodingName
    guard let codec = VideoCodecKind(encodingName: name) else { return nil }
    var parameters = FormatParameters(
      entries: codec.format.parameters.map { .init(key: $0.name, value: $0.value) })
    merge(request.parameters, into: &parameters)
    return SFUCodec(
      kind: .video, name: codec.encodingName, clockRate: VideoCodecFormat.clockRate,
      parameters: parameters)
  }

  /// Sorted, so that a request makes one description whatever a dictionary's order is.
  private static func merge(_ wishes: [String: String], into parameters: inout FormatParameters) {
    for (key, value) in wishes.sorted(by: { $0.key < $1.key }) { parameters[key] = value }
  }

  /// The payload types a codec has unless they are taken: its own and that of its retransmissions.
  var usualPayloadTypes: (media: UInt8, rtx: UInt8?) {
    guard let types = VideoCodecKind(encodingName: name)?.format.servedPayloadTypes else {
      return (109, nil)
    }
    return (types.media, types.retransmission)
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
  /// more codec settings than there are numbers, which needs more publishers with differing wishes than that.
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
