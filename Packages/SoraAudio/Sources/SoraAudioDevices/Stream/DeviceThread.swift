import Dispatch
package import SoraMedia
import Synchronization

/// The thread of an open device: serves it until `stop`, and opens it anew each time it was lost.
final class DeviceThread: Sendable {
  private struct State: Sendable {
    var isStopped = false
    /// The one that is open; nil while it is lost.
    var port: (any AudioPort)?
    var statistics = AudioStreamStatistics()
  }

  private static let isInside = DispatchSpecificKey<ObjectIdentifier>()
  private static let patience = DispatchTimeInterval.milliseconds(250)

  let request: AudioPortRequest
  private let backend: any AudioBackend
  private let notify: @Sendable (AudioStreamEvent) -> Void
  private let state = Mutex(State())
  private let running = DispatchGroup()
  private let wake = DispatchSemaphore(value: 0)

  /// Opens the device.
  ///
  /// - Parameter serve: runs on the thread; returns nil after `stop`, or why the device can't be served any more.
  init(
    _ backend: any AudioBackend, _ request: AudioPortRequest,
    notify: @escaping @Sendable (AudioStreamEvent) -> Void,
    serve: @escaping @Sendable (DeviceThread, any AudioPort) -> AudioDeviceError?
  ) throws(AudioDeviceError) {
    self.backend = backend
    self.request = request
    self.notify = notify
    let port = try backend.open(request)
    state.withLock { $0.port = port }
    let queue = DispatchQueue(label: "sora.audio \(request.name)", qos: .userInteractive)
    queue.setSpecific(key: Self.isInside, value: ObjectIdentifier(self))
    queue.async(group: running) { [self] in
      // The worker goes back to the pool as it was.
      let priority = ThreadPriority.raise()
      count { $0.scheduling = priority.scheduling }
      run(port, serve)
      priority.restore()
    }
  }

  var isStopped: Bool { state.withLock { $0.isStopped } }
  var statistics: AudioStreamStatistics { state.withLock { $0.statistics } }

  func count(_ body: (inout AudioStreamStatistics) -> Void) {
    state.withLock { body(&$0.statistics) }
  }

  /// Ends the thread, and waits for it unless it is called from there.
  func stop() {
    state.withLock { state in
      state.isStopped = true
      state.port?.wake()
    }
    wake.signal()
    guard DispatchQueue.getSpecific(key: Self.isInside) != ObjectIdentifier(self) else { return }
    running.wait()
  }

  private func run(
    _ first: any AudioPort, _ serve: (DeviceThread, any AudioPort) -> AudioDeviceError?
  ) {
    var port = first
    while true {
      let ending = serve(self, port)
      // Under the lock: nobody wakes what is closed.
      state.withLock { state in
        state.port = nil
        state.statistics.latency = nil
        if ending != nil { state.statistics.losses += 1 }
      }
      port.close()
      guard let ending, !isStopped else { return }
      notify(.lost(ending))
      guard let again = reopen() else { return }
      port = again
      notify(.restored)
    }
  }

  /// The device, once it is back; nil after `stop`.
  private func reopen() -> (any AudioPort)? {
    while !isStopped {
      _ = wake.wait(timeout: .now() + Self.patience)
      if isStopped { break }
      guard let port = try? backend.open(request) else { continue }
      let isWanted = state.withLock { state in
        if !state.isStopped { state.port = port }
        return !state.isStopped
      }
      if isWanted { return port }
      port.close()
    }
    return nil
  }
}

/// Holds back what has no clock of its own, such as ALSA's `null`: nothing runs further ahead of the machine's clock than this, beyond
/// what a clock of its own may be too fast by.
package struct Pace {
  private static let most = 0.25
  /// Crystals keep within a tenth of it; clocks that are divided from others may come near.
  private static let fastest = 2e-3
  private let start: Instant
  private var samples = 0.0

  package init(from start: Instant) { self.start = start }

  /// Whether the device has taken or given more than can be.
  package func isAhead(_ more: Int, at now: Instant) -> Bool {
    let elapsed = (now - start).inSeconds * (1 + Self.fastest)
    return (samples + Double(more)) / ClockDrift.sampleRate - elapsed > Self.most
  }

  package mutating func add(_ count: Int) { samples += Double(count) }
}
