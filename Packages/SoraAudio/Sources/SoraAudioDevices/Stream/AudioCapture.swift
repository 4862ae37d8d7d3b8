import Dispatch
import SoraClock
public import SoraMedia

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

import SoraAudio

/// A microphone that is open: 10 ms at a time at 48 kHz of the machine's clock, whatever the device's own.
///
/// The thread is its own. What is delivered there should take less than 10 ms; the device's buffers hold what comes meanwhile.
public final class AudioCapture: Sendable {
  private let thread: DeviceThread

  /// Opens a microphone and starts it.
  ///
  /// - Parameters:
  ///   - device: nil for the default, and for what becomes the default.
  ///   - channels: 1 (mono) or 2 (stereo).
  ///   - title: what the sound server calls the stream.
  ///   - deliver: takes each 10 ms, on the thread. The timestamp is when the first sample came to the device.
  ///   - notify: told when the device goes and when it is back, on the same thread.
  /// - Throws: why it can't be opened.
  public convenience init(
    _ device: AudioDevice? = nil, channels: Int = 1, title: String = "Sora",
    deliver: @escaping @Sendable (AudioFrame) -> Void,
    notify: @escaping @Sendable (AudioStreamEvent) -> Void = { _ in }
  ) throws(AudioDeviceError) {
    try self.init(
      AudioSystems.backend(device?.system), device, channels: channels, title: title,
      deliver: deliver, notify: notify)
  }

  package init(
    _ backend: any AudioBackend, _ device: AudioDevice?, channels: Int, title: String = "Sora",
    deliver: @escaping @Sendable (AudioFrame) -> Void,
    notify: @escaping @Sendable (AudioStreamEvent) -> Void
  ) throws(AudioDeviceError) {
    let request = AudioPortRequest(
      device: device, direction: .input, channels: min(max(channels, 1), 2), title: title)
    thread = try DeviceThread(backend, request, notify: notify) { thread, port in
      CaptureLoop(thread, port, deliver).run()
    }
  }

  public var statistics: AudioStreamStatistics { thread.statistics }

  /// Ends the capture and waits for its last frame, unless it is called from there.
  public func stop() { thread.stop() }

  deinit { thread.stop() }
}

/// From a port's samples to frames of 10 ms. One thread's.
private final class CaptureLoop {
  private let thread: DeviceThread
  private let port: any AudioPort
  private let deliver: (AudioFrame) -> Void
  private let channels: Int
  private var resampler: VariableRateResampler
  private var drift = ClockDrift()
  private var pace = Pace(from: SystemClock.now)
  private var incoming: [Int16] = []
  private var waiting: [Int16] = []
  /// Samples of each channel since `origin`, at 48 kHz of the machine's clock.
  private var samples = 0
  private var origin: Instant?
  private var xruns = 0

  init(_ thread: DeviceThread, _ port: any AudioPort, _ deliver: @escaping (AudioFrame) -> Void) {
    self.thread = thread
    self.port = port
    self.deliver = deliver
    channels = thread.request.channels
    resampler = VariableRateResampler(channels: channels)
  }

  func run() -> AudioDeviceError? {
    let xrunsBefore = thread.statistics.overruns
    while true {
      let events = port.wait(milliseconds: 200)
      if thread.isStopped { return nil }
      if events.contains(.ended) { return port.reason }
      let frames = min(port.available, 4_800)
      guard frames > 0 else { continue }
      let now = SystemClock.now
      if pace.isAhead(frames, at: now) {
        usleep(10_000)
        continue
      }
      let latency = port.latency
      incoming.removeAll(keepingCapacity: true)
      port.read(frames, into: &incoming)
      let count = incoming.count / channels
      pace.add(count)
      take(count, at: now, latency: latency)
      let (drift, xruns) = (drift.drift, port.xruns)
      thread.count {
        $0.samples += count
        $0.latency = latency
        $0.driftPPM = drift * 1e6
        $0.overruns = xrunsBefore + xruns
      }
    }
  }

  private func take(_ count: Int, at now: Instant, latency: Duration?) {
    if origin == nil {
      origin = now - (latency ?? .nanoseconds(Int64(count) * 1_000_000_000 / 48_000))
      samples = 0
    }
    resampler.process(incoming.span, step: 1 / (1 + drift.correction), into: &waiting)
    var used = 0
    let block = 480 * channels
    while waiting.count - used >= block, let origin {
      let timestamp = origin + .nanoseconds(Int64(samples) * 1_000_000_000 / 48_000)
      deliver(
        AudioFrame(
          samples: Array(waiting[used..<(used + block)]), sampleRate: 48_000, channels: channels,
          timestamp: timestamp))
      used += block
      samples += 480
    }
    waiting.removeFirst(used)
    let given = Double(samples) + Double(waiting.count / channels)
    let isSteady = drift.update(samples: given, at: now)
    let hasLost = port.xruns > xruns
    xruns = port.xruns
    // What was lost says nothing of the clock.
    guard !isSteady || hasLost else { return }
    drift.restart()
    origin = nil
    if !isSteady { thread.count { $0.resets += 1 } }
  }
}
