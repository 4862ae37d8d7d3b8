public import SoraMedia
import Synchronization

/// Takes frames on the thread that pushes them.
public protocol VideoSink: AnyObject, Sendable {
  func receive(_ frame: VideoFrame)
}

/// Takes audio on the thread that pushes it.
public protocol AudioSink: AnyObject, Sendable {
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

/// Fans audio out to sinks, as `VideoBroadcaster` does frames.
final class AudioBroadcaster: Sendable {
  private let sinks = Mutex<[any AudioSink]>([])

  func add(_ sink: any AudioSink) { sinks.withLock { $0.append(sink) } }
  func remove(_ sink: any AudioSink) { sinks.withLock { $0.removeAll { $0 === sink } } }
  var isEmpty: Bool { sinks.withLock { $0.isEmpty } }
  func push(_ frame: AudioFrame) {
    for sink in sinks.withLock({ $0 }) { sink.receive(frame) }
  }
}
