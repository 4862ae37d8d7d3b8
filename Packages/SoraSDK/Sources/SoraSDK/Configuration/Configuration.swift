public import Foundation
import SoraDTLS
import SoraSignaling
import SoraTURNStream
import SoraTransport
public import WebRTC

/// Everything about one connection to a channel.
///
/// A value may be kept and used for several connections; the handler objects in it are shared by them.
public struct Configuration: Sendable {
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
  /// The camera that a connection starts where it sends video, and stops when it ends. Without one, or where it can't be opened, the
  /// connection goes on, and the log says so. An app that sends frames of its own sets `cameraSettings.isEnabled` to false.
  public var cameraSettings: CameraSettings = .default
  /// Whether a connection that sends video begins with its camera on; without, as after `MediaChannel.setVideoHardMute(true)`. Of the iOS
  /// SDK 2026.1.
  public var initialCameraEnabled = true
  /// Whether a connection that sends sound begins with its microphone on; without, as after `MediaChannel.setAudioHardMute(true)`. Of the
  /// iOS SDK 2026.1.
  public var initialMicrophoneEnabled = true
  public var audioCodec: AudioCodec = .default
  /// kbit/s
  public var audioBitRate: Int?
  public var videoEnabled = true
  public var audioEnabled = true

  /// Asks for simulcast; what is sent follows the server's offer. Where that has none, a line of the log says so.
  public var simulcastEnabled = false
  /// `simulcast_multicodec` of `connect`, which the server tries out: whether the layers of a simulcast may be of several codecs. nil leaves it
  /// to the server. What it has made of it is `SignalingOffer.simulcastMulticodec`; layers are sent in the one codec of their section here.
  /// Linux only.
  public var simulcastMulticodec: Bool?
  public var simulcastRid: SimulcastRid?
  /// The layer to receive at first of those who send several; the server of version 2025.2 and later, which prefers it to `simulcastRid`.
  public var simulcastRequestRid: SimulcastRequestRid = .unspecified
  /// Asks for spotlight, which is the server's work. Where it offers none, a line of the log says so.
  public var spotlightEnabled: Spotlight = .disabled
  public var spotlightNumber: Int?
  public var spotlightFocusRid: SpotlightRid = .unspecified
  public var spotlightUnfocusRid: SpotlightRid = .unspecified

  public var webRTCConfiguration = WebRTCConfiguration()

  /// `metadata` of `connect`: what authentication looks at. Free-form values such as this one are encoded when they are
  /// set, and read back as what was encoded; one that isn't JSON, or not of the form that the protocol has in its place,
  /// is read back as nil and fails the attempt.
  public var signalingConnectMetadata: (any Encodable)? {
    get { connectMetadata.encodable }
    set { connectMetadata = FreeForm(encoding: newValue) }
  }
  /// `signaling_notify_metadata` of `connect`: what others see.
  public var signalingConnectNotifyMetadata: (any Encodable)? {
    get { notifyMetadata.encodable }
    set { notifyMetadata = FreeForm(encoding: newValue) }
  }

  /// `data_channel_signaling` of `connect`: whether signaling goes over data channels, where the app's own can be then. nil leaves it to
  /// the server.
  public var dataChannelSignaling: Bool?
  /// `data_channels` of `connect`: an array of dictionaries that JSON can express, each with a `label`. Keys that this
  /// version doesn't know are sent as they are. `dataChannelConfigurations` is the same in types.
  public var dataChannels: Any? {
    get { dataChannelList.object }
    set { dataChannelList = FreeForm(object: newValue, as: [DataChannelOptions].self) }
  }
  /// `ignore_disconnect_websocket` of `connect`: whether the connection outlives its WebSocket, which is then closed as soon as signaling
  /// goes over data channels. nil leaves it to the server.
  public var ignoreDisconnectWebSocket: Bool?
  public var audioStreamingLanguageCode: String?
  public var proxy: Proxy?
  public var forwardingFilter: ForwardingFilter?
  public var forwardingFilters: [ForwardingFilter]?
  /// `audio.opus_params` of `connect`: `channels`, `clock_rate`, `maxplaybackrate`, `minptime`, `ptime`, `stereo`,
  /// `sprop_stereo`, `useinbandfec`, `usedtx`. Linux only: the iOS SDK leaves them to the server.
  public var audioOpusParams: (any Encodable)? {
    get { opusParams.encodable }
    set { opusParams = FreeForm(encoding: newValue, as: OpusParams.self) }
  }
  /// `video.vp9_params` of `connect`.
  public var videoVp9Params: (any Encodable)? {
    get { vp9Params.encodable }
    set { vp9Params = FreeForm(encoding: newValue, as: VP9Params.self) }
  }
  /// `video.av1_params` of `connect`.
  public var videoAv1Params: (any Encodable)? {
    get { av1Params.encodable }
    set { av1Params = FreeForm(encoding: newValue, as: AV1Params.self) }
  }
  /// `video.h264_params` of `connect`.
  public var videoH264Params: (any Encodable)? {
    get { h264Params.encodable }
    set { h264Params = FreeForm(encoding: newValue, as: H264Params.self) }
  }
  /// `video.h265_params` of `connect`.
  public var videoH265Params: (any Encodable)? {
    get { h265Params.encodable }
    set { h265Params = FreeForm(encoding: newValue, as: H265Params.self) }
  }

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

