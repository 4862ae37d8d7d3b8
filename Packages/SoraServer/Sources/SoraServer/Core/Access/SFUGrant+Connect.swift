import SoraSignalingMessages

extension SFUGrant {
  /// What the client gets: what it asks for, with what the grant settles in its place.
  func applied(to connect: ConnectMessage) -> ConnectMessage {
    var message = connect
    put(settings.clientID) { message.clientID = $0 }
    put(settings.bundleID) { message.bundleID = $0 }
    put(settings.notifyMetadata) { message.notifyMetadata = $0 }
    put(settings.simulcast) { message.simulcast = $0 }
    if settings.simulcastRid != nil || settings.simulcastRequestRid != nil {
      // Two names of one wish, of which the latter counts.
      message.simulcastRid = settings.simulcastRid
      message.simulcastRequestRid = settings.simulcastRequestRid
    }
    put(settings.spotlight) { message.spotlight = $0 }
    put(settings.spotlightNumber) { message.spotlightNumber = $0 }
    put(settings.spotlightFocusRid) { message.spotlightFocusRid = $0 }
    put(settings.spotlightUnfocusRid) { message.spotlightUnfocusRid = $0 }
    if settings.spotlight == false {
      // What belongs to it goes with it: the client isn't refused for what was taken from it.
      message.spotlightNumber = nil
      message.spotlightFocusRid = nil
      message.spotlightUnfocusRid = nil
    }
    put(settings.audioStreamingLanguageCode) { message.audioStreamingLanguageCode = $0 }
    put(settings.dataChannelSignaling) { message.dataChannelSignaling = $0 }
    put(settings.ignoreDisconnectWebSocket) { message.ignoreDisconnectWebSocket = $0 }
    put(settings.dataChannels) { message.dataChannels = $0 }
    if settings.forwardingFilter != nil || settings.forwardingFilters != nil {
      // In the place of all of the client's: one of its own that is matched first would undo them.
      message.forwardingFilter = settings.forwardingFilter
      message.forwardingFilters = settings.forwardingFilters
    }
    message.audio = audio(connect.audio)
    message.video = video(connect.video)
    return message
  }

  private func put<Value>(_ value: Value?, _ set: (Value) -> Void) {
    if let value { set(value) }
  }

  private func audio(_ wish: MediaSetting<AudioOptions>?) -> MediaSetting<AudioOptions>? {
    let setting = Self.settled(wish, by: settings.audio)
    guard setting != .disabled else { return setting }
    let options = AudioOptions(setting?.options) {
      if let value = settings.audioCodecType { $0.codecType = value }
      if let value = settings.audioBitRate { $0.bitRate = value }
      if let value = settings.audioOpusParams { $0.opusParams = value }
    }
    return options == (setting?.options ?? AudioOptions()) ? setting : .options(options)
  }

  private func video(_ wish: MediaSetting<VideoOptions>?) -> MediaSetting<VideoOptions>? {
    let setting = Self.settled(wish, by: settings.video)
    guard setting != .disabled else { return setting }
    let options = VideoOptions(setting?.options) {
      if let value = settings.videoCodecType { $0.codecType = value }
      if let value = settings.videoBitRate { $0.bitRate = value }
      if let value = settings.videoVP9Params { $0.vp9Params = value }
      if let value = settings.videoAV1Params { $0.av1Params = value }
      if let value = settings.videoH264Params { $0.h264Params = value }
      if let value = settings.videoH265Params { $0.h265Params = value }
    }
    return options == (setting?.options ?? VideoOptions()) ? setting : .options(options)
  }

  /// `true` switches a medium on, and leaves it the options that the client has asked for.
  private static func settled<Options: FieldContent>(
    _ wish: MediaSetting<Options>?, by decision: MediaSetting<Options>?
  ) -> MediaSetting<Options>? {
    guard let decision else { return wish }
    return decision == .enabled && wish?.isEnabled != false ? wish : decision
  }
}

extension SignalingObject where Fields: OptionalFields {
  /// Some options, or none, changed.
  fileprivate init(_ base: Self?, _ change: (inout Self) -> Void) {
    self = base ?? Self()
    change(&self)
  }
}
