public import Foundation
public import WebRTC

/// Everything about one connection to a channel.
///
/// A value may be kept and used for several connections; the handler objects in it are shared by them.
public struct Configuration {
  /// Whether speaking participants come to the front.
  public enum Spotlight: Sendable {
    case enabled
    case disabled
  }

  /// Signaling URLs, tried all at once; the first that opens is used.
  public var urlCandidates: [URL]
  /// At most 255 bytes of UTF-8.
  public var channelId: String
  public var clientId: String?
  public var bundleId: String?
  public var role: Role
  /// Sent as `multistream`. Sora has no other mode any more.
  public var multistreamEnabled: Bool
  /// Seconds that the whole attempt may take.
  public var connectionTimeout = 30

  public var videoCodec: VideoCodec = .default
  /// kbit/s
  public var videoBitRate: Int?
  public var cameraSettings: CameraSettings = .default
  public var audioCodec: AudioCodec = .default
  /// kbit/s
  public var audioBitRate: Int?
  public var videoEnabled = true
  public var audioEnabled = true

  public var simulcastEnabled = false
  public var simulcastRid: SimulcastRid?
  public var spotlightEnabled: Spotlight = .disabled
  public var spotlightNumber: Int?
  public var spotlightFocusRid: SpotlightRid = .unspecified
  public var spotlightUnfocusRid: SpotlightRid = .unspecified

  public var webRTCConfiguration = WebRTCConfiguration()

  /// `metadata` of `connect`: what authentication looks at.
  public var signalingConnectMetadata: (any Encodable)?
  /// `signaling_notify_metadata` of `connect`: what others see.
  public var signalingConnectNotifyMetadata: (any Encodable)?

  public var dataChannelSignaling: Bool?
  /// `data_channels` of `connect`, verbatim: an array of dictionaries that JSON can express.
  public var dataChannels: Any?
  public var ignoreDisconnectWebSocket: Bool?
  public var audioStreamingLanguageCode: String?
  public var proxy: Proxy?
  public var forwardingFilter: ForwardingFilter?
  public var forwardingFilters: [ForwardingFilter]?
  public var videoVp9Params: (any Encodable)?
  public var videoAv1Params: (any Encodable)?
  public var videoH264Params: (any Encodable)?

  public var webSocketChannelHandlers = WebSocketChannelHandlers()
  public var mediaChannelHandlers = MediaChannelHandlers()

  /// Stream id (msid) of what this connection sends.
  public var publisherStreamId = "mainStream"
  public var publisherVideoTrackId = "mainVideo"
  public var publisherAudioTrackId = "mainAudio"

  /// How `wss` servers are verified. Linux only: iOS uses the system's trust alone.
  public var tls = TLSSettings()
  /// Knobs of the media engine that no standard names. Linux only.
  public var engine = RTCSettings()

  /// A configuration with one signaling URL.
  public init(url: URL, channelId: String, role: Role, multistreamEnabled: Bool = true) {
    self.init(
      urlCandidates: [url], channelId: channelId, role: role, multistreamEnabled: multistreamEnabled)
  }

  /// A configuration with several signaling URLs of one cluster.
  public init(urlCandidates: [URL], channelId: String, role: Role, multistreamEnabled: Bool = true) {
    self.urlCandidates = urlCandidates
    self.channelId = channelId
    self.role = role
    self.multistreamEnabled = multistreamEnabled
  }
}

/// How TLS servers are verified.
public struct TLSSettings: Sendable, Equatable {
  /// A file of PEM certificates to trust instead of the system's.
  public var caFile: String?
  /// Accepts any certificate. For tests only.
  public var isInsecure = false

  public init(caFile: String? = nil, isInsecure: Bool = false) {
    self.caFile = caFile
    self.isInsecure = isInsecure
  }
}
