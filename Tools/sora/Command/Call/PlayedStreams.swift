import SoraClock
import SoraCommandSupport
import SoraMedia
import SoraSDK
import Synchronization
import WebRTC

/// The stream that the files show: see `StreamFollower`. Safe from any thread.
final class FollowedStream: Sendable {
  private let follower = Mutex(StreamFollower())
  private let outputs: CallOutputs

  init(outputs: CallOutputs) { self.outputs = outputs }

  var recordsEncoded: Bool { outputs.recordsEncoded }

  var state: StreamFollower { follower.withLock { $0 } }

  func add(_ streamId: String) { follower.withLock { $0.add(streamId, at: SystemClock.now) } }

  func remove(_ streamId: String) {
    follower.withLock { $0.remove(streamId, at: SystemClock.now) }
  }

  func add(_ frame: RawVideoFrame, of streamId: String, at now: Instant) {
    guard follower.withLock({ $0.picture(of: streamId) }) else { return }
    outputs.add(frame, at: now, of: streamId)
  }

  /// - Parameter hasSounded: whether the stream's sound has begun; before, there is silence alone.
  func add(_ block: AudioFrame, of streamId: String, hasSounded: Bool) {
    let isFollowed = follower.withLock {
      hasSounded ? $0.sound(of: streamId) : $0.main == streamId
    }
    if isFollowed { outputs.add(block) }
  }

  func add(
    _ frame: EncodedTrackFrame, of streamId: String,
    requestKeyFrame: @escaping @Sendable () -> Void
  ) {
    guard follower.withLock({ $0.main == streamId }) else { return }
    outputs.add(frame, of: streamId, requestKeyFrame: requestKeyFrame)
  }
}

/// One received stream with its meters; feeds the files, too, while it is followed.
final class PlayedStream: VideoSink, AudioSink, EncodedFrameSink {
  let streamId: String
  let video = VideoMeter()
  let audio = AudioMeter()
  let sync = SyncMeter()
  private let followed: FollowedStream
  private let isPlayed: Bool
  private let grid: StreamGrid?
  private let requestKeyFrame = Mutex<@Sendable () -> Void>({})

  /// - Parameter isPlayed: whether a loudspeaker plays it.
  init(streamId: String, followed: FollowedStream, isPlayed: Bool, grid: StreamGrid?) {
    self.streamId = streamId
    self.followed = followed
    self.isPlayed = isPlayed
    self.grid = grid
  }

  func attach(to stream: any MediaStream) {
    stream.addVideoSink(self)
    stream.addAudioSink(self)
    if followed.recordsEncoded { stream.addEncodedFrameSink(self) }
  }

  func detach(from stream: any MediaStream) {
    stream.removeVideoSink(self)
    stream.removeAudioSink(self)
    stream.removeEncodedFrameSink(self)
  }

  func receive(_ frame: RawVideoFrame) {
    let now = SystemClock.now
    grid?.show(frame, of: streamId)
    let stamp = video.add(
      frame, at: now, realtimeMilliseconds: SystemClock.realtimeMilliseconds)
    sync.add(stamp, at: now)
    followed.add(frame, of: streamId, at: now)
  }

  func receive(_ frame: AudioFrame) {
    let now = SystemClock.now
    audio.add(frame, at: now)
    // A picture is shown when it comes, and a sound is heard later.
    let delay = isPlayed ? Sora.shared.audioDeviceUse.playoutLatency : nil
    sync.add(frame, at: now + (delay ?? .zero))
    followed.add(frame, of: streamId, hasSounded: audio.snapshot.firstSound != nil)
  }

  func attached(to kind: MediaKind, requestKeyFrame request: @escaping @Sendable () -> Void) {
    if kind == .video { requestKeyFrame.withLock { $0 = request } }
  }

  func receive(_ frame: EncodedTrackFrame) {
    followed.add(frame, of: streamId, requestKeyFrame: requestKeyFrame.withLock { $0 })
  }

  /// When the first picture or sound came.
  var firstMedia: Instant? { earliest(video.snapshot.first, audio.snapshot.firstSound) }
}

/// All streams that a call received, in the order in which they came. Confined to the command's task.
struct PlayedStreams {
  private(set) var all: [PlayedStream] = []
  private var readings: [String: StatisticsReading] = [:]
  /// Of connections that were lost.
  private var earlier: [String: StatisticsReading] = [:]
  private let followed: FollowedStream
  private let arePlayed: Bool
  /// The window of --view.
  var grid: StreamGrid?
  private var heard: [String: AudioMeter.Snapshot] = [:]

  /// - Parameter arePlayed: whether a loudspeaker plays every stream.
  init(outputs: CallOutputs, arePlayed: Bool) {
    followed = FollowedStream(outputs: outputs)
    self.arePlayed = arePlayed
  }

  mutating func add(_ stream: any MediaStream) {
    followed.add(stream.streamId)
    grid?.add(stream.streamId)
    let played: PlayedStream
    if let known = all.first(where: { $0.streamId == stream.streamId }) {
      // Picture and sound of one stream may be announced one after the other.
      known.detach(from: stream)
      played = known
    } else {
      played = PlayedStream(
        streamId: stream.streamId, followed: followed, isPlayed: arePlayed, grid: grid)
      all.append(played)
    }
    played.attach(to: stream)
  }

  /// The connection was lost: no stream is there until it comes again.
  mutating func lost() {
    for stream in all {
      followed.remove(stream.streamId)
      grid?.remove(stream.streamId)
    }
    for (streamId, reading) in readings {
      earlier[streamId, default: StatisticsReading()].addEarlier(reading)
    }
    readings = [:]
  }

  func remove(_ stream: any MediaStream) {
    followed.remove(stream.streamId)
    grid?.remove(stream.streamId)
    all.first { $0.streamId == stream.streamId }?.detach(from: stream)
  }

  /// Marks who has spoken since the last time, where there is a window.
  mutating func markSpeakers(at now: Instant) {
    guard let grid else { return }
    for stream in all {
      let meter = stream.audio.snapshot
      grid.hear(
        stream.streamId, levelDb: meter.levelDb(since: heard[stream.streamId] ?? .init()), at: now)
      heard[stream.streamId] = meter
    }
  }

  var firstMedia: Instant? { all.reduce(nil) { earliest($0, $1.firstMedia) } }

  /// When the first picture of any stream came.
  var firstPicture: Instant? { all.reduce(nil) { earliest($0, $1.video.snapshot.first) } }

  /// Which stream is followed, and which are there.
  var state: StreamFollower { followed.state }

  /// Takes over newer statistics.
  mutating func update(_ new: [String: StatisticsReading]) {
    for (streamId, reading) in new {
      readings[streamId, default: StatisticsReading()].update(with: reading)
    }
  }

  /// The statistics of one stream.
  func reading(of stream: PlayedStream) -> StatisticsReading {
    var reading = readings[stream.streamId] ?? StatisticsReading()
    if let before = earlier[stream.streamId] { reading.addEarlier(before) }
    return reading
  }

  /// The statistics of all streams together, those included that are over.
  var total: StatisticsReading {
    all.reduce(into: StatisticsReading()) { $0.add(reading(of: $1)) }
  }

  /// Waits for measurements that are under way.
  func finish() { for stream in all { stream.video.finish() } }
}
