/// The first message of a client: who it is, where it wants to go, and what it can do.
///
/// Keys that are `nil` are absent on the wire, which leaves the choice to the server.
public struct ConnectMessage: Sendable, Hashable, JSONFields {
  public var role: SignalingRole
  public var channelID: String
  public var clientID: String?
  public var bundleID: String?
  /// What the server authenticates, by convention `{"access_token": ...}`.
  public var metadata: JSONValue?
  /// Shown to the others of the channel.
  public var notifyMetadata: JSONValue?
  /// An offer that tells the server which codecs the client has.
  public var sdp: String?
  /// E.g. `Sora iOS SDK 2025.1.1`.
  public var soraClient: String?
  /// Version text of the WebRTC engine, key `libwebrtc`.
  public var webRTCVersion: String?
  /// Operating system and machine.
  public var environment: String?
  /// Absent means enabled with the server's defaults.
  public var audio: MediaSetting<AudioOptions>?
  public var video: MediaSetting<VideoOptions>?
  public var multistream: Bool?
  public var simulcast: Bool?
  /// `r0`, `r1` or `r2`.
  public var simulcastRid: SignalingRid?
  public var simulcastRequestRid: SignalingRid?
  public var simulcastMulticodec: Bool?
  public var spotlight: Bool?
  public var spotlightNumber: Int?
  public var spotlightFocusRid: SignalingRid?
  public var spotlightUnfocusRid: SignalingRid?
  /// E.g. `ja-JP`.
  public var audioStreamingLanguageCode: String?
  public var dataChannelSignaling: Bool?
  public var ignoreDisconnectWebSocket: Bool?
  public var dataChannels: [DataChannelOptions]?
  public var forwardingFilter: ForwardingFilter?
  public var forwardingFilters: [ForwardingFilter]?
  /// `true` on the `connect` that follows a `redirect`.
  public var redirect: Bool?
  /// Keys that this version doesn't know.
  public var additional: [String: JSONValue]

  public init(
    role: SignalingRole, channelID: String, clientID: String? = nil, bundleID: String? = nil,
    metadata: JSONValue? = nil, notifyMetadata: JSONValue? = nil, sdp: String? = nil,
    soraClient: String? = nil, webRTCVersion: String? = nil, environment: String? = nil,
    audio: MediaSetting<AudioOptions>? = nil, video: MediaSetting<VideoOptions>? = nil,
    multistream: Bool? = nil, simulcast: Bool? = nil, simulcastRid: SignalingRid? = nil,
    simulcastRequestRid: SignalingRid? = nil, simulcastMulticodec: Bool? = nil,
    spotlight: Bool? = nil, spotlightNumber: Int? = nil, spotlightFocusRid: SignalingRid? = nil,
    spotlightUnfocusRid: SignalingRid? = nil, audioStreamingLanguageCode: String? = nil,
    dataChannelSignaling: Bool? = nil, ignoreDisconnectWebSocket: Bool? = nil,
    dataChannels: [DataChannelOptions]? = nil, forwardingFilter: ForwardingFilter? = nil,
    forwardingFilters: [ForwardingFilter]? = nil, redirect: Bool? = nil,
    additional: [String: JSONValue] = [:]
  ) {
    self.role = role
    self.channelID = channelID
    self.clientID = clientID
    self.bundleID = bundleID
    self.metadata = metadata
    self.notifyMetadata = notifyMetadata
    self.sdp = sdp
    self.soraClient = soraClient
    self.webRTCVersion = webRTCVersion
    self.environment = environment
    self.audio = audio
    self.video = video
    self.multistream = multistream
    self.simulcast = simulcast
    self.simulcastRid = simulcastRid
    self.simulcastRequestRid = simulcastRequestRid
    self.simulcastMulticodec = simulcastMulticodec
    self.spotlight = spotlight
    self.spotlightNumber = spotlightNumber
    self.spotlightFocusRid = spotlightFocusRid
    self.spotlightUnfocusRid = spotlightUnfocusRid
    self.audioStreamingLanguageCode = audioStreamingLanguageCode
    self.dataChannelSignaling = dataChannelSignaling
    self.ignoreDisconnectWebSocket = ignoreDisconnectWebSocket
    self.dataChannels = dataChannels
    self.forwardingFilter = forwardingFilter
    self.forwardingFilters = forwardingFilters
    self.redirect = redirect
    self.additional = additional
  }

