import SoraMedia
import SoraRTP
import SoraTransport

/// Keeps the audio and the video of each received stream in step. Confined to the connection's loop.
struct LipSync {
  /// Time between two looks at what is played.
  private static let interval = Duration.milliseconds(200)

  /// An audio and a video transceiver of one stream.
  private struct Pair: Hashable {
    var audio: Int
    var video: Int
  }

  private var synchronizers: [Pair: PlayoutSynchronizer] = [:]
  private var next = Instant.zero

  /// Corrects what has drifted apart. May be called at any time.
  mutating func update(
    _ core: PeerConnectionCore, _ media: MediaPipelines, at now: Instant
  ) {
    guard next <= now else { return }
    next = now + Self.interval
    for section in core.media where section.kind == .audio && section.receive != nil {
      guard let played = media.audioPlayed(section.transceiverID) else { continue }
      core.receiveStream(transceiverID: section.transceiverID)?.setPlayoutDelay(played.delay)
    }
    let pairs = Self.pairs(of: core.media)
    for pair in synchronizers.keys where !pairs.contains(pair) {
      synchronizers[pair] = nil
      release(pair, core, media)
    }
    for pair in pairs {
      guard let audio = playing(pair.audio, media.audioPlayed(pair.audio), core),
        let video = playing(pair.video, media.videoPlayed(pair.video), core)
      else { continue }
      var synchronizer = synchronizers[pair] ?? PlayoutSynchronizer()
      synchronizer.update(audio: audio, video: video, at: now)
      // Told anew each time: a track that began anew has another buffer.
      media.setMinimumDelay(synchronizer.audioHold, transceiverID: pair.audio)
      core.receiveStream(transceiverID: pair.video)?.jitterBuffer?
        .setMinimumDelay(synchronizer.videoHold)
      synchronizers[pair] = synchronizer
    }
  }

  private func release(_ pair: Pair, _ core: PeerConnectionCore, _ media: MediaPipelines) {
    media.setMinimumDelay(.zero, transceiverID: pair.audio)
    core.receiveStream(transceiverID: pair.video)?.jitterBuffer?.setMinimumDelay(.zero)
  }

  private func playing(
    _ transceiverID: Int, _ played: PlayedMedia?, _ core: PeerConnectionCore
  ) -> PlayoutSynchronizer.Playing? {
    guard let played, let stream = core.receiveStream(transceiverID: transceiverID),
      let captured = stream.senderReports.captureTime(of: played.rtpTimestamp)
    else { return nil }
    return PlayoutSynchronizer.Playing(
      captured: captured, played: played.time,
      delay: stream.jitterBuffer?.playoutDelay ?? played.delay)
  }

  /// The first audio and the first video of each stream that has both. What is in several streams follows the first one.
  private static func pairs(of media: [NegotiatedMedia]) -> Set<Pair> {
    var audio: [String: Int] = [:]
    var pairs: Set<Pair> = []
    for section in media where section.kind == .audio {
      guard let stream = section.receive?.streamIDs.first, audio[stream] == nil else { continue }
      audio[stream] = section.transceiverID
    }
    for section in media where section.kind == .video {
      guard let stream = section.receive?.streamIDs.first,
        let partner = audio.removeValue(forKey: stream)
      else { continue }
      pairs.insert(Pair(audio: partner, video: section.transceiverID))
    }
    return pairs
  }
}
