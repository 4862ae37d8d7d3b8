/// The server's answer to `connect`: identities, ICE servers, effective settings, SDP offer.
///
/// `OfferFields` lists the keys.
public typealias OfferMessage = SignalingObject<OfferFields>

extension OfferMessage {
  /// - Parameters:
  ///   - sdp: the description.
  ///   - connectionID: what the server calls the connection.
  ///   - change: sets further fields.
  public init(
    sdp: String, connectionID: String, _ change: (inout OfferMessage) -> Void = { _ in }
  ) {
    self.init(members: [:])
    self.sdp = sdp
    self.connectionID = connectionID
    change(&self)
  }
}

/// The keys of `offer`.
public struct OfferFields: SignalingFields {
  public static let schema = Schema(Self())

  public let sdp = Field<String>("sdp")
  public let connectionID = Field<String>("connection_id")
  /// Absent from old servers: it then equals the connection's id.
  public let clientID = Field<String?>("client_id")
  public let bundleID = Field<String?>("bundle_id")
  public let channelID = Field<String?>("channel_id")
  public let sessionID = Field<String?>("session_id")
  /// Version of the server, e.g. `2025.1.0`.
  public let version = Field<String?>("version")
  /// ICE servers and policy.
  public let configuration = Field<ICEConfiguration?>("config")
  /// The m-lines on which this client sends, by kind: `audio`, `video`.
  public let mid = Field<[String: String]?>("mid")
  /// Simulcast layers, in the order of the offer.
  public let encodings = Field<[SignalingEncoding]?>("encodings")
  public let simulcast = Field<Bool?>("simulcast")
  public let simulcastMulticodec = Field<Bool?>("simulcast_multicodec")
  public let spotlight = Field<Bool?>("spotlight")
  public let multistream = Field<Bool?>("multistream")
  /// Whatever the authentication added.
  public let metadata = Field<JSONValue?>("metadata")
  public let dataChannelSignaling = Field<Bool?>("data_channel_signaling")
  public let ignoreDisconnectWebSocket = Field<Bool?>("ignore_disconnect_websocket")
  /// Channels that the server will open. Present, even empty, means data-channel signaling.
  public let dataChannels = Field<[DataChannelOptions]?>("data_channels")
  public let rpcMethods = Field<[String]?>("rpc_methods")
  public let audio = Field<Bool?>("audio")
  public let audioCodecType = Field<String?>("audio_codec_type")
  /// kbit/s
  public let audioBitRate = Field<Int?>("audio_bit_rate")
  public let video = Field<Bool?>("video")
  public let videoCodecType = Field<String?>("video_codec_type")
  /// kbit/s
  public let videoBitRate = Field<Int?>("video_bit_rate")
}

/// How the client shall gather ICE candidates.
public typealias ICEConfiguration = SignalingObject<ICEConfigurationFields>

extension ICEConfiguration {
  public init(iceServers: [SignalingICEServer], iceTransportPolicy: String? = nil) {
    self.init(members: [:])
    self.iceServers = iceServers
    self.iceTransportPolicy = iceTransportPolicy
  }
}

/// The keys of `offer.config`.
public struct ICEConfigurationFields: SignalingFields {
  public static let schema = Schema(Self())

  public let iceServers = Field<[SignalingICEServer]>("iceServers", absent: [])
  /// `relay`, or as an extension `all`. Sora itself says `relay`.
  public let iceTransportPolicy = Field<String?>("iceTransportPolicy")
}

/// One STUN or TURN server.
public typealias SignalingICEServer = SignalingObject<ICEServerFields>

extension SignalingICEServer {
  public init(urls: [String], username: String? = nil, credential: String? = nil) {
    self.init(members: [:])
    self.urls = urls
    self.username = username
    self.credential = credential
  }
}

/// The keys of one element of `offer.config.iceServers`.
public struct ICEServerFields: SignalingFields {
  public static let schema = Schema(Self())

  public let urls = Field<[String]>("urls")
  public let username = Field<String?>("username")
  public let credential = Field<String?>("credential")
}

/// One simulcast layer that the client shall send.
public typealias SignalingEncoding = SignalingObject<EncodingFields>

extension SignalingEncoding {
  public var isActive: Bool { self.active ?? true }
}

/// The keys of one element of `offer.encodings`.
public struct EncodingFields: OptionalFields {
  public static let schema = Schema(Self())

  public let rid = Field<String?>("rid")
  /// Absent means `true`.
  public let active = Field<Bool?>("active")
  /// bit/s
  public let maxBitrate = Field<Int?>("maxBitrate")
  /// bit/s
  public let minBitrate = Field<Int?>("minBitrate")
  /// Frames per second.
  public let maxFramerate = Field<Double?>("maxFramerate")
  public let scaleResolutionDownBy = Field<Double?>("scaleResolutionDownBy")
  public let scaleResolutionDownTo = Field<EncodingResolution?>("scaleResolutionDownTo")
  /// A W3C scalability mode such as `L1T1`.
  public let scalabilityMode = Field<String?>("scalabilityMode")
  public let adaptivePtime = Field<Bool?>("adaptivePtime")
  public let networkPriority = Field<String?>("networkPriority")
  /// Only with several codecs in one simulcast.
  public let codec = Field<JSONValue?>("codec")
}

/// The largest size of a layer, in pixels.
public typealias EncodingResolution = SignalingObject<ResolutionFields>

extension EncodingResolution {
  public init(maxWidth: Int, maxHeight: Int) {
    self.init(members: [:])
    self.maxWidth = maxWidth
    self.maxHeight = maxHeight
  }
}

/// The keys of `offer.encodings[].scaleResolutionDownTo`.
public struct ResolutionFields: SignalingFields {
  public static let schema = Schema(Self())

  public let maxWidth = Field<Int>("maxWidth")
  public let maxHeight = Field<Int>("maxHeight")
}
