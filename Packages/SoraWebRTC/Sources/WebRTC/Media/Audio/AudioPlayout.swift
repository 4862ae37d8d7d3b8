import Dispatch
import SoraClock
import SoraMedia
import Synchronization

/// The clock that a call's received audio is played by: has every receive pipeline of the call decode 10 ms, 100 times
/// per second, on a serial queue of the call's own. Safe from any thread.
///
/// Runs only while there is something to play. Ticks that came late are made up for, so that on average exactly
/// 48,000 samples per second are taken. Nothing of the app runs on the queue.
package final class AudioPlayout: Sendable {
  /// What was played; of samples at 48 kHz (W3C `RTCAudioPlayoutStats`).
  package struct Statistics: Sendable {
    /// That were asked for, each for all tracks at once.
    package var samples: UInt64 = 0
    /// The sum over all samples of the time from here to the loudspeaker, in seconds.
    package var totalDelay = 0.0
    /// Time for which nothing was played because this machine was too late, and how often.
    package var synthesized = Duration.zero
    package var synthesizedEvents: UInt64 = 0
  }

  private struct State {
    var statistics = Statistics()
    var pipelines: [AudioReceivePipeline] = []
    var timer: (any DispatchSourceTimer)?
    var next = Instant.zero
  }

  private static let period = Duration.milliseconds(10)
  private static let samplesPerPeriod = 480
  /// More missed time than this is let go instead of being made up for.
  private static let maximumLag = Duration.milliseconds(500)

  private let queue = DispatchQueue(label: "sora.audio.playout", qos: .userInteractive)
  private let state = Mutex(State())

  package init() {}

  deinit { state.withLock { $0.timer?.cancel() } }

  package var statistics: Statistics { state.withLock { $0.statistics } }

  package func add(_ pipeline: AudioReceivePipeline) {
    state.withLock { state in
      state.pipelines.append(pipeline)
      guard state.timer == nil else { return }
      state.next = SystemClock.now
      let timer = DispatchSource.makeTimerSource(flags: .strict, queue: queue)
      timer.schedule(deadline: .now(), repeating: .milliseconds(10), leeway: .nanoseconds(0))
      timer.setEventHandler { [weak self] in self?.tick() }
      state.timer = timer
      timer.resume()
    }
  }

  package func remove(_ pipeline: AudioReceivePipeline) {
    state.withLock { state in
      state.pipelines.removeAll { $0 === pipeline }
      guard state.pipelines.isEmpty else { return }
      state.timer?.cancel()
      state.timer = nil
    }
  }

  private func tick() {
    let now = SystemClock.now
    let (pipelines, periods) = state.withLock { state -> ([AudioReceivePipeline], Int) in
      if now - state.next > Self.maximumLag {
        state.statistics.synthesized += now - state.next
        state.statistics.synthesizedEvents &+= 1
        state.next = now
      }
      var periods = 0
      while state.next <= now {
        state.next += Self.period
        periods += 1
      }
      return (state.pipelines, periods)
    }
    let delay = pipelines.map(\.playoutLatency).max() ?? .zero
    state.withLock { state in
      let samples = periods * Self.samplesPerPeriod
      state.statistics.samples &+= UInt64(samples)
      state.statistics.totalDelay += Double(samples) * delay.inSeconds
    }
    for _ in 0..<periods {
      for pipeline in pipelines { pipeline.playOut(at: now) }
    }
  }
}
