/// What SDP and RTP say of a video codec, for clients and servers alike.
public struct VideoCodecFormat: Sendable, Hashable {
  /// A parameter of `a=fmtp`.
  public struct Parameter: Sendable, Hashable {
    public let name: String
    public let value: String
  }

  /// The payload types that a stream and its retransmissions (RFC 4588) have.
  public struct PayloadTypes: Sendable, Hashable {
    public let media: UInt8
    public let retransmission: UInt8
  }

  /// The name in `a=rtpmap`, in capitals.
  public let encodingName: String
  /// What is offered where nothing else is asked for, in the order it is written. Levels say what is received at best, and
  /// senders may stay below.
  public let parameters: [Parameter]
  /// The parameters by which formats of the codec differ, each with what its absence means. Two that have the same in all of them are the
  /// same format; of H.264 only with the same profile, which `profile-level-id` hides beside the level.
  public let distinguishing: [Parameter]
  /// Whether a packet says which temporal layer it is of, in whichever stream of the codec has layers, so that a server can leave frames out.
  public let namesTemporalLayers: Bool
  /// The payload type that a client offers where it is free; for a codec of several formats the first's.
  public let offeredPayloadType: UInt8
  /// The payload types that a server offers where they are free.
  public let servedPayloadTypes: PayloadTypes

  /// Ticks per second of the RTP clock, the same for all video.
  public static let clockRate = 90_000

  /// The RTCP feedback that is given and understood, as `a=rtcp-fb` writes it.
  public static let feedback = ["goog-remb", "transport-cc", "ccm fir", "nack", "nack pli"]

  private init(
    _ encodingName: String, _ parameters: KeyValuePairs<String, String> = [:],
    distinguishing: KeyValuePairs<String, String> = [:], namesTemporalLayers: Bool = false,
    offered: UInt8, served: (media: UInt8, retransmission: UInt8)
  ) {
    self.encodingName = encodingName
    self.parameters = parameters.map { Parameter(name: $0.key, value: $0.value) }
    self.distinguishing = distinguishing.map { Parameter(name: $0.key, value: $0.value) }
    self.namesTemporalLayers = namesTemporalLayers
    offeredPayloadType = offered
    servedPayloadTypes = PayloadTypes(media: served.media, retransmission: served.retransmission)
  }

  /// RFC 7741.
  fileprivate static let vp8 = VideoCodecFormat(
    "VP8", namesTemporalLayers: true, offered: 96, served: (120, 121))

  /// RFC 9628, profile 0: 8 bits a sample, 4:2:0. §6 has profiles alone differ.
  fileprivate static let vp9 = VideoCodecFormat(
    "VP9", ["profile-id": "0"], distinguishing: ["profile-id": "0"], namesTemporalLayers: true,
    offered: 98, served: (122, 123))

  /// Its RTP specification §7.2, main profile and tier. The level is the one that an absent one means, 3.1, although more
  /// is received: libwebrtc up to M139 at least takes another level than its own for another codec, and answers without
  /// video.
  fileprivate static let av1 = VideoCodecFormat(
    "AV1", ["level-idx": "5", "profile": "0", "tier": "0"], distinguishing: ["profile": "0"],
    namesTemporalLayers: true, offered: 45, served: (124, 125))

  /// RFC 6184 §8.1, Constrained Baseline. Level 5.2, which full HD at 60 frames per second is well within: a lower one would
  /// hold a publisher of full HD down to 720p.
  fileprivate static let h264 = VideoCodecFormat(
    "H264",
    ["level-asymmetry-allowed": "1", "packetization-mode": "1", "profile-level-id": "42e034"],
    distinguishing: ["packetization-mode": "0"], offered: 102, served: (126, 127))

  /// RFC 7798 §7.1, Main profile and tier: 8 bits a sample, 4:2:0; one stream. Level 5.2, as with H.264. What differs is
  /// in §7.2.2.
  fileprivate static let h265 = VideoCodecFormat(
    "H265", ["level-id": "156", "profile-id": "1", "tier-flag": "0", "tx-mode": "SRST"],
    distinguishing: ["profile-id": "1", "tier-flag": "0", "tx-mode": "SRST"], offered: 49,
    served: (118, 119))
}

extension VideoCodecKind {
  /// What SDP and RTP say of it.
  public var format: VideoCodecFormat {
    switch self {
    case .vp8: .vp8
    case .vp9: .vp9
    case .av1: .av1
    case .h264: .h264
    case .h265: .h265
    }
  }
}
