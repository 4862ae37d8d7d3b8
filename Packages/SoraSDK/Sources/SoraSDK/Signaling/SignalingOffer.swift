import SoraSignaling
public import WebRTC

/// The server's answer to `connect`: who the client is, how it may connect, and what is offered. Can only be decoded.
///
/// The properties are the iOS SDK's names of the fields of `OfferMessage`.
public struct SignalingOffer: Codable, Sendable {
  /// How the client shall gather candidates. Can only be decoded.
  public struct Configuration: Codable, Sendable {
    public let iceServerInfos: [ICEServerInfo]
    /// `relay` from Sora itself; `all` is understood too, and is what an absent key means.
    public let iceTransportPolicy: ICETransportPolicy

    init(_ message: ICEConfiguration) {
      iceServerInfos = message.iceServers.map {
        ICEServerInfo(
          urls: $0.urls, userName: $0.username, credential: $0.credential,
          tlsSecurityPolicy: .secure)
      }
      iceTransportPolicy = message.iceTransportPolicy == "relay" ? .relay : .all
    }

    public init(from decoder: any Decoder) throws {
      let message = try ICEConfiguration.read(JSONValue(from: decoder), path: "config")
      if let policy = message.iceTransportPolicy, ICETransportPolicy(rawValue: policy) == nil {
        throw SoraError.invalidSignalingMessage
      }
      self.init(message)
    }

    public func encode(to encoder: any Encoder) throws { throw SoraError.invalidSignalingMessage }
  }

  /// One simulcast layer that the client shall send. Can only be decoded.
  public struct Encoding: Codable, Sendable {
    private let message: SignalingEncoding

    /// True where the message doesn't say it.
    public var active: Bool { message.isActive }
    public var rid: String? { message.rid }
    /// bit/s
    public var maxBitrate: Int? { message.maxBitrate }
    /// bit/s
    public var minBitrate: Int? { message.minBitrate }
    /// Frames per second.
    public var maxFramerate: Double? { message.maxFramerate }
    public var scaleResolutionDownBy: Double? { message.scaleResolutionDownBy }
    /// The largest size of the layer's frames; it comes before `scaleResolutionDownBy`.
    public var scaleResolutionDownTo: RTCResolutionRestriction? {
      message.scaleResolutionDownTo.map {
        RTCResolutionRestriction(maxWidth: $0.maxWidth, maxHeight: $0.maxHeight)
      }
    }
    /// A W3C scalability mode such as `L1T1`.
    public var scalabilityMode: String? { message.scalabilityMode }
    /// Whether the length of audio packets may follow the network. Linux only.
    public var adaptivePtime: Bool? { message.adaptivePtime }

    init(_ message: SignalingEncoding) { self.message = message }

    public init(from decoder: any Decoder) throws {
      message = try .read(JSONValue(from: decoder), path: "encodings")
    }

    public func encode(to encoder: any Encoder) throws { throw SoraError.invalidSignalingMessage }

    /// The layer in the engine's words.
    public var rtpEncodingParameters: RTCRtpEncodingParameters {
      var parameters = RTCRtpEncodingParameters(rid: rid)
      parameters.isActive = active
      parameters.maxBitrateBps = maxBitrate
      parameters.maxFramerate = maxFramerate
      parameters.minBitrateBps = minBitrate
      parameters.scaleResolutionDownBy = scaleResolutionDownBy
      parameters.scaleResolutionDownTo = scaleResolutionDownTo
      parameters.scalabilityMode = scalabilityMode
      parameters.adaptivePtime = adaptivePtime
      return parameters
    }
  }

  private var message: OfferMessage
  /// `config`: servers and policy of ICE.
  public let configuration: Configuration?

  public var channelId: String? { message.channelID }
  public var clientId: String { message.clientID ?? message.connectionID }
  public var bundleId: String? { message.bundleID }
  public var connectionId: String { message.connectionID }
  public var sessionId: String? { message.sessionID }
  public var sdp: String { message.sdp }
  /// Version of the server.
  public var version: String? { message.version }
  public var encodings: [Encoding]? { message.encodings?.map(Encoding.init) }
  /// The m-sections on which this client sends, by kind.
  public var mid: [String: String]? { message.mid }
  public var simulcast: Bool? { message.simulcast }
  public var simulcastMulticodec: Bool? { message.simulcastMulticodec }
  public var spotlight: Bool? { message.spotlight }
  public var audio: Bool? { message.audio }
  public var audioCodecType: String? { message.audioCodecType }
  /// kbit/s
  public var audioBitRate: Int? { message.audioBitRate }
  public var video: Bool? { message.video }
  public var videoCodecType: String? { message.videoCodecType }
  /// kbit/s
  public var videoBitRate: Int? { message.videoBitRate }

  /// What this client may call: `MediaChannel.rpc`.
  public var rpcMethods: [String]? { message.rpcMethods }
  /// Whether the connection is to outlive its WebSocket.
  var ignoreDisconnectWebSocket: Bool? { message.ignoreDisconnectWebSocket }
  /// The data channels that the server will open; nil without data-channel signaling.
  var channels: [DataChannelOptions]? { message.dataChannels }

  /// What authentication added, in the types of `JSONSerialization`.
  public var metadata: Any? {
    get { message.metadata?.object }
    set { message.metadata = FreeForm(object: newValue).json }
  }

  /// The data channels that the server will open.
  public var dataChannels: [[String: Any]]? {
    get { message.dataChannels?.json.object as? [[String: Any]] }
    set {
      message.dataChannels = FreeForm(object: newValue, as: [DataChannelOptions].self).value()
    }
  }

  init(_ message: OfferMessage) {
    self.message = message
    configuration = message.configuration.map(Configuration.init)
  }

  public init(from decoder: any Decoder) throws {
    guard case .offer(let message) = try SignalingCoding.message("offer", from: decoder) else {
      throw SoraError.invalidSignalingMessage
    }
    self.init(message)
  }

  public func encode(to encoder: any Encoder) throws { throw SoraError.invalidSignalingMessage }
}
