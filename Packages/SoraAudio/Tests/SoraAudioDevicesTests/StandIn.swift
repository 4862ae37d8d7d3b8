import Dispatch
import SoraAudioDevices
import SoraMedia
import Synchronization

/// A sound system whose devices are driven by the test.
final class StandIn: AudioBackend {
  struct State: Sendable {
    var refusals: [AudioDeviceError] = []
    var ports: [StandInPort] = []
    var devices = Result<[AudioDevice], AudioDeviceError>.success([])
  }
  let state = Mutex(State())
  let system: AudioSystem

  init(_ system: AudioSystem = .alsa) { self.system = system }

  func devices() throws(AudioDeviceError) -> [AudioDevice] {
    try state.withLock { $0.devices }.get()
  }
  func watch() throws(AudioDeviceError) -> any AudioWatcher {
    throw .noServer(.alsa, reason: "none")
  }

  func open(_ request: AudioPortRequest) throws(AudioDeviceError) -> any AudioPort {
    let refusal = state.withLock { $0.refusals.isEmpty ? nil : $0.refusals.removeFirst() }
    if let refusal { throw refusal }
    let port = StandInPort(channels: request.channels)
    state.withLock { $0.ports.append(port) }
    return port
  }

  func port(_ index: Int) -> StandInPort? {
    state.withLock { $0.ports.indices.contains(index) ? $0.ports[index] : nil }
  }
}

final class StandInPort: AudioPort {
  struct State: Sendable {
    var available = 0
    var isEnded = false
    var isClosed = false
    var xruns = 0
    var written = 0
    var buffers: [Int] = []
    var delay = Duration.milliseconds(10)
  }
  let state = Mutex(State())
  private let channels: Int
  private let events = DispatchSemaphore(value: 0)

  init(channels: Int) { self.channels = channels }

  func change(_ body: (inout State) -> Void) {
    state.withLock { body(&$0) }
    events.signal()
  }

  func wait(milliseconds: Int) -> AudioPortEvents {
    _ = events.wait(timeout: .now() + .milliseconds(milliseconds))
    return state.withLock { $0.isEnded ? .ended : $0.available > 0 ? .ready : [] }
  }
  func wake() { events.signal() }
  var available: Int { state.withLock { $0.available } }
  func read(_ frames: Int, into samples: inout [Int16]) {
    samples.append(contentsOf: repeatElement(1_000, count: frames * channels))
    state.withLock { $0.available -= frames }
  }
  func write(_ samples: Span<Int16>) {
    let frames = samples.count / channels
    state.withLock { state in
      state.available -= frames
      state.written += frames
    }
  }
  var latency: Duration? { state.withLock { $0.delay } }
  var xruns: Int { state.withLock { $0.xruns } }
  func setBuffer(_ frames: Int) { state.withLock { $0.buffers.append(frames) } }
  var reason: AudioDeviceError { .unplugged(device: "stand-in") }
  func close() { state.withLock { $0.isClosed = true } }
}
