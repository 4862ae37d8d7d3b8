import CSoraSound
import SoraAudio

/// PulseAudio's devices, over a server that this process doesn't start.
package struct PulseBackend: AudioBackend {
  /// nil for the user's own server, or that of PULSE_SERVER.
  private let server: String?
  /// What the server is told that a second has of samples: a test's way to another clock.
  private let nominalRate: Int

  package init(server: String? = nil, nominalRate: Int = 48_000) {
    self.server = server
    self.nominalRate = nominalRate
  }

  package var system: AudioSystem { .pulseAudio }

  package func devices() throws(AudioDeviceError) -> [AudioDevice] {
    let connection = try PulseConnection(server: server)
    defer { connection.close() }
    return try connection.devices()
  }

  package func open(_ request: AudioPortRequest) throws(AudioDeviceError) -> any AudioPort {
    let connection = try PulseConnection(server: server)
    do throws(AudioDeviceError) {
      return try PulsePort(connection, request, rate: nominalRate)
    } catch {
      connection.close()
      throw error
    }
  }

  package func watch() throws(AudioDeviceError) -> any AudioWatcher {
    let connection = try PulseConnection(server: server)
    do throws(AudioDeviceError) {
      try connection.subscribe()
      return PulseWatcher(connection)
    } catch {
      connection.close()
      throw error
    }
  }
}

/// A connection to a server. One thread's at a time, but for `wake`.
@safe final class PulseConnection: @unchecked Sendable {
  // @unchecked: whoever made it hands it to one thread; `wake` is safe from any until `close`, which that thread's owner orders.
  let raw: OpaquePointer

  init(server: String?) throws(AudioDeviceError) {
    var made: OpaquePointer?
    let failure = unsafe SoundFailure.of { unsafe sora_pulse_connect(server, "Sora", &made, $0) }
    if let failure { throw AudioDeviceError(failure, "connecting", .pulseAudio) }
    guard let made = unsafe made else {
      throw .system(operation: "connecting", device: "PulseAudio", reason: "no memory")
    }
    unsafe raw = made
  }

  func devices() throws(AudioDeviceError) -> [AudioDevice] {
    var devices: UnsafeMutablePointer<sora_sound_device>?
    var count: Int32 = 0
    let code = unsafe sora_pulse_devices(raw, &devices, &count)
    guard code == 0 else {
      throw AudioDeviceError((Int(code), "no answer"), "listing", .pulseAudio)
    }
    return unsafe AudioDevice.list(devices, count, .pulseAudio)
  }

  func subscribe() throws(AudioDeviceError) {
    let code = unsafe sora_pulse_subscribe(raw)
    guard code == 0 else {
      throw AudioDeviceError((Int(code), "no answer"), "watching", .pulseAudio)
    }
  }

  func wait(milliseconds: Int) -> AudioPortEvents {
    AudioPortEvents(rawValue: unsafe sora_pulse_wait(raw, Int32(clamping: milliseconds)))
  }

  func wake() { unsafe sora_pulse_wake(raw) }
  func close() { unsafe sora_pulse_close(raw) }
}

private final class PulseWatcher: AudioWatcher {
  private let connection: PulseConnection

  init(_ connection: PulseConnection) { self.connection = connection }

  func wait(milliseconds: Int) -> AudioWatch {
    let events = connection.wait(milliseconds: milliseconds)
    if events.contains(.ended) { return .ended }
    return events.contains(.changed) ? .changed : .nothing
  }

  func wake() { connection.wake() }
  func close() { connection.close() }
}

private final class PulsePort: AudioPort {
  private let connection: PulseConnection
  private let request: AudioPortRequest
  /// Those of the stream.
  private let channels: Int

  init(_ connection: PulseConnection, _ request: AudioPortRequest, rate: Int)
    throws(AudioDeviceError)
  {
    self.connection = connection
    self.request = request
    if request.direction == .input, request.channels == 1 {
      // Of two, one is made here: PipeWire would make it 3 dB louder than they are, where PulseAudio takes their mean.
      var device = request.device
      if device == nil { device = try connection.devices().standard(.input) }
      channels = min(max(device?.channels ?? 1, 1), 2)
    } else {
      channels = request.channels
    }
    var format = sora_sound_format(
      rate: UInt32(rate), channels: UInt32(channels), period: UInt32(request.period),
      buffer: UInt32(request.buffer))
    let failure = unsafe SoundFailure.of {
      unsafe sora_pulse_open(
        connection.raw, request.device?.id, request.direction == .input ? 1 : 0, request.title,
        &format, $0)
    }
    if let failure {
      throw AudioDeviceError(failure, "opening", .pulseAudio, request) {
        (try? connection.devices()) ?? []
      }
    }
  }

  func wait(milliseconds: Int) -> AudioPortEvents { connection.wait(milliseconds: milliseconds) }
  func wake() { connection.wake() }
  var available: Int { max(0, Int(unsafe sora_pulse_available(connection.raw))) }

  func read(_ frames: Int, into samples: inout [Int16]) {
    let start = samples.count
    unsafe samples.append(frames: frames, channels: channels) {
      unsafe sora_pulse_read(connection.raw, $0, $1)
    }
    guard channels > request.channels else { return }
    let count = (samples.count - start) / 2
    for index in 0..<count {
      let pair = start + 2 * index
      samples[start + index] = Int16(meanOf: samples[pair], samples[pair + 1])
    }
    samples.removeLast(count)
  }

  func write(_ samples: Span<Int16>) {
    let frames = Int32(samples.count / request.channels)
    unsafe samples.withUnsafeBufferPointer {
      _ = unsafe sora_pulse_write(connection.raw, $0.baseAddress, frames)
    }
  }

  var latency: Duration? {
    let microseconds = unsafe sora_pulse_latency(connection.raw)
    return microseconds < 0 ? nil : .microseconds(microseconds)
  }

  var xruns: Int { Int(unsafe sora_pulse_xruns(connection.raw)) }
  func setBuffer(_ frames: Int) { unsafe sora_pulse_set_buffer(connection.raw, UInt32(frames)) }

  var reason: AudioDeviceError {
    // A server that has ended answers no more.
    (try? connection.devices()) == nil
      ? .serverGone(.pulseAudio) : .unplugged(device: request.name)
  }

  func close() { connection.close() }
}

extension [Int16] {
  /// Grows by what `read` fills of room for so many samples of each channel; it returns how many, or less than 0 for none.
  mutating func append(
    frames: Int, channels: Int,
    _ read: (_ room: UnsafeMutablePointer<Int16>, _ frames: Int32) -> Int32
  ) {
    let start = count
    append(contentsOf: repeatElement(0, count: frames * channels))
    let done = unsafe withUnsafeMutableBufferPointer { buffer -> Int in
      guard let base = buffer.baseAddress else { return 0 }
      return unsafe Int(read(base + start, Int32(clamping: frames)))
    }
    removeLast(count - start - Swift.max(0, Swift.min(done, frames)) * channels)
  }
}
