import Dispatch
import SoraAudio
import SoraClock
public import SoraMedia

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A loudspeaker that is open: asks for 10 ms at a time at 48 kHz of the machine's clock, whatever the device's own.
///
/// The thread is its own. It holds 30 ms, and more where that was too little: each time the device's buffer ran empty, 10 ms more, up to
/// 120 ms.
public final class AudioPlayback: Sendable {
  private let thread: DeviceThread

  /// Opens a loudspeaker and starts it.
  ///
  /// - Parameters:
  ///   - device: nil for the default, and for what becomes the default.
  ///   - channels: 1 (mono) or 2 (stereo).
  ///   - title: what the sound server calls the stream.
  ///   - fill: puts samples in the place of silence, on the thread, well within 10 ms. Called 100 times per second; the timestamp is
  ///     when the first sample will be heard.
  ///   - notify: told when the device goes and when it is back, on the same thread.
  /// - Throws: why it can't be opened.
  public convenience init(
    _ device: AudioDevice? = nil, channels: Int = 2, title: String = "Sora",
    fill: @escaping @Sendable (inout AudioFrame) -> Void,
    notify: @escaping @Sendable (AudioStreamEvent) -> Void = { _ in }
  ) throws(AudioDeviceError) {
    try self.init(
      AudioSystems.backend(device?.system), device, channels: channels, title: title, fill: fill,
      notify: notify)
  }

  package init(
    _ backend: any AudioBackend, _ device: AudioDevice?, channels: Int, title: String = "Sora",
    fill: @escaping @Sendable (inout AudioFrame) -> Void,
    notify: @escaping @Sendable (AudioStreamEvent) -> Void
  ) throws(AudioDeviceError) {
    let request = AudioPortRequest(
      device: device, direction: .output, channels: min(max(channels, 1), 2), title: title)
    thread = try DeviceThread(backend, request, notify: notify) { thread, port in
      PlaybackLoop(thread, port, fill).run()
    }
  }

  public var statistics: AudioStreamStatistics { thread.statistics }

  /// Ends the playback and waits for its last `fill`, unless it is called from there.
  public func stop() { thread.stop() }

  deinit { thread.stop() }
}

/// From frames of 10 ms to a port's samples. One thread's.
private final class PlaybackLoop {
  private static let growth = 480
  private static let largestBuffer = 5_760

  private let thread: DeviceThread
  private let port: any AudioPort
  private let fill: (inout AudioFrame) -> Void
  private let period: Int
  private var reader: DriftReader
  private var pace = Pace(from: SystemClock.now)
  private var xruns = 0
  private var buffer: Int

  init(
    _ thread: DeviceThread, _ port: any AudioPort, _ fill: @escaping (inout AudioFrame) -> Void
  ) {
    self.thread = thread
    self.port = port
    self.fill = fill
    period = thread.request.period
    buffer = thread.request.buffer
    reader = DriftReader(channels: thread.request.channels)
  }

  func run() -> AudioDeviceError? {
    while true {
      let events = port.wait(milliseconds: 200)
      if thread.isStopped { return nil }
      if events.contains(.ended) { return port.reason }
      let given = reader.samples
      while port.available >= period {
        guard !pace.isAhead(period, at: SystemClock.now) else {
          usleep(10_000)
          break
        }
        write()
        if thread.isStopped { return nil }
      }
      if reader.samples > given { follow(given) }
    }
  }

  private func write() {
    reader.read(period, at: SystemClock.now + (port.latency ?? .zero), from: fill, port.write)
    pace.add(period)
  }

  /// Keeps the clock, the buffer and the counters up to date.
  private func follow(_ before: Int) {
    let given = reader.samples - before
    let isSteady = reader.follow(at: SystemClock.now)
    let now = port.xruns
    let more = now - xruns
    xruns = now
    // A device that stood still for want of samples says nothing of its clock.
    if !isSteady || more > 0 { reader.restart() }
    if !isSteady { thread.count { $0.resets += 1 } }
    if more > 0, buffer < Self.largestBuffer {
      buffer = min(buffer + Self.growth, Self.largestBuffer)
      port.setBuffer(buffer)
    }
    let (latency, ppm, held) = (port.latency, reader.driftPPM, buffer)
    thread.count {
      $0.samples += given
      $0.overruns += more
      $0.latency = latency
      $0.driftPPM = ppm
      $0.buffer = .microseconds(held * 1_000 / 48)
    }
  }
}