  var connectMetadata = FreeForm()
  var notifyMetadata = FreeForm()
  var dataChannelList = FreeForm()
  var opusParams = FreeForm()
  var vp9Params = FreeForm()
  var av1Params = FreeForm()
  var h264Params = FreeForm()
  var h265Params = FreeForm()

  /// A configuration with one signaling URL.
  public init(url: URL, channelId: String, role: Role, multistreamEnabled: Bool = true) {
    self.init(
      urlCandidates: [url], channelId: channelId, role: role, multistreamEnabled: multistreamEnabled
    )
  }

  /// A configuration with several signaling URLs of one cluster.
  public init(urlCandidates: [URL], channelId: String, role: Role, multistreamEnabled: Bool = true)
  {
    self.urlCandidates = urlCandidates
    self.channelId = channelId
    self.role = role
    self.multistreamEnabled = multistreamEnabled
  }
}

extension Configuration {
  /// What goes out as `multistream`: some combinations know nothing else.
  var usesMultistream: Bool {
    multistreamEnabled || role == .sendrecv || spotlightEnabled == .enabled
  }

  /// The first free-form value that isn't JSON, with the name of its property.
  var freeFormError: (name: String, error: SignalingError)? {
    let values = [
      ("signalingConnectMetadata", connectMetadata),
      ("signalingConnectNotifyMetadata", notifyMetadata), ("dataChannels", dataChannelList),
      ("audioOpusParams", opusParams), ("videoVp9Params", vp9Params), ("videoAv1Params", av1Params),
      ("videoH264Params", h264Params), ("videoH265Params", h265Params),
    ]
    for (name, value) in values {
      if let error = value.error { return (name, error) }
    }
    let filters = (forwardingFilters ?? []) + (forwardingFilter.map { [$0] } ?? [])
    for filter in filters {
      if let error = filter.metadataForm.error { return ("forwardingFilters", error) }
    }
    return nil
  }

  /// How TURN servers over TCP and TLS are reached: what `engine` has, or else SwiftNIO's.
  var streamConnector: any ICEStreamConnector {
    if let own = engine.streamConnector { return own }
    var connector = TURNStreamConnector.Configuration()
    connector.tls = tls.options
    connector.pinnedCertificate = tls.turnCertificateSHA256
    connector.proxy = proxy?.options
    connector.userAgent = "Sora Swift SDK \(SDKInfo.version)"
    return TURNStreamConnector(configuration: connector)
  }

  /// How the signaling WebSocket is opened.
  ///
  /// - Parameter timeout: of one candidate.
  func webSocketOptions(timeout: Duration) -> WebSocketOptions {
    var options = WebSocketOptions()
    options.tls = tls.options
    options.acceptsKey = tls.acceptsSignalingKey
    options.proxy = proxy?.options
    options.timeout = timeout
    options.userAgent = "Sora Swift SDK \(SDKInfo.version)"
    options.logger = SDKLogHandler.logger
    return options
  }
}

/// How TLS servers are verified, and how this side shows itself.
public struct TLSSettings: Sendable, Equatable {
  /// A file of PEM certificates to trust instead of the system's.
  public var caFile: String?
  /// Accepts any certificate. For tests only.
  public var isInsecure = false
  /// The SHA-256 of the one certificate (DER) that TURN servers over TLS may show, 32 bytes.
  public var turnCertificateSHA256: [UInt8]?
  /// SHA-256 of public keys (`SubjectPublicKeyInfo` in DER), 32 bytes each: a signaling server has to show one of them, beside what the
  /// authorities, or `isInsecure`, say of its certificate. A second one lets a server change its key. One of
  /// another length is nobody's. Empty asks for none; with any, `ws:` fails.
  public var signalingKeySHA256: [[UInt8]] = []
  /// A file of PEM certificates that this side shows to servers that ask for one, its own first; nil shows none. One that can't be used fails
  /// the attempt.
  public var clientCertificateFile: String?
  /// The PEM file of its private key, without a passphrase; nil where the key is in `clientCertificateFile`, too.
  public var clientKeyFile: String?

  public init(
    caFile: String? = nil, isInsecure: Bool = false, turnCertificateSHA256: [UInt8]? = nil,
    signalingKeySHA256: [[UInt8]] = [], clientCertificateFile: String? = nil,
    clientKeyFile: String? = nil
  ) {
    self.caFile = caFile
    self.isInsecure = isInsecure
    self.turnCertificateSHA256 = turnCertificateSHA256
    self.signalingKeySHA256 = signalingKeySHA256
    self.clientCertificateFile = clientCertificateFile
    self.clientKeyFile = clientKeyFile
  }

  /// What says whether a public key is pinned; nil where none is.
  @_spi(Command) public var acceptsSignalingKey: (@Sendable ([UInt8]) -> Bool)? {
    let pins = signalingKeySHA256
    guard !pins.isEmpty else { return nil }
    return { key in Self.signalingKeyHash(key).map { pins.contains($0) } ?? false }
  }

  /// What `signalingKeySHA256` has of a public key in DER; nil where there is no cryptography.
  @_spi(Command) public static func signalingKeyHash(_ key: [UInt8]) -> [UInt8]? {
    try? DTLSFingerprint(of: key).bytes
  }

  /// The same for those that open connections.
  fileprivate var options: TLSOptions {
    TLSOptions(
      trust: caFile.map { .file($0) } ?? .system, insecure: isInsecure,
      clientIdentity: clientCertificateFile.map {
        TLSOptions.Identity(certificateFile: $0, keyFile: clientKeyFile ?? $0)
      })
  }
}
