import Dispatch
import SoraClock
import SoraMedia
import Synchronization

/// The clock that received sound is played by: calls every receive pipeline once in 10 ms, on one thread.
///
/// Runs only while there is something to play. Ticks that came late are made up for, so that on average exactly
/// 48,000 samples a second are taken.
final class AudioPlayout: Sendable {
  private struct State {
    var pipelines: [AudioReceivePipeline] = []
    var timer: (any DispatchSourceTimer)?
    var next = Instant.zero
  }

  private static let period = Duration.milliseconds(10)
  /// More missed time than this is let go instead of being made up for.
  private static let maximumLag = Duration.milliseconds(500)

  private let queue = DispatchQueue(label: "sora.audio.playout", qos: .userInteractive)
  private let state = Mutex(State())

  func add(_ pipeline: AudioReceivePipeline) {
    state.withLock { state in
      state.pipelines.append(pipeline)
      guard state.timer == nil else { return }
      state.next = SystemClock.now
      let timer = DispatchSource.makeTimerSource(queue: queue)
      timer.schedule(deadline: .now(), repeating: .milliseconds(10), leeway: .milliseconds(1))
      timer.setEventHandler { [weak self] in self?.tick() }
      state.timer = timer
      timer.resume()
    }
  }

  func remove(_ pipeline: AudioReceivePipeline) {
    state.withLock { state in
      state.pipelines.removeAll { $0 === pipeline }
      guard state.pipelines.isEmpty else { return }
      state.timer?.cancel()
      state.timer = nil
    }
  }

  private func tick() {
    let now = SystemClock.now
    let (pipelines, turns) = state.withLock { state -> ([AudioReceivePipeline], Int) in
      if now - state.next > Self.maximumLag { state.next = now }
      var turns = 0
      while state.next <= now {
        state.next += Self.period
        turns += 1
      }
      return (state.pipelines, turns)
    }
    for _ in 0..<turns {
      for pipeline in pipelines { pipeline.playOut(at: now) }
    }
  }
}
