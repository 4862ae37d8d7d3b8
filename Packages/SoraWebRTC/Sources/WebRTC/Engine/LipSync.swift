import SoraMedia
import SoraRTP
import SoraTransport

/// Keeps the audio and the video of each received stream in step, and as far back as the application asks. Confined to the connection's
/// loop.
///
/// A video with a target of its own isn't held back for its audio; audio with one is held for as long at least.
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
    synchronizers = synchronizers.filter { pairs.contains($0.key) }
    for pair in pairs {
      guard let audio = playing(pair.audio, media.audioPlayed(pair.audio), core),
        let video = playing(pair.video, media.videoPlayed(pair.video), core)
      else { continue }
      synchronizers[pair, default: PlayoutSynchronizer()].update(
        audio: audio, video: video, at: now)
    }
    hold(core, media)
  }

  /// Tells the buffers; anew each time: a track that began anew has another one.
  private func hold(_ core: PeerConnectionCore, _ media: MediaPipelines) {
    var holds: [Int: Duration] = [:]
    for (pair, synchronizer) in synchronizers {
      holds[pair.audio] = synchronizer.audioHold
      holds[pair.video] = synchronizer.videoHold
    }
    for section in core.media where section.receive != nil {
      let id = section.transceiverID
      let (hold, target) = (holds[id] ?? .zero, media.jitterBufferTarget(id))
      switch section.kind {
      case .audio: media.setMinimumDelay(max(hold, target ?? .zero), transceiverID: id)
      case .video:
        let buffer = core.receiveStream(transceiverID: id)?.jitterBuffer
        buffer?.setMinimumDelay(target == nil ? hold : .zero)
        buffer?.setTargetDelay(target)
      }
    }
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
