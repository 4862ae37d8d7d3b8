import SoraMedia
import Synchronization

/// The sinks of a received track's frames before they are decoded. Safe from any thread; frames come from the network loop.
final class EncodedTap: Sendable {
  private struct State {
    var sinks: [any EncodedFrameSink] = []
    var requestKeyFrame: @Sendable () -> Void = {}
  }

  private let kind: MediaKind
  private let state = Mutex(State())
  private let used = Atomic(false)

  init(_ kind: MediaKind) { self.kind = kind }

  /// Whether there are sinks; costs the network loop no lock where there are none.
  var isUsed: Bool { used.load(ordering: .relaxed) }

  func add(_ sink: any EncodedFrameSink) {
    let request = state.withLock { state in
      state.sinks.append(sink)
      used.store(true, ordering: .relaxed)
      return state.requestKeyFrame
    }
    sink.attached(to: kind, requestKeyFrame: request)
  }

  func remove(_ sink: any EncodedFrameSink) {
    state.withLock { state in
      state.sinks.removeAll { $0 === sink }
      used.store(!state.sinks.isEmpty, ordering: .relaxed)
    }
  }

  /// Sets how a key frame is asked for, before there are sinks.
  func onKeyFrameNeeded(_ request: @escaping @Sendable () -> Void) {
    state.withLock { $0.requestKeyFrame = request }
  }

  func push(_ frame: EncodedTrackFrame) {
    for sink in state.withLock({ $0.sinks }) { sink.receive(frame) }
  }
}
