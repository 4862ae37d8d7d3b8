import WebRTC

/// What an app has set on a stream, for the one that takes its place.
struct StreamSettings {
  private let renderer: (any VideoRenderer)?
  private let filter: (any VideoFilter)?
  private let volume: Double?
  private let gain: Double?
  private let stoppedPicture: StoppedVideoPicture
  private let handlers: MediaStreamHandlers
  /// nil where there is no such track.
  private let isVideoEnabled: Bool?
  private let isAudioEnabled: Bool?

  init(_ stream: any MediaStream) {
    renderer = stream.videoRenderer
    filter = stream.videoFilter
    handlers = stream.handlers
    volume = stream.remoteAudioVolume
    gain = stream.audioGain
    stoppedPicture = stream.stoppedVideoPicture
    let tracks = (stream as? BasicMediaStream)?.native
    isVideoEnabled = tracks?.videoTracks.isEmpty == false ? stream.videoEnabled : nil
    isAudioEnabled = tracks?.audioTracks.isEmpty == false ? stream.audioEnabled : nil
  }

  /// What the app has set on the new one by now stays.
  func apply(to stream: any MediaStream) {
    if stream.videoRenderer == nil, let renderer { stream.videoRenderer = renderer }
    if stream.videoFilter == nil, let filter { stream.videoFilter = filter }
    if let volume { stream.remoteAudioVolume = volume }
    if let gain { stream.audioGain = gain }
    if stoppedPicture != .freeze { stream.stoppedVideoPicture = stoppedPicture }
    if let isVideoEnabled { stream.videoEnabled = isVideoEnabled }
    if let isAudioEnabled { stream.audioEnabled = isAudioEnabled }
    if stream.handlers.onSwitchVideo == nil {
      stream.handlers.onSwitchVideo = handlers.onSwitchVideo
    }
    if stream.handlers.onSwitchAudio == nil {
      stream.handlers.onSwitchAudio = handlers.onSwitchAudio
    }
  }
}
