/// The first message of a client: who it is, where it wants to go, and what it can do.
///
/// A key that is absent leaves the choice to the server. `ConnectFields` lists the keys.
public typealias ConnectMessage = SignalingObject<ConnectFields>

extension ConnectMessage {
  /// - Parameters:
  ///   - role: whether it sends, receives or both.
  ///   - channelID: the channel to join.
  ///   - change: sets further fields.
  public init(
    role: SignalingRole, channelID: String, _ change: (inout ConnectMessage) -> Void = { _ in }
  ) {
    self.init(members: [:])
    self.role = role
    self.channelID = channelID
    change(&self)
  }
}

/// The keys of `connect`.
public struct ConnectFields: SignalingFields {
  public static let schema = Schema(Self())

  public let role = Field<SignalingRole>("role")
  public let channelID = Field<String>("channel_id", .bytes(1...255))
  public let clientID = Field<String?>("client_id", .bytes(1...255))
  public let bundleID = Field<String?>("bundle_id", .bytes(1...255))
  /// What the server authenticates, by convention `{"access_token": ...}`.
  public let metadata = Field<JSONValue?>("metadata")
  /// Shown to the others of the channel.
  public let notifyMetadata = Field<JSONValue?>("signaling_notify_metadata")
  /// An offer that tells the server which codecs the client has.
  public let sdp = Field<String?>("sdp")
  /// Name and version of the SDK, e.g. `Sora iOS SDK 2025.1.1`.
  public let soraClient = Field<String?>("sora_client")
  /// Name and version of the WebRTC engine.
  public let webRTCVersion = Field<String?>("libwebrtc")
  /// Operating system and machine.
  public let environment = Field<String?>("environment")
  /// Absent means enabled with the server's defaults.
  public let audio = Field<MediaSetting<AudioOptions>?>("audio")
  public let video = Field<MediaSetting<VideoOptions>?>("video")
  public let multistream = Field<Bool?>("multistream")
  public let simulcast = Field<Bool?>("simulcast")
  /// The layer to receive first: `r0`, `r1` or `r2`.
  public let simulcastRid = Field<SignalingRid?>("simulcast_rid")
  public let simulcastRequestRid = Field<SignalingRid?>("simulcast_request_rid")
  public let simulcastMulticodec = Field<Bool?>("simulcast_multicodec")
  public let spotlight = Field<Bool?>("spotlight")
  public let spotlightNumber = Field<Int?>("spotlight_number", .range(1...8))
  public let spotlightFocusRid = Field<SignalingRid?>("spotlight_focus_rid")
  public let spotlightUnfocusRid = Field<SignalingRid?>("spotlight_unfocus_rid")
  /// E.g. `ja-JP`.
  public let audioStreamingLanguageCode = Field<String?>("audio_streaming_language_code")
  public let dataChannelSignaling = Field<Bool?>("data_channel_signaling")
  public let ignoreDisconnectWebSocket = Field<Bool?>("ignore_disconnect_websocket")
  public let dataChannels = Field<[DataChannelOptions]?>("data_channels")
  public let forwardingFilter = Field<ForwardingFilter?>("forwarding_filter")
  public let forwardingFilters = Field<[ForwardingFilter]?>("forwarding_filters")
  /// `true` on the `connect` that follows a `redirect`.
  public let redirect = Field<Bool?>("redirect")
}

/// What a connection does in its channel.
public enum SignalingRole: String, FieldText {
  case sendonly, recvonly, sendrecv

  public var sends: Bool { self != .recvonly }
  public var receives: Bool { self != .sendonly }
}

/// A simulcast layer, or no video at all.
public enum SignalingRid: String, FieldText, CaseIterable {
  case none, r0, r1, r2
}
