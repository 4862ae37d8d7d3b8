import SoraCamera
import SoraMedia
import Synchronization

extension CameraVideoCapturer {
  /// The cameras of a process with their capturers. Tests make one with cameras of their own.
  package final class Cameras: Sendable {
    static let shared = Cameras(system: MachineCameras())

    private struct State: Sendable {
      /// Those that were made for a position, kept so that a camera has the same one each time.
      var made: [CameraDevice: CameraVideoCapturer] = [:]
      /// In the order in which they were started.
      var running: [CameraVideoCapturer] = []
    }

    let system: any CameraSystem
    private let state = Mutex(State())
    private let handlerBox = Locked(CameraVideoCapturerHandlers())

    package init(system: any CameraSystem) { self.system = system }

    package var handlers: CameraVideoCapturerHandlers {
      get { handlerBox.value }
      set { handlerBox.value = newValue }
    }

    package var current: CameraVideoCapturer? { state.withLock { $0.running.last } }

    package func device(for position: CameraPosition) -> CameraDevice? {
      let devices = system.devices
      return switch position {
      case .front: devices.first
      case .back: devices.dropFirst().first
      case .unspecified: nil
      }
    }

    func position(of device: CameraDevice) -> CameraPosition {
      switch system.devices.firstIndex(of: device) {
      case 0: .front
      case 1: .back
      default: .unspecified
      }
    }

    /// The capturer of the camera that is at a position now.
    package func capturer(for position: CameraPosition) -> CameraVideoCapturer? {
      device(for: position).map { device in
        state.withLock { state in
          if let made = state.made[device] { return made }
          let made = CameraVideoCapturer(device: device, cameras: self)
          state.made[device] = made
          return made
        }
      }
    }

    func began(_ capturer: CameraVideoCapturer) {
      state.withLock { $0.running.append(capturer) }
    }

    func ended(_ capturer: CameraVideoCapturer) {
      state.withLock { $0.running.removeAll { $0 === capturer } }
    }

    /// Who has a camera open.
    func user(of device: CameraDevice) -> CameraVideoCapturer? {
      state.withLock { $0.running }.first { $0.openDevice == device }
    }

    /// Those that send to a stream.
    func senders(to stream: any MediaStream) -> [CameraVideoCapturer] {
      let (made, running) = state.withLock { (Array($0.made.values), $0.running) }
      return (running + made.filter { !$0.isRunning }).filter { $0.stream === stream }
    }
  }

  /// What an operation did.
  struct Outcome: Sendable {
    var error: SoraError?
    var started: CameraVideoCapturer?
    var stopped: CameraVideoCapturer?
  }
}

extension CameraVideoCapturer.Cameras {
  /// Runs an operation on the camera's queue, and tells what it did: first who asked for it, then the handlers, what was started before
  /// what was stopped.
  func perform(
    _ operation: @escaping @Sendable () throws(SoraError) -> CameraVideoCapturer.Outcome,
    then completion: @escaping CameraVideoCapturer.CompletionHandler
  ) {
    SoraDispatcher.async(on: .camera) { [self] in
      let outcome: CameraVideoCapturer.Outcome
      do throws(SoraError) {
        outcome = try operation()
      } catch {
        outcome = .init(error: error)
      }
      completion(outcome.error)
      if let started = outcome.started { handlers.onStart?(started) }
      if let stopped = outcome.stopped { handlers.onStop?(stopped) }
    }
  }

  /// Stops a camera and starts one, the same or another. Where the latter can't be started, the first one goes on as before.
  ///
  /// - Throws: what keeps the first one from being stopped.
  func exchange(
    _ old: CameraVideoCapturer, for new: CameraVideoCapturer, _ choice: CameraChoice
  ) throws(SoraError) -> CameraVideoCapturer.Outcome {
    let (device, before) = (old.openDevice, old.choice)
    try old.halt()
    do throws(SoraError) {
      try new.begin(choice)
      return .init(started: new, stopped: old)
    } catch {
      var outcome = CameraVideoCapturer.Outcome(error: error, stopped: old)
      if let before, (try? old.begin(before, on: device)) != nil { outcome.started = old }
      return outcome
    }
  }

  package func flip(
    _ capturer: CameraVideoCapturer,
    completionHandler: @escaping CameraVideoCapturer.CompletionHandler
  ) {
    perform { [self] () throws(SoraError) in
      guard let device = capturer.openDevice, let before = capturer.choice else {
        throw .cameraError(reason: "\(capturer.device) isn't running; start it first")
      }
      guard let other = self.capturer(for: position(of: device) == .front ? .back : .front),
        other.device != device
      else {
        throw .cameraError(reason: "there is no camera but \(device) to flip to")
      }
      guard !other.isRunning else {
        throw .cameraError(reason: "\(other.device) is running already; stop it first")
      }
      let choice = try choice(
        on: other.device, width: before.format.width, height: before.format.height,
        frameRate: before.frameRate, codec: before.format.pixelFormat.codec)
      let outcome = try exchange(capturer, for: other, choice)
      if outcome.error == nil {
        other.stream = capturer.stream
        capturer.stream = nil
      }
      return outcome
    } then: {
      completionHandler($0)
    }
  }

  /// What a camera has that is nearest to a size in pixels and a rate, encoded with `codec` where it does that.
  func choice(
    on device: CameraDevice, width: Int, height: Int, frameRate: Int, codec: VideoCodecKind? = nil
  ) throws(SoraError) -> CameraChoice {
    let formats: [CameraFormat]
    do throws(CameraError) {
      formats = try system.formats(of: device)
    } catch {
      throw SoraError(error)
    }
    return try CameraChoice(
      width: width, height: height, frameRate: frameRate, codec: codec, from: formats, of: device)
  }
}
