import SoraCommandSupport
import SoraMedia
import WebRTC

/// What `sora publish` sends, as its options name it.
struct PublishInputs {
  let video: (any VideoFeed)?
  let audio: (any AudioFeed)?
  /// Takes the place of `audio`.
  let microphone: SoundDevice?
  /// A film of which only the sound is sent.
  let soundFilm: FilmInput?
  /// What is wrong with inputs that can be sent all the same.
  let warnings: [String]

  init(_ command: PublishCommand, resolution: Resolution) throws(UsageError) {
    let videoChoice = try VideoChoice(command.video)
    let audioChoice = try command.audio.map { text throws(UsageError) in try AudioChoice(text) }
    guard videoChoice != .none || audioChoice != .some(.none) else {
      throw UsageError("--video none and --audio none leave nothing to publish; leave one out")
    }
    var film: FilmInput?
    if case .film(let path) = videoChoice {
      let takesSound = audioChoice == nil || audioChoice == .film(path)
      let made = try FilmInput(
        path, option: "--video", kinds: takesSound ? [.video, .audio] : [.video],
        loops: command.loop, framesPerSecond: command.fps)
      if audioChoice != nil, takesSound, made.sound == nil {
        throw UsageError(
          "--audio \(path): it has no sound that can be played; leave --audio out, or use another file"
        )
      }
      film = made
      video = made
    } else {
      let codec = command.passthrough ? command.connection.videoCodec : nil
      video = try videoChoice.makeFeed(
        resolution: resolution, framesPerSecond: command.fps,
        codec: codec.flatMap { VideoCodecKind(encodingName: $0) }, bitDepth: command.bitDepth)
    }
    if case .film(let path)? = audioChoice, film?.sound == nil {
      let made = try FilmInput(path, option: "--audio", kinds: [.audio], loops: command.loop)
      soundFilm = made
      audio = made.sound
    } else if let film, audioChoice == nil || film.sound != nil {
      soundFilm = nil
      audio = film.sound
    } else {
      soundFilm = nil
      audio = try AudioInput(
        audioChoice ?? .tone, framesPerSecond: video?.framesPerSecond ?? command.fps ?? 30)
    }
    if case .microphone(let name)? = audioChoice {
      microphone = try SoundDevice(
        microphone: name, noiseSuppression: command.noiseSuppression,
        gainControl: command.gainControl)
    } else {
      microphone = nil
    }
    let unheeded = Self.unheeded(command, resolution, videoChoice, video)
    warnings = [audio?.warning, film?.warning].compactMap(\.self) + unheeded
  }

  /// Options about pictures that come as they are, a line each.
  private static func unheeded(
    _ command: PublishCommand, _ wanted: Resolution, _ choice: VideoChoice,
    _ video: (any VideoFeed)?
  ) -> [String] {
    guard let video else { return [] }
    var lines: [String] = []
    switch choice {
    case .none, .testPattern, .camera: return []
    // Of a window that is chosen later nothing is known.
    case .screen, .window: if video.resolution.width == 0 { return [] }
    case .film, .file: break
    }
    if command.resolution != PublishCommand.defaultResolution, wanted != video.resolution {
      lines.append(
        "--resolution \(wanted): what --video names has \(video.resolution), and is sent so")
    }
    // Containers round times: so much is the same rate.
    if case .film = choice, let rate = command.fps, abs(video.framesPerSecond / rate - 1) > 0.05 {
      lines.append("--fps \(rate): the film has times of its own, and is sent by them")
    }
    return lines
  }

  /// What can be written of the pictures.
  var writablePictures: WritableMedia {
    guard let video else { return .none }
    return video.codec == nil ? .raw : .encoded
  }

  /// What can be written of the sound.
  var writableSound: WritableMedia {
    if microphone != nil { return .raw }
    guard let audio else { return .none }
    return audio.isEncoded ? .encoded : .raw
  }
}

/// Gives what is sent of a microphone to whoever counts and records it.
final class SentSound: AudioSink {
  private let take: @Sendable (AudioFrame) -> Void

  init(_ take: @escaping @Sendable (AudioFrame) -> Void) { self.take = take }

  func receive(_ frame: AudioFrame) { take(frame) }
}

/// Tells a source of encoded pictures what those who receive them want.
final class FeedFeedback: RTCEncodedVideoSourceDelegate {
  private let feed: any VideoFeed

  /// - Parameter source: what the feed's pictures are sent by.
  init(_ feed: any VideoFeed, to source: RTCVideoSource, passesThrough: Bool) {
    self.feed = feed
    source.encodedFrameHandling = passesThrough ? .transcodeWhereNeeded : .transcode
    source.hasFixedEncodedBitrate = !feed.followsBitrate
    source.encodedFrameDelegate = self
  }

  /// Waits until encoded pictures aren't given in vain, for some seconds at most: a film's first would be missed, and there is no other
  /// key frame for a while.
  static func untilSent(_ source: RTCVideoSource?, _ feed: (any VideoFeed)?) async {
    guard let source, feed?.codec != nil else { return }
    for _ in 0..<500 where source.negotiatedCodecs.isEmpty {
      try? await Task.sleep(for: .milliseconds(10))
    }
  }

  func videoSourceNeedsKeyFrame(_ source: RTCVideoSource) { feed.requestKeyFrame() }
  func videoSource(_ source: RTCVideoSource, targetBitrateChanged bitsPerSecond: Int) {
    feed.setTargetBitrate(bitsPerSecond)
  }
}
