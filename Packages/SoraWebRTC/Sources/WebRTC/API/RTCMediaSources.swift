public import SoraMedia
import Synchronization

/// Where a track's data comes from.
open class RTCMediaSource: @unchecked Sendable {
  // @unchecked: has no state; subclasses guard theirs.
  public enum State: Int, Sendable { case initializing, live, ended, muted }
  open var state: State { .live }

  init() {}
}

/// Takes frames from a capturer and gives them to every track, encoder and renderer that follows it.
public final class RTCVideoSource: RTCMediaSource, RTCVideoCapturerDelegate, @unchecked Sendable {
  // @unchecked: its only state is the broadcaster, which is Sendable.
  let broadcaster = VideoBroadcaster()

  override init() {}

  /// Passes a frame on, on the caller's thread.
  public func capturer(_ capturer: RTCVideoCapturer, didCapture frame: RTCVideoFrame) {
    push(frame.frame)
  }

  /// Passes a frame on, on the caller's thread.
  public func push(_ frame: VideoFrame) { broadcaster.push(frame) }
}

/// Takes sound from a device, a file or a generator, and holds the volume of a received track.
public final class RTCAudioSource: RTCMediaSource, @unchecked Sendable {
  // @unchecked: its state lives in the broadcaster and in a mutex.
  let broadcaster = AudioBroadcaster()
  private let gain = Mutex(1.0)

  override init() {}

  /// Volume of a received track, 0 to 10; 1 leaves the samples as they are.
  public var volume: Double {
    get { gain.withLock { $0 } }
    set { gain.withLock { $0 = min(10, max(0, newValue)) } }
  }

  /// Passes audio on, on the caller's thread. Any length and rate; 48 kHz in multiples of 10 ms costs least.
  ///
  /// Encoders take it on queues of their own: when 200 ms wait for one, the oldest frames are dropped and counted as
  /// `connection.audioEncoderBehind` in `RTCStatisticsReport.packetDrops`. From one thread at a time.
  public func push(_ frame: AudioFrame) { broadcaster.push(frame) }
}

/// Takes frames on the thread that pushes them.
public protocol VideoSink: AnyObject, Sendable {
  func receive(_ frame: VideoFrame)
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

/// Fans frames out to sinks. Sinks run outside the lock, so that they may add and remove sinks.
final class VideoBroadcaster: Sendable {
  private let sinks = Mutex<[any VideoSink]>([])

  func add(_ sink: any VideoSink) { sinks.withLock { $0.append(sink) } }
  func remove(_ sink: any VideoSink) { sinks.withLock { $0.removeAll { $0 === sink } } }
  func push(_ frame: VideoFrame) {
    for sink in sinks.withLock({ $0 }) { sink.receive(frame) }
  }
}

/// Fans sound out to sinks, as `VideoBroadcaster` does frames.
final class AudioBroadcaster: Sendable {
  private let sinks = Mutex<[any AudioSink]>([])

  func add(_ sink: any AudioSink) { sinks.withLock { $0.append(sink) } }
  func remove(_ sink: any AudioSink) { sinks.withLock { $0.removeAll { $0 === sink } } }
  var isEmpty: Bool { sinks.withLock { $0.isEmpty } }
  func push(_ frame: AudioFrame) {
    for sink in sinks.withLock({ $0 }) { sink.receive(frame) }
  }
}
