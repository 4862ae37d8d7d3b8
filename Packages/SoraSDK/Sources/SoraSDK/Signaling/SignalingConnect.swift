import SoraSignaling

/// The client's first message: who it is, where it wants to go, and what it can do. Can only be encoded.
public struct SignalingConnect: Codable, Sendable {
  public var role: SignalingRole
  public var channelId: String
  public var clientId: String?
  public var bundleId: String?
  /// An offer that tells the server which codecs this side has. Only from roles that send.
  public var sdp: String?
  public var multistreamEnabled: Bool?
  public var videoEnabled: Bool
  public var videoCodec: VideoCodec
  /// kbit/s
  public var videoBitRate: Int?
  public var audioEnabled: Bool
  public var audioCodec: AudioCodec
  /// kbit/s
  public var audioBitRate: Int?
  public var spotlightEnabled: Configuration.Spotlight
  public var spotlightNumber: Int?
  public var spotlightFocusRid: SpotlightRid
  public var spotlightUnfocusRid: SpotlightRid
  public var simulcastEnabled: Bool
  public var simulcastRid: SimulcastRid?
  /// Name and version of the SDK.
  public var soraClient: String?
  /// Name and version of the WebRTC engine.
  public var webRTCVersion: String?
  /// The machine and its system.
  public var environment: String?
  public var dataChannelSignaling: Bool?
  public var ignoreDisconnectWebSocket: Bool?
  public var audioStreamingLanguageCode: String?
  /// True on the `connect` that follows a redirect.
  public var redirect: Bool?
  public var forwardingFilter: ForwardingFilter?
  public var forwardingFilters: [ForwardingFilter]?

  private var metadataForm: FreeForm
  private var notifyForm: FreeForm
  private var opusForm: FreeForm
  private var vp9Form: FreeForm
  private var av1Form: FreeForm
  private var h264Form: FreeForm
  private var dataChannelsForm: FreeForm

  /// What the server authenticates.
  public var metadata: (any Encodable)? {
    get { metadataForm.encodable }
    set { metadataForm = FreeForm(encoding: newValue) }
  }
  /// What the others of the channel see.
  public var notifyMetadata: (any Encodable)? {
    get { notifyForm.encodable }
    set { notifyForm = FreeForm(encoding: newValue) }
  }
  /// Linux only.
  public var opusParams: (any Encodable)? {
    get { opusForm.encodable }
    set { opusForm = FreeForm(encoding: newValue) }
  }
  public var vp9Params: (any Encodable)? {
    get { vp9Form.encodable }
    set { vp9Form = FreeForm(encoding: newValue) }
  }
  public var av1Params: (any Encodable)? {
    get { av1Form.encodable }
    set { av1Form = FreeForm(encoding: newValue) }
  }
  public var h264Params: (any Encodable)? {
    get { h264Form.encodable }
    set { h264Form = FreeForm(encoding: newValue) }
  }

  public init(from decoder: any Decoder) throws { throw SoraError.invalidSignalingMessage }

  public func encode(to encoder: any Encoder) throws {
    try SignalingCoding.encode(.connect(message), to: encoder)
  }

  /// What a configuration asks for.
  init(_ configuration: Configuration, sdp: String?) {
    role = SignalingRole(configuration.role)
    channelId = configuration.channelId
    clientId = configuration.clientId
    bundleId = configuration.bundleId
    self.sdp = sdp
    multistreamEnabled = configuration.usesMultistream
    videoEnabled = configuration.videoEnabled
    videoCodec = configuration.videoCodec
    videoBitRate = configuration.videoBitRate
    audioEnabled = configuration.audioEnabled
    audioCodec = configuration.audioCodec
    audioBitRate = configuration.audioBitRate
    spotlightEnabled = configuration.spotlightEnabled
    spotlightNumber = configuration.spotlightNumber
    spotlightFocusRid = configuration.spotlightFocusRid
    spotlightUnfocusRid = configuration.spotlightUnfocusRid
    simulcastEnabled = configuration.simulcastEnabled
    simulcastRid = configuration.simulcastRid
    soraClient = "Sora Swift SDK \(SDKInfo.version)"
    webRTCVersion = "Sora Swift WebRTC \(WebRTCInfo.version)"
    environment = DeviceInfo.current.description
    dataChannelSignaling = configuration.dataChannelSignaling
    ignoreDisconnectWebSocket = configuration.ignoreDisconnectWebSocket
    audioStreamingLanguageCode = configuration.audioStreamingLanguageCode
    forwardingFilter = configuration.forwardingFilter
    forwardingFilters = configuration.forwardingFilters
    metadataForm = configuration.connectMetadata
    notifyForm = configuration.notifyMetadata
    opusForm = configuration.opusParams
    vp9Form = configuration.vp9Params
    av1Form = configuration.av1Params
    h264Form = configuration.h264Params
    dataChannelsForm = configuration.dataChannelList
  }

  /// The message as it goes out. Keys at their defaults are absent.
  var message: ConnectMessage {
    let isSpotlight = spotlightEnabled == .enabled
    var message = ConnectMessage(role: role.message, channelID: channelId)
    message.clientID = clientId
    message.bundleID = bundleId
    message.metadata = metadataForm.json
    message.notifyMetadata = notifyForm.json
    message.sdp = sdp
    message.soraClient = soraClient
    message.webRTCVersion = webRTCVersion
    message.environment = environment
    message.audio = audio
    message.video = video
    message.multistream = multistreamEnabled
    message.simulcast = simulcastEnabled ? true : nil
    if simulcastEnabled, role != .sendonly {
      message.simulcastRid = simulcastRid.flatMap { SignalingRid(rawValue: $0.rawValue) }
    }
    if isSpotlight {
      message.spotlight = true
      message.spotlightNumber = spotlightNumber
      // `unspecified` is no rid of the protocol, so it stays absent.
      message.spotlightFocusRid = SignalingRid(rawValue: spotlightFocusRid.rawValue)
      message.spotlightUnfocusRid = SignalingRid(rawValue: spotlightUnfocusRid.rawValue)
    }
    message.audioStreamingLanguageCode = audioStreamingLanguageCode
    message.dataChannelSignaling = dataChannelSignaling
    message.ignoreDisconnectWebSocket = ignoreDisconnectWebSocket
    message.forwardingFilter = forwardingFilter?.message
    message.forwardingFilters = forwardingFilters?.map(\.message)
    message.redirect = redirect
    if let dataChannels = dataChannelsForm.json {
      message.additional["data_channels"] = dataChannels
    }
    return message
  }

  private var audio: MediaSetting<AudioOptions>? {
    guard audioEnabled else { return .disabled }
    let options = AudioOptions(
      codecType: audioCodec == .default ? nil : audioCodec.rawValue, bitRate: audioBitRate,
      opusParams: opusForm.json)
    return options == AudioOptions() ? nil : .options(options)
  }

  private var video: MediaSetting<VideoOptions>? {
    guard videoEnabled else { return .disabled }
    let options = VideoOptions(
      codecType: videoCodec == .default ? nil : videoCodec.rawValue, bitRate: videoBitRate,
      vp9Params: vp9Form.json, av1Params: av1Form.json, h264Params: h264Form.json)
    return options == VideoOptions() ? nil : .options(options)
  }
}

extension SignalingRole {
  init(_ role: Role) {
    switch role {
    case .sendonly: self = .sendonly
    case .recvonly: self = .recvonly
    case .sendrecv: self = .sendrecv
    }
  }
}
