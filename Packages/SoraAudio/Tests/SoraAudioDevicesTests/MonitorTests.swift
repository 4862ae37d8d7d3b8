import Dispatch
import SoraAudioDevices
import Synchronization
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

@Suite(.timeLimit(.minutes(5))) struct MonitorTests {
  /// Monitors that are released while changes, or the server's end, are told: nobody wakes a watcher that is closed already.
  @Test(arguments: [AudioWatch.changed, .ended]) func noWatcherIsWokenOnceItIsClosed(
    _ event: AudioWatch
  ) async throws {
    let system = ChangingSystem(event)
    let queue = DispatchQueue(label: "changes")
    for turn in 0..<2_000 {
      let monitor = try AudioDeviceMonitor(system, queue: queue) { _ in }
      // At another moment each time.
      if turn % 3 > 0 { usleep(UInt32(turn % 50) * 4) }
      withExtendedLifetime(monitor) {}
    }
    await wait { system.state.withLock { $0.closed == $0.opened } }
    let state = system.state.withLock { $0 }
    #expect(state.opened >= 2_000 && state.wokenTooLate == 0)
  }

  @Test func aMonitorThatCanNotBeMadeLeavesNothingOpen() {
    let system = ChangingSystem(.changed)
    system.state.withLock { $0.refuses = true }
    #expect(throws: AudioDeviceError.self) {
      try AudioDeviceMonitor(system, queue: DispatchQueue(label: "changes")) { _ in }
    }
    #expect(system.state.withLock { $0.opened == 1 && $0.closed == 1 })
  }
}

/// Sound devices that change, or whose server ends, all the time.
private final class ChangingSystem: AudioBackend {
  struct State: Sendable {
    var opened = 0
    var closed = 0
    var wokenTooLate = 0
    var refuses = false
  }
  let system = AudioSystem.pulseAudio
  let state = Mutex(State())
  private let event: AudioWatch

  init(_ event: AudioWatch) { self.event = event }

  func devices() throws(AudioDeviceError) -> [AudioDevice] {
    if state.withLock({ $0.refuses }) { throw .noServer(.pulseAudio, reason: "no answer") }
    return []
  }
  func open(_ request: AudioPortRequest) throws(AudioDeviceError) -> any AudioPort {
    throw .noServer(.pulseAudio, reason: "none")
  }
  func watch() throws(AudioDeviceError) -> any AudioWatcher {
    state.withLock { $0.opened += 1 }
    return ChangingWatcher(self, event)
  }
}

private final class ChangingWatcher: AudioWatcher {
  private let system: ChangingSystem
  private let event: AudioWatch
  private let isClosed = Atomic(false)

  init(_ system: ChangingSystem, _ event: AudioWatch) {
    self.system = system
    self.event = event
  }

  func wait(milliseconds: Int) -> AudioWatch {
    sched_yield()
    return event
  }

  func wake() {
    // Leaves the other thread the time in which it could close this.
    usleep(300)
    if isClosed.load(ordering: .acquiring) { system.state.withLock { $0.wokenTooLate += 1 } }
  }

  func close() {
    isClosed.store(true, ordering: .releasing)
    system.state.withLock { $0.closed += 1 }
  }
}
