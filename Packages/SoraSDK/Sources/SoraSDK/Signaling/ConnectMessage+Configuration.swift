import SoraSignaling

extension ConnectMessage {
  /// What a configuration asks for: the one place where its properties become fields. What is at its default is absent.
  ///
  /// A free-form value that can't be sent is absent too; `Configuration.freeFormError` tells of it.
  init(_ configuration: Configuration, sdp: String?) {
    self.init(role: SignalingRole(configuration.role).message, channelID: configuration.channelId)
    self.clientID = configuration.clientId
    self.bundleID = configuration.bundleId
    self.metadata = configuration.connectMetadata.json
    self.notifyMetadata = configuration.notifyMetadata.json
    self.sdp = sdp
    self.soraClient = "Sora Swift SDK \(SDKInfo.version)"
    self.webRTCVersion = "Sora Swift WebRTC \(WebRTCInfo.version)"
    self.environment = DeviceInfo.current.description
    self.audio = configuration.audio
    self.video = configuration.video
    self.multistream = configuration.usesMultistream
    if configuration.simulcastEnabled {
      self.simulcast = true
      self.simulcastMulticodec = configuration.simulcastMulticodec
      if configuration.role.receives {
        self.simulcastRid = configuration.simulcastRid?.message
        self.simulcastRequestRid = configuration.simulcastRequestRid.message
      }
    }
    if configuration.spotlightEnabled == .enabled {
      self.spotlight = true
      self.spotlightNumber = configuration.spotlightNumber
      self.spotlightFocusRid = configuration.spotlightFocusRid.message
      self.spotlightUnfocusRid = configuration.spotlightUnfocusRid.message
    }
    self.audioStreamingLanguageCode = configuration.audioStreamingLanguageCode
    self.dataChannelSignaling = configuration.dataChannelSignaling
    self.ignoreDisconnectWebSocket = configuration.ignoreDisconnectWebSocket
    self.dataChannels = configuration.dataChannelList.value()
    self.forwardingFilter = configuration.forwardingFilter?.message
    self.forwardingFilters = configuration.forwardingFilters?.map(\.message)
  }
}

extension Configuration {
  fileprivate var audio: MediaSetting<AudioOptions>? {
    guard audioEnabled else { return .disabled }
    let options = AudioOptions {
      $0.codecType = audioCodec.message
      $0.bitRate = audioBitRate
      $0.opusParams = opusParams.value()
    }
    return options == AudioOptions() ? nil : .options(options)
  }

  fileprivate var video: MediaSetting<VideoOptions>? {
    guard videoEnabled else { return .disabled }
    let options = VideoOptions {
      $0.codecType = videoCodec.message
      $0.bitRate = videoBitRate
      $0.vp9Params = vp9Params.value()
      $0.av1Params = av1Params.value()
      $0.h264Params = h264Params.value()
      $0.h265Params = h265Params.value()
    }
    return options == VideoOptions() ? nil : .options(options)
  }
}

// The SDK's words in signaling's, and back. A word that means "the server's choice" is an absent key.

extension SignalingRole {
  init(_ role: Role) {
    switch role {
    case .sendonly: self = .sendonly
    case .recvonly: self = .recvonly
    case .sendrecv: self = .sendrecv
    }
  }
}

extension AudioCodec {
  var message: String? { self == .default ? nil : rawValue }
}

extension VideoCodec {
  var message: String? { self == .default ? nil : rawValue }
}

extension SimulcastRid {
  var message: SignalingRid? { SignalingRid(rawValue: rawValue) }
}

extension SimulcastRequestRid {
  /// nil for `unspecified`, which is no rid of the protocol.
  var message: SignalingRid? { SignalingRid(rawValue: rawValue) }
}

extension SpotlightRid {
  /// nil for `unspecified`, which is no rid of the protocol.
  var message: SignalingRid? { SignalingRid(rawValue: rawValue) }

  init(_ rid: SignalingRid?) { self = rid.flatMap { Self(rawValue: $0.rawValue) } ?? .unspecified }
}
