public import SoraSignalingMessages

/// What whoever decides about a `connect` has allowed: nothing, and the client gets what it asks for.
public struct SFUGrant: Sendable, Hashable {
  /// What holds whatever the client asks for.
  public var settings: GrantSettings
  /// The name that the client was decided about under; nil for a new one.
  public var connectionID: String?
  /// What the client said of itself to be let in, as others may hear it (`authn_metadata`).
  public var authnMetadata: JSONValue?

  public init(
    settings: GrantSettings = GrantSettings(), connectionID: String? = nil,
    authnMetadata: JSONValue? = nil
  ) {
    self.settings = settings
    self.connectionID = connectionID
    self.authnMetadata = authnMetadata
  }

  /// What the client is told in `offer.metadata`, and others as `authz_metadata`.
  var authzMetadata: JSONValue? { settings.metadata ?? settings.authzMetadata }

  /// How alone the client may reach a relay, as `ICEServerURL.relayProtocol` has it; nil for any way.
  var relayProtocol: String? {
    if settings.turnTLSOnly == true { return "tls" }
    return settings.turnTCPOnly == true ? "tcp" : nil
  }

  /// How long the connection may last, from when media could flow first; nil for as long as it likes.
  var lifetime: Duration? { settings.connectionLifetime.map { .seconds($0) } }

  /// Whether the client may call a method on the data channel `rpc`.
  func allows(_ method: RPCMethod) -> Bool {
    settings.rpcMethods?.contains(method.rawValue) ?? true
  }

  /// Puts a later decision over this one: what it says counts.
  mutating func add(_ other: GrantSettings) {
    guard case .object(var members) = settings.json, case .object(let added) = other.json else {
      return
    }
    members.merge(added) { $1 }
    // Both were read already.
    if let merged = try? GrantSettings.read(.object(members), path: "grant") { settings = merged }
  }
}

/// What a token's claims and the reply of an authentication webhook may settle. A key that is absent leaves it to `connect`.
public typealias GrantSettings = SignalingObject<GrantFields>

/// The keys of claims and replies that settle something. Others are ignored.
public struct GrantFields: OptionalFields {
  public static let schema = Schema(Self())

  public let clientID = Field<String?>("client_id", .bytes(1...255))
  public let bundleID = Field<String?>("bundle_id", .bytes(1...255))
  public let audio = Field<MediaSetting<AudioOptions>?>("audio")
  public let audioCodecType = Field<String?>("audio_codec_type")
  /// kbit/s
  public let audioBitRate = Field<Int?>("audio_bit_rate", .range(6...510))
  public let audioOpusParams = Field<OpusParams?>("audio_opus_params")
  public let video = Field<MediaSetting<VideoOptions>?>("video")
  public let videoCodecType = Field<String?>("video_codec_type")
  /// kbit/s
  public let videoBitRate = Field<Int?>("video_bit_rate", .range(1...50_000))
  public let videoVP9Params = Field<VP9Params?>("video_vp9_params")
  public let videoAV1Params = Field<AV1Params?>("video_av1_params")
  public let videoH264Params = Field<H264Params?>("video_h264_params")
  public let videoH265Params = Field<H265Params?>("video_h265_params")
  public let simulcast = Field<Bool?>("simulcast")
  public let simulcastRid = Field<SignalingRid?>("simulcast_rid")
  public let simulcastRequestRid = Field<SignalingRid?>("simulcast_request_rid")
  /// For `offer.encodings`, as they are.
  public let simulcastEncodings = Field<[SignalingEncoding]?>("simulcast_encodings")
  public let spotlight = Field<Bool?>("spotlight")
  public let spotlightNumber = Field<Int?>("spotlight_number", .range(1...8))
  public let spotlightFocusRid = Field<SignalingRid?>("spotlight_focus_rid")
  public let spotlightUnfocusRid = Field<SignalingRid?>("spotlight_unfocus_rid")
  public let spotlightEncodings = Field<[SignalingEncoding]?>("spotlight_encodings")
  public let audioStreamingLanguageCode = Field<String?>("audio_streaming_language_code")
  public let dataChannelSignaling = Field<Bool?>("data_channel_signaling")
  public let ignoreDisconnectWebSocket = Field<Bool?>("ignore_disconnect_websocket")
  public let dataChannels = Field<[DataChannelOptions]?>("data_channels")
  public let forwardingFilter = Field<ForwardingFilter?>("forwarding_filter")
  public let forwardingFilters = Field<[ForwardingFilter]?>("forwarding_filters")
  /// `false` keeps all notifications from the client.
  public let signalingNotify = Field<Bool?>("signaling_notify")
  public let notifyMetadata = Field<JSONValue?>("signaling_notify_metadata")
  /// Seconds, a year at most.
  public let connectionLifetime = Field<Int?>("connection_lifetime", .range(1...31_536_000))
  public let rpcMethods = Field<[String]?>("rpc_methods")
  /// `true` leaves the client this server's relay alone, and of that the URLs for TCP, or for TLS.
  public let turnTCPOnly = Field<Bool?>("turn_tcp_only")
  public let turnTLSOnly = Field<Bool?>("turn_tls_only")
  /// What the client is told in `offer.metadata`.
  public let metadata = Field<JSONValue?>("metadata")
  public let authzMetadata = Field<JSONValue?>("authz_metadata")
  /// For event webhooks alone.
  public let eventMetadata = Field<JSONValue?>("event_metadata")
}
