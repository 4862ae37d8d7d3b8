import SoraClock
import SoraCommandSupport
import SoraMedia
import SoraSDK
import WebRTC

/// One received stream with its meters; feeds the files, too, when it is the first.
final class PlayedStream: VideoSink, AudioSink {
  let streamId: String
  let video = VideoMeter()
  let audio = AudioMeter()
  private let outputs: CallOutputs?

  init(streamId: String, outputs: CallOutputs?) {
    self.streamId = streamId
    self.outputs = outputs
  }

  func attach(to stream: any MediaStream) {
    stream.addVideoSink(self)
    stream.addAudioSink(self)
  }

  func detach(from stream: any MediaStream) {
    stream.removeVideoSink(self)
    stream.removeAudioSink(self)
  }

  func receive(_ frame: RawVideoFrame) {
    let now = SystemClock.now
    video.add(frame, at: now, realtimeMilliseconds: SystemClock.realtimeMilliseconds)
    outputs?.add(frame, at: now)
  }

  func receive(_ frame: AudioFrame) {
    audio.add(frame, at: SystemClock.now)
    outputs?.add(frame)
  }

  /// When the first picture or sound came.
  var firstMedia: Instant? { earliest(video.snapshot.first, audio.snapshot.firstSound) }
}

/// All streams that a call received, in the order in which they came. Confined to the command's task.
struct PlayedStreams {
  private(set) var all: [PlayedStream] = []
  private var readings: [String: StatisticsReading] = [:]
  private let outputs: CallOutputs

  init(outputs: CallOutputs) { self.outputs = outputs }

  mutating func add(_ stream: any MediaStream) {
    let played: PlayedStream
    if let known = all.first(where: { $0.streamId == stream.streamId }) {
      // Picture and sound of one stream may be announced one after the other.
      known.detach(from: stream)
      played = known
    } else {
      played = PlayedStream(streamId: stream.streamId, outputs: all.isEmpty ? outputs : nil)
      all.append(played)
    }
    played.attach(to: stream)
  }

  func remove(_ stream: any MediaStream) {
    all.first { $0.streamId == stream.streamId }?.detach(from: stream)
  }

  var firstMedia: Instant? { all.reduce(nil) { earliest($0, $1.firstMedia) } }

  /// The one that the summary is about: the first that showed a picture, or sounded.
  var main: PlayedStream? {
    all.first { $0.video.snapshot.frames > 0 } ?? all.first { $0.firstMedia != nil } ?? all.first
  }

  /// Takes over newer statistics.
  mutating func update(_ new: [String: StatisticsReading]) {
    for (streamId, reading) in new {
      readings[streamId, default: StatisticsReading()].update(with: reading)
    }
  }

  /// The statistics of one stream.
  func reading(of stream: PlayedStream) -> StatisticsReading {
    readings[stream.streamId] ?? StatisticsReading()
  }

  /// The statistics of all streams together, those included that are over.
  var total: StatisticsReading {
    all.reduce(into: StatisticsReading()) { $0.add(reading(of: $1)) }
  }

  /// Waits for measurements that are under way.
  func finish() { for stream in all { stream.video.finish() } }
}
