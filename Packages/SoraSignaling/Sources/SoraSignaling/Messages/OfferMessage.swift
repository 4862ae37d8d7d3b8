/// The server's answer to `connect`: identities, ICE servers, effective settings, SDP offer.
public struct OfferMessage: Sendable, Hashable, JSONFields {
  public var sdp: String
  public var connectionID: String
  /// Absent is tolerated: it then equals the connection's id.
  public var clientID: String
  public var bundleID: String?
  public var channelID: String?
  public var sessionID: String?
  /// Version of the server, e.g. `2025.1.0`.
  public var version: String?
  /// ICE servers and policy, key `config`.
  public var configuration: Configuration?
  /// The m-lines on which this client sends, by kind: `audio`, `video`.
  public var mid: [String: String]?
  /// Simulcast layers, in the order of the offer.
  public var encodings: [Encoding]?
  public var simulcast: Bool?
  public var simulcastMulticodec: Bool?
  public var spotlight: Bool?
  public var multistream: Bool?
  /// Whatever the authentication added.
  public var metadata: JSONValue?
  public var dataChannelSignaling: Bool?
  public var ignoreDisconnectWebSocket: Bool?
  /// Channels that the server will open. Present, even empty, means data-channel signaling.
  public var dataChannels: [DataChannelOptions]?
  public var rpcMethods: [String]?
  public var audio: Bool?
  public var audioCodecType: String?
  /// Kilobits a second.
  public var audioBitRate: Int?
  public var video: Bool?
  public var videoCodecType: String?
  /// Kilobits a second.
  public var videoBitRate: Int?
  /// Keys that this version doesn't know.
  public var additional: [String: JSONValue]

  public init(
    sdp: String, connectionID: String, clientID: String? = nil, bundleID: String? = nil,
    channelID: String? = nil, sessionID: String? = nil, version: String? = nil,
    configuration: Configuration? = nil, mid: [String: String]? = nil,
    encodings: [Encoding]? = nil, simulcast: Bool? = nil, simulcastMulticodec: Bool? = nil,
    spotlight: Bool? = nil, multistream: Bool? = nil, metadata: JSONValue? = nil,
    dataChannelSignaling: Bool? = nil, ignoreDisconnectWebSocket: Bool? = nil,
    dataChannels: [DataChannelOptions]? = nil, rpcMethods: [String]? = nil, audio: Bool? = nil,
    audioCodecType: String? = nil, audioBitRate: Int? = nil, video: Bool? = nil,
    videoCodecType: String? = nil, videoBitRate: Int? = nil,
    additional: [String: JSONValue] = [:]
  ) {
    self.sdp = sdp
    self.connectionID = connectionID
    self.clientID = clientID ?? connectionID
    self.bundleID = bundleID
    self.channelID = channelID
    self.sessionID = sessionID
    self.version = version
    self.configuration = configuration
    self.mid = mid
    self.encodings = encodings
    self.simulcast = simulcast
    self.simulcastMulticodec = simulcastMulticodec
    self.spotlight = spotlight
    self.multistream = multistream
    self.metadata = metadata
    self.dataChannelSignaling = dataChannelSignaling
    self.ignoreDisconnectWebSocket = ignoreDisconnectWebSocket
    self.dataChannels = dataChannels
    self.rpcMethods = rpcMethods
    self.audio = audio
    self.audioCodecType = audioCodecType
    self.audioBitRate = audioBitRate
    self.video = video
    self.videoCodecType = videoCodecType
    self.videoBitRate = videoBitRate
    self.additional = additional
  }

  init(json: JSONValue, path: String) throws(SignalingError) {
    var reader = try JSONFieldReader(json, path: path)
    sdp = try reader.requiredString("sdp")
    connectionID = try reader.requiredString("connection_id")
    clientID = try reader.string("client_id") ?? connectionID
    bundleID = try reader.string("bundle_id")
    channelID = try reader.string("channel_id")
    sessionID = try reader.string("session_id")
    version = try reader.string("version")
    configuration = try reader.nested("config", Configuration.init(json:path:))
    mid = try reader.nested("mid") {
      (value: JSONValue, path: String) throws(SignalingError) -> [String: String] in
      guard case .object(let members) = value else {
        throw .invalid(path, value, expected: "an object of strings")
      }
      var mids: [String: String] = [:]
      for (kind, mid) in members where !mid.isNull {
        guard let mid = mid.stringValue else {
          throw .invalid("\(path).\(kind)", mid, expected: "a string")
        }
        mids[kind] = mid
      }
      return mids
    }
    encodings = try reader.array("encodings", Encoding.init(json:path:))
    simulcast = try reader.bool("simulcast")
    simulcastMulticodec = try reader.bool("simulcast_multicodec")
    spotlight = try reader.bool("spotlight")
    multistream = try reader.bool("multistream")
    metadata = reader.any("metadata")
    dataChannelSignaling = try reader.bool("data_channel_signaling")
    ignoreDisconnectWebSocket = try reader.bool("ignore_disconnect_websocket")
    dataChannels = try reader.array("data_channels", DataChannelOptions.init(json:path:))
    rpcMethods = try reader.strings("rpc_methods")
    audio = try reader.bool("audio")
    audioCodecType = try reader.string("audio_codec_type")
    audioBitRate = try reader.int("audio_bit_rate")
    video = try reader.bool("video")
    videoCodecType = try reader.string("video_codec_type")
    videoBitRate = try reader.int("video_bit_rate")
    additional = reader.rest
  }

  var json: JSONValue {
    var writer = JSONFieldWriter(additional: additional)
    writer.set("sdp", sdp)
    writer.set("connection_id", connectionID)
    writer.set("client_id", clientID)
    writer.set("bundle_id", bundleID)
    writer.set("channel_id", channelID)
    writer.set("session_id", sessionID)
    writer.set("version", version)
    writer.set("config", configuration?.json)
    writer.set("mid", mid.map { .object($0.mapValues { .string($0) }) })
    writer.set("encodings", encodings?.map(\.json))
    writer.set("simulcast", simulcast)
    writer.set("simulcast_multicodec", simulcastMulticodec)
    writer.set("spotlight", spotlight)
    writer.set("multistream", multistream)
    writer.set("metadata", metadata)
    writer.set("data_channel_signaling", dataChannelSignaling)
    writer.set("ignore_disconnect_websocket", ignoreDisconnectWebSocket)
    writer.set("data_channels", dataChannels?.map(\.json))
    writer.set("rpc_methods", rpcMethods)
    writer.set("audio", audio)
    writer.set("audio_codec_type", audioCodecType)
    writer.set("audio_bit_rate", audioBitRate)
    writer.set("video", video)
    writer.set("video_codec_type", videoCodecType)
    writer.set("video_bit_rate", videoBitRate)
    return writer.json
  }
}
