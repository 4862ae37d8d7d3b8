public import Dispatch
import Synchronization

/// Tells of sound devices that come and go, and of other defaults.
///
/// A sound server that ends counts as all of its devices going; when one answers again, they are back.
public final class AudioDeviceMonitor: Sendable {
  private let watch: Watch

  /// Watches until it is released.
  ///
  /// - Parameters:
  ///   - system: nil for the one that `AudioDevice.all` has now.
  ///   - queue: where `changed` runs.
  ///   - changed: gets all devices of the machine after each change of them.
  /// - Throws: what `AudioDevice.all` throws.
  public convenience init(
    _ system: AudioSystem? = nil, queue: DispatchQueue,
    changed: @escaping @Sendable ([AudioDevice]) -> Void
  ) throws(AudioDeviceError) {
    try self.init(AudioSystems.backend(system), queue: queue, changed: changed)
  }

  package init(
    _ backend: any AudioBackend, queue: DispatchQueue,
    changed: @escaping @Sendable ([AudioDevice]) -> Void
  ) throws(AudioDeviceError) {
    // The watch first: what comes between the two isn't missed.
    let watcher = try backend.watch()
    let known: [AudioDevice]
    do throws(AudioDeviceError) {
      known = try backend.devices()
    } catch {
      watcher.close()
      throw error
    }
    watch = Watch(backend: backend, watcher: watcher, known: known) { devices in
      queue.async { changed(devices) }
    }
    let thread = DispatchQueue(label: "sora.audio.devices")
    thread.async { [watch] in watch.run() }
  }

  deinit { watch.stop() }

  /// What the watching thread has. It goes on until `stop`, without the monitor.
  private final class Watch: Sendable {
    private struct State: Sendable {
      var isStopped = false
      var watcher: (any AudioWatcher)?
      var known: [AudioDevice]
    }

    private let backend: any AudioBackend
    private let changed: @Sendable ([AudioDevice]) -> Void
    private let state: Mutex<State>
    private let wake = DispatchSemaphore(value: 0)

    init(
      backend: any AudioBackend, watcher: any AudioWatcher, known: [AudioDevice],
      changed: @escaping @Sendable ([AudioDevice]) -> Void
    ) {
      self.backend = backend
      self.changed = changed
      state = Mutex(State(watcher: watcher, known: known))
    }

    func stop() {
      // Under the lock: nobody wakes what is closed.
      state.withLock { state in
        state.isStopped = true
        state.watcher?.wake()
      }
      wake.signal()
    }

    func run() {
      while let watcher = current() {
        switch watcher.wait(milliseconds: 2_000) {
        case .nothing: continue
        case .changed:
          if let devices = try? backend.devices() { tell(devices) }
        case .ended:
          close()
          tell([])
        }
      }
      close()
    }

    /// Closes the watcher once no `stop` finds it any more.
    private func close() {
      let watcher = state.withLock { $0.watcher.take() }
      watcher?.close()
    }

    /// The present watcher, made anew where the last one has ended; nil after `stop`.
    private func current() -> (any AudioWatcher)? {
      while true {
        let (isStopped, watcher) = state.withLock { ($0.isStopped, $0.watcher) }
        if isStopped { return nil }
        if let watcher { return watcher }
        if let new = try? backend.watch() {
          state.withLock { $0.watcher = new }
          if let devices = try? backend.devices() { tell(devices) }
        } else {
          _ = wake.wait(timeout: .now() + .milliseconds(500))
        }
      }
    }

    private func tell(_ devices: [AudioDevice]) {
      let isNew = state.withLock { state in
        defer { state.known = devices }
        return state.known != devices
      }
      if isNew { changed(devices) }
    }
  }
}
