import SoraSignaling
public import WebRTC

/// The server's answer to `connect`: who the client is, how it may connect, and what is offered. Can only be decoded.
public struct SignalingOffer: Codable, Sendable {
  /// How the client shall gather candidates. Can only be decoded.
  public struct Configuration: Codable, Sendable {
    public let iceServerInfos: [ICEServerInfo]
    /// `relay` from Sora itself; `all` is understood too, and is what an absent key means.
    public let iceTransportPolicy: ICETransportPolicy

    private enum CodingKeys: String, CodingKey {
      case iceServers, iceTransportPolicy
    }

    init(_ message: OfferMessage.Configuration) {
      iceServerInfos = message.iceServers.map {
        ICEServerInfo(
          urls: $0.urls, userName: $0.username, credential: $0.credential,
          tlsSecurityPolicy: .secure)
      }
      iceTransportPolicy = message.iceTransportPolicy == "relay" ? .relay : .all
    }

    public init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      iceServerInfos = try container.decode([ICEServerInfo].self, forKey: .iceServers)
      iceTransportPolicy =
        try container.decodeIfPresent(ICETransportPolicy.self, forKey: .iceTransportPolicy) ?? .all
    }

    public func encode(to encoder: any Encoder) throws { throw SoraError.invalidSignalingMessage }
  }

  /// One simulcast layer that the client shall send. Can only be decoded.
  public struct Encoding: Codable, Sendable {
    /// True where the message doesn't say it.
    public let active: Bool
    public let rid: String?
    /// Bits per second.
    public let maxBitrate: Int?
    public let minBitrate: Int?
    /// Frames per second.
    public let maxFramerate: Double?
    public let scaleResolutionDownBy: Double?
    /// The largest size of the layer's frames; it comes before `scaleResolutionDownBy`.
    public let scaleResolutionDownTo: RTCResolutionRestriction?
    /// A W3C scalability mode such as `L1T1`.
    public let scalabilityMode: String?

    init(_ message: OfferMessage.Encoding) {
      active = message.isActive
      rid = message.rid
      maxBitrate = message.maxBitrate
      minBitrate = message.minBitrate
      maxFramerate = message.maxFramerate
      scaleResolutionDownBy = message.scaleResolutionDownBy
      scaleResolutionDownTo = message.scaleResolutionDownTo.map {
        RTCResolutionRestriction(maxWidth: $0.maxWidth, maxHeight: $0.maxHeight)
      }
      scalabilityMode = message.scalabilityMode
    }

    public init(from decoder: any Decoder) throws {
      self.init(try OfferMessage.Encoding(json: JSONValue(from: decoder)))
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
      return parameters
    }
  }

  public let channelId: String?
  public let clientId: String
  public let bundleId: String?
  public let connectionId: String
  public let sessionId: String?
  public let sdp: String
  /// Version of the server.
  public let version: String?
  /// `config`: servers and policy of ICE.
  public let configuration: Configuration?
  public let encodings: [Encoding]?
  /// The m-sections on which this client sends, by kind.
  public let mid: [String: String]?
  public let simulcast: Bool?
  public let simulcastMulticodec: Bool?
  public let spotlight: Bool?
  public let audio: Bool?
  public let audioCodecType: String?
  /// kbit/s
  public let audioBitRate: Int?
  public let video: Bool?
  public let videoCodecType: String?
  /// kbit/s
  public let videoBitRate: Int?

  private var metadataForm: FreeForm
  private var dataChannelsForm: FreeForm

  /// What authentication added, in the types of `JSONSerialization`.
  public var metadata: Any? {
    get { metadataForm.object }
    set { metadataForm = FreeForm(object: newValue) }
  }

  /// The data channels that the server will open.
  public var dataChannels: [[String: Any]]? {
    get { dataChannelsForm.object as? [[String: Any]] }
    set { dataChannelsForm = FreeForm(object: newValue) }
  }

  init(_ message: OfferMessage) {
    channelId = message.channelID
    clientId = message.clientID
    bundleId = message.bundleID
    connectionId = message.connectionID
    sessionId = message.sessionID
    sdp = message.sdp
    version = message.version
    configuration = message.configuration.map(Configuration.init)
    encodings = message.encodings.map { $0.map(Encoding.init) }
    mid = message.mid
    simulcast = message.simulcast
    simulcastMulticodec = message.simulcastMulticodec
    spotlight = message.spotlight
    audio = message.audio
    audioCodecType = message.audioCodecType
    audioBitRate = message.audioBitRate
    video = message.video
    videoCodecType = message.videoCodecType
    videoBitRate = message.videoBitRate
    metadataForm = FreeForm(json: message.metadata)
    dataChannelsForm = FreeForm(json: message.dataChannels.map { .array($0.map(\.json)) })
  }

  public init(from decoder: any Decoder) throws {
    guard case .offer(let message) = try SignalingCoding.message("offer", from: decoder) else {
      throw SoraError.invalidSignalingMessage
    }
    self.init(message)
  }

  public func encode(to encoder: any Encoder) throws { throw SoraError.invalidSignalingMessage }
}
