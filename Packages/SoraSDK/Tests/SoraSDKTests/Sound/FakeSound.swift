import SoraAudioDevices
import SoraAudioProcessing
import SoraMedia
import SoraSDK
import Synchronization

/// Sound devices that a test speaks into and listens to. Says what is opened and closed.
final class FakeSound: SoundSystem {
  private struct State: Sendable {
    var opened: [FakeSoundDevice] = []
    var refusal: AudioDeviceError?
    var hasNoProcessing = false
  }

  let log = Recorder<String>()
  /// Set by each processor that is made, and by each change.
  let processing = Recorder<AudioProcessingSettings>()
  let cleaned = Recorder<Duration>()
  private let state = Mutex(State())

  static func device(_ id: String, _ direction: AudioDevice.Direction) -> AudioDevice {
    AudioDevice(id: id, name: "A \(id)", direction: direction, system: .pulseAudio)
  }

  func devices() throws(AudioDeviceError) -> [AudioDevice] {
    [
      Self.device("hdmi", .output), Self.device("desk-speaker", .output),
      Self.device("webcam", .input),
    ]
  }

  func openMicrophone(
    _ device: AudioDevice?, title: String, deliver: @escaping @Sendable (AudioFrame) -> Void,
    notify: @escaping @Sendable (AudioStreamEvent) -> Void
  ) throws(AudioDeviceError) -> any OpenSound {
    try open("microphone \(device?.id ?? "default")", deliver: deliver, notify: notify)
  }

  func openSpeaker(
    _ device: AudioDevice?, title: String, fill: @escaping @Sendable (inout AudioFrame) -> Void,
    notify: @escaping @Sendable (AudioStreamEvent) -> Void
  ) throws(AudioDeviceError) -> any OpenSound {
    try open("speaker \(device?.id ?? "default")", fill: fill, notify: notify)
  }

  func makeProcessor(
    _ settings: AudioProcessingSettings
  ) throws(AudioProcessingError) -> any SoundProcessor {
    if state.withLock({ $0.hasNoProcessing }) { throw .noLibrary }
    processing.append(settings)
    return FakeProcessor(system: self)
  }

  private func open(
    _ name: String, deliver: (@Sendable (AudioFrame) -> Void)? = nil,
    fill: (@Sendable (inout AudioFrame) -> Void)? = nil,
    notify: @escaping @Sendable (AudioStreamEvent) -> Void
  ) throws(AudioDeviceError) -> any OpenSound {
    if let refusal = state.withLock({ $0.refusal }) { throw refusal }
    let device = FakeSoundDevice(
      name: name, deliver: deliver, fill: fill, notify: notify
    ) { [self] device in
      state.withLock { $0.opened.removeAll { $0 === device } }
      log.append("close \(name)")
    }
    state.withLock { $0.opened.append(device) }
    log.append("open \(name)")
    return device
  }

  func refuse(with error: AudioDeviceError?) { state.withLock { $0.refusal = error } }

  /// Has no processor be made from now on.
  func removeProcessing() { state.withLock { $0.hasNoProcessing = true } }

  /// A device that is open, by how its name begins.
  func running(_ name: String) -> FakeSoundDevice? {
    state.withLock { $0.opened.first { $0.name.hasPrefix(name) } }
  }
}

/// One that is open.
final class FakeSoundDevice: OpenSound {
  let name: String
  let statistics: AudioStreamStatistics = {
    var statistics = AudioStreamStatistics()
    statistics.latency = .milliseconds(15)
    statistics.overruns = 3
    return statistics
  }()
  /// Tells the session what happens to the device.
  let notify: @Sendable (AudioStreamEvent) -> Void
  private let deliver: (@Sendable (AudioFrame) -> Void)?
  private let fill: (@Sendable (inout AudioFrame) -> Void)?
  private let closed: @Sendable (FakeSoundDevice) -> Void

  init(
    name: String, deliver: (@Sendable (AudioFrame) -> Void)?,
    fill: (@Sendable (inout AudioFrame) -> Void)?,
    notify: @escaping @Sendable (AudioStreamEvent) -> Void,
    closed: @escaping @Sendable (FakeSoundDevice) -> Void
  ) {
    self.name = name
    self.deliver = deliver
    self.fill = fill
    self.notify = notify
    self.closed = closed
  }

  func stop() { closed(self) }

  /// 10 ms of a loud square wave are heard.
  func speak() {
    let samples = (0..<480).map { Int16($0 / 24 % 2 == 0 ? 8_000 : -8_000) }
    deliver?(AudioFrame(samples: samples, sampleRate: 48_000, channels: 1, timestamp: .now))
  }

  /// What the next 10 ms play; the loudest sample.
  func listen() -> Int {
    var frame = AudioFrame(
      samples: [Int16](repeating: 0, count: 960), sampleRate: 48_000, channels: 2, timestamp: .now)
    fill?(&frame)
    return frame.samples.map { abs(Int($0)) }.max() ?? 0
  }
}

private final class FakeProcessor: SoundProcessor {
  private let system: FakeSound

  init(system: FakeSound) { self.system = system }

  func apply(_ settings: AudioProcessingSettings) throws(AudioProcessingError) {
    system.processing.append(settings)
  }
  func willPlay(_ frame: AudioFrame) {}
  /// Loud is a voice here.
  func clean(_ frame: inout AudioFrame, delay: Duration) -> Bool {
    system.cleaned.append(delay)
    return system.processing.elements.last?.voiceDetection == true
      && frame.samples.contains { $0 > 4_000 }
  }
}

/// The loudest sample of each 10 ms that is received.
final class LoudnessSink: AudioSink {
  let peaks = Recorder<Int>()
  func receive(_ frame: AudioFrame) { peaks.append(frame.samples.map { abs(Int($0)) }.max() ?? 0) }
}
