public import SoraMedia
import Synchronization

/// Takes frames on the thread that pushes them.
public protocol VideoSink: AnyObject, Sendable {
  func receive(_ frame: RawVideoFrame)
}

/// Takes audio of a track or a source.
public protocol AudioSink: AnyObject, Sendable {
  /// Takes one frame.
  ///
  /// Of a received track: on a serial queue of the track's own, 10 ms at 48 kHz at a time. A sink that is slow delays the
  /// other sinks of its track and nothing else; when 500 ms wait for it, the oldest frames are dropped and counted as
  /// `connection.audioSinksBehind` in `RTCStatisticsReport.packetDrops`. Of a source of ours: on the thread that pushes,
  /// which waits for the sink.
  func receive(_ frame: AudioFrame)
}

/// Takes audio to a loudspeaker.
public protocol LoudspeakerSink: AudioSink {
  /// How much later than `receive` a frame is heard, so that video is held back by as much; nil if unknown. From any thread.
  var playoutLatency: Duration? { get }
}

/// Takes Opus packets that are encoded already, on the thread that pushes them.
protocol AudioPacketSink: AudioSink {
  func receive(packet: EncodedFrame)
}

/// Fans frames out to sinks. Sinks run outside the lock, so that they may add and remove sinks.
final class VideoBroadcaster: Sendable {
  private let sinks = Mutex<[any VideoSink]>([])

  func add(_ sink: any VideoSink) { sinks.withLock { $0.append(sink) } }
  func remove(_ sink: any VideoSink) { sinks.withLock { $0.removeAll { $0 === sink } } }
  func push(_ frame: RawVideoFrame) {
    for sink in sinks.withLock({ $0 }) { sink.receive(frame) }
  }
}

/// Fans audio out to sinks, as `VideoBroadcaster` does frames.
final class AudioBroadcaster: Sendable {
  private let sinks = Mutex<[any AudioSink]>([])

  func add(_ sink: any AudioSink) { sinks.withLock { $0.append(sink) } }
  func remove(_ sink: any AudioSink) { sinks.withLock { $0.removeAll { $0 === sink } } }
  var isEmpty: Bool { sinks.withLock { $0.isEmpty } }
  /// Of the sink that is heard last.
  var playoutLatency: Duration {
    sinks.withLock { $0 }.compactMap { ($0 as? any LoudspeakerSink)?.playoutLatency }.max() ?? .zero
  }
  func push(_ frame: AudioFrame) {
    for sink in sinks.withLock({ $0 }) { sink.receive(frame) }
  }
  /// Gives a packet that is encoded already to those that send it.
  func push(packet: EncodedFrame) {
    for sink in sinks.withLock({ $0 }) { (sink as? any AudioPacketSink)?.receive(packet: packet) }
  }
}
