import SoraSignaling

/// The client's first message: who it is, where it wants to go, and what it can do. Can only be encoded.
///
/// The properties are the iOS SDK's names of the fields of `ConnectMessage`.
public struct SignalingConnect: Codable, Sendable {
  /// The message as it goes out.
  private(set) var message: ConnectMessage

  public init(from decoder: any Decoder) throws { throw SoraError.invalidSignalingMessage }

  public func encode(to encoder: any Encoder) throws { try message.json.encode(to: encoder) }

  /// What a configuration asks for.
  init(_ configuration: Configuration, sdp: String?) {
    message = ConnectMessage(configuration, sdp: sdp)
  }

  public var role: SignalingRole {
    get { SignalingRole(message.role) }
    set { message.role = newValue.message }
  }
  public var channelId: String {
    get { message.channelID }
    set { message.channelID = newValue }
  }
  public var clientId: String? {
    get { message.clientID }
    set { message.clientID = newValue }
  }
  public var bundleId: String? {
    get { message.bundleID }
    set { message.bundleID = newValue }
  }
  /// What the server authenticates.
  public var metadata: (any Encodable)? {
    get { message.metadata }
    set { message.metadata = FreeForm(encoding: newValue).json }
  }
  /// What the others of the channel see.
  public var notifyMetadata: (any Encodable)? {
    get { message.notifyMetadata }
    set { message.notifyMetadata = FreeForm(encoding: newValue).json }
  }
  /// An offer that tells the server which codecs this side has. Only from roles that send.
  public var sdp: String? {
    get { message.sdp }
    set { message.sdp = newValue }
  }
  public var multistreamEnabled: Bool? {
    get { message.multistream }
    set { message.multistream = newValue }
  }
  /// Name and version of the SDK.
  public var soraClient: String? {
    get { message.soraClient }
    set { message.soraClient = newValue }
  }
  /// Name and version of the WebRTC engine.
  public var webRTCVersion: String? {
    get { message.webRTCVersion }
    set { message.webRTCVersion = newValue }
  }
  /// The machine and its system.
  public var environment: String? {
    get { message.environment }
    set { message.environment = newValue }
  }
  public var spotlightEnabled: Configuration.Spotlight {
    get { message.spotlight == true ? .enabled : .disabled }
    set { message.spotlight = newValue == .enabled ? true : nil }
  }
  public var spotlightNumber: Int? {
    get { message.spotlightNumber }
    set { message.spotlightNumber = newValue }
  }
  public var spotlightFocusRid: SpotlightRid {
    get { SpotlightRid(message.spotlightFocusRid) }
    set { message.spotlightFocusRid = newValue.message }
  }
  public var spotlightUnfocusRid: SpotlightRid {
    get { SpotlightRid(message.spotlightUnfocusRid) }
    set { message.spotlightUnfocusRid = newValue.message }
  }
  public var simulcastEnabled: Bool {
    get { message.simulcast == true }
    set { message.simulcast = newValue ? true : nil }
  }
  public var simulcastRid: SimulcastRid? {
    get { message.simulcastRid.flatMap { SimulcastRid(rawValue: $0.rawValue) } }
    set { message.simulcastRid = newValue?.message }
  }
  /// Linux only.
  public var simulcastMulticodec: Bool? {
    get { message.simulcastMulticodec }
    set { message.simulcastMulticodec = newValue }
  }
  public var dataChannelSignaling: Bool? {
    get { message.dataChannelSignaling }
    set { message.dataChannelSignaling = newValue }
  }
  public var ignoreDisconnectWebSocket: Bool? {
    get { message.ignoreDisconnectWebSocket }
    set { message.ignoreDisconnectWebSocket = newValue }
  }
  public var audioStreamingLanguageCode: String? {
    get { message.audioStreamingLanguageCode }
    set { message.audioStreamingLanguageCode = newValue }
  }
  /// True on the `connect` that follows a redirect.
  public var redirect: Bool? {
    get { message.redirect }
    set { message.redirect = newValue }
  }
  public var forwardingFilter: ForwardingFilter? {
    get { message.forwardingFilter.map(ForwardingFilter.init) }
    set { message.forwardingFilter = newValue?.message }
  }
  public var forwardingFilters: [ForwardingFilter]? {
    get { message.forwardingFilters?.map(ForwardingFilter.init) }
    set { message.forwardingFilters = newValue?.map(\.message) }
  }

  // MARK: Options of media, which are one object for each kind

  private var audio: AudioOptions {
    get { message.audio?.options ?? AudioOptions() }
    set { message.audio = newValue == AudioOptions() ? nil : .options(newValue) }
  }
  private var video: VideoOptions {
    get { message.video?.options ?? VideoOptions() }
    set { message.video = newValue == VideoOptions() ? nil : .options(newValue) }
  }

  /// Setting it to false drops the options of audio; setting one of those makes it true.
  public var audioEnabled: Bool {
    get { message.audio?.isEnabled ?? true }
    set { if newValue != audioEnabled { message.audio = newValue ? nil : .disabled } }
  }
  public var audioCodec: AudioCodec {
    get { audio.codecType.flatMap(AudioCodec.init(rawValue:)) ?? .default }
    set { audio.codecType = newValue.message }
  }
  /// kbit/s
  public var audioBitRate: Int? {
    get { audio.bitRate }
    set { audio.bitRate = newValue }
  }
  /// Linux only.
  public var opusParams: (any Encodable)? {
    get { audio.opusParams?.json }
    set { audio.opusParams = FreeForm(encoding: newValue, as: OpusParams.self).value() }
  }
  /// Setting it to false drops the options of video; setting one of those makes it true.
  public var videoEnabled: Bool {
    get { message.video?.isEnabled ?? true }
    set { if newValue != videoEnabled { message.video = newValue ? nil : .disabled } }
  }
  public var videoCodec: VideoCodec {
    get { video.codecType.flatMap(VideoCodec.init(rawValue:)) ?? .default }
    set { video.codecType = newValue.message }
  }
  /// kbit/s
  public var videoBitRate: Int? {
    get { video.bitRate }
    set { video.bitRate = newValue }
  }
  public var vp9Params: (any Encodable)? {
    get { video.vp9Params?.json }
    set { video.vp9Params = FreeForm(encoding: newValue, as: VP9Params.self).value() }
  }
  public var av1Params: (any Encodable)? {
    get { video.av1Params?.json }
    set { video.av1Params = FreeForm(encoding: newValue, as: AV1Params.self).value() }
  }
  public var h264Params: (any Encodable)? {
    get { video.h264Params?.json }
    set { video.h264Params = FreeForm(encoding: newValue, as: H264Params.self).value() }
  }
}