  init(json: JSONValue, path: String) throws(SignalingError) {
    var reader = try JSONFieldReader(json, path: path)
    role = try reader.requiredText("role")
    channelID = try reader.requiredString("channel_id")
    clientID = try reader.string("client_id")
    bundleID = try reader.string("bundle_id")
    metadata = reader.any("metadata")
    notifyMetadata = reader.any("signaling_notify_metadata")
    sdp = try reader.string("sdp")
    soraClient = try reader.string("sora_client")
    webRTCVersion = try reader.string("libwebrtc")
    environment = try reader.string("environment")
    audio = try reader.nested("audio", MediaSetting.init(json:path:))
    video = try reader.nested("video", MediaSetting.init(json:path:))
    multistream = try reader.bool("multistream")
    simulcast = try reader.bool("simulcast")
    simulcastRid = try reader.text("simulcast_rid")
    simulcastRequestRid = try reader.text("simulcast_request_rid")
    simulcastMulticodec = try reader.bool("simulcast_multicodec")
    spotlight = try reader.bool("spotlight")
    spotlightNumber = try reader.int("spotlight_number")
    spotlightFocusRid = try reader.text("spotlight_focus_rid")
    spotlightUnfocusRid = try reader.text("spotlight_unfocus_rid")
    audioStreamingLanguageCode = try reader.string("audio_streaming_language_code")
    dataChannelSignaling = try reader.bool("data_channel_signaling")
    ignoreDisconnectWebSocket = try reader.bool("ignore_disconnect_websocket")
    dataChannels = try reader.array("data_channels", DataChannelOptions.init(json:path:))
    forwardingFilter = try reader.nested("forwarding_filter", ForwardingFilter.init(json:path:))
    forwardingFilters = try reader.array("forwarding_filters", ForwardingFilter.init(json:path:))
    redirect = try reader.bool("redirect")
    additional = reader.rest
  }

  var json: JSONValue {
    var writer = JSONFieldWriter(additional: additional)
    writer.set("role", role)
    writer.set("channel_id", channelID)
    writer.set("client_id", clientID)
    writer.set("bundle_id", bundleID)
    writer.set("metadata", metadata)
    writer.set("signaling_notify_metadata", notifyMetadata)
    writer.set("sdp", sdp)
    writer.set("sora_client", soraClient)
    writer.set("libwebrtc", webRTCVersion)
    writer.set("environment", environment)
    writer.set("audio", audio?.json)
    writer.set("video", video?.json)
    writer.set("multistream", multistream)
    writer.set("simulcast", simulcast)
    writer.set("simulcast_rid", simulcastRid)
    writer.set("simulcast_request_rid", simulcastRequestRid)
    writer.set("simulcast_multicodec", simulcastMulticodec)
    writer.set("spotlight", spotlight)
    writer.set("spotlight_number", spotlightNumber)
    writer.set("spotlight_focus_rid", spotlightFocusRid)
    writer.set("spotlight_unfocus_rid", spotlightUnfocusRid)
    writer.set("audio_streaming_language_code", audioStreamingLanguageCode)
    writer.set("data_channel_signaling", dataChannelSignaling)
    writer.set("ignore_disconnect_websocket", ignoreDisconnectWebSocket)
    writer.set("data_channels", dataChannels?.map(\.json))
    writer.set("forwarding_filter", forwardingFilter?.json)
    writer.set("forwarding_filters", forwardingFilters?.map(\.json))
    writer.set("redirect", redirect)
    return writer.json
  }
}

/// What a connection does in its channel.
public enum SignalingRole: String, Sendable, Hashable, CaseIterable {
  case sendonly, recvonly, sendrecv

  public var isSender: Bool { self != .recvonly }
  public var isReceiver: Bool { self != .sendonly }
}

/// A simulcast layer, or no video at all.
public enum SignalingRid: String, Sendable, Hashable, CaseIterable {
  case none, r0, r1, r2
}
