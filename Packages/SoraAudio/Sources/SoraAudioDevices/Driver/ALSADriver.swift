import CSoraSound

/// ALSA's PCMs, by the names that its configuration has.
package struct ALSABackend: AudioBackend {
  package init() {}

  /// What Debian's libasound2-plugins names, alone and for each card: converters, and ways to servers.
  private static let plugins: Set = [
    "a52", "jack", "lavrate", "oss", "pulse", "samplerate", "speex", "speexrate", "upmix",
    "usbstream", "vdownmix",
  ]

  package var system: AudioSystem { .alsa }

  package func devices() throws(AudioDeviceError) -> [AudioDevice] {
    var devices: UnsafeMutablePointer<sora_sound_device>?
    var count: Int32 = 0
    let failure = unsafe SoundFailure.of { unsafe sora_alsa_devices(&devices, &count, $0) }
    if let failure { throw AudioDeviceError(failure, "listing", .alsa) }
    let listed = unsafe AudioDevice.list(devices, count, .alsa)
    return listed.filter { !Self.plugins.contains(String($0.id.prefix { $0 != ":" })) }
  }

  package func open(_ request: AudioPortRequest) throws(AudioDeviceError) -> any AudioPort {
    let name = request.device?.id ?? "default"
    do throws(AudioDeviceError) {
      return try ALSAPort(name, request)
    } catch {
      // The hardware itself takes its own formats only; the plug before it converts.
      guard case .formatRefused = error, name.hasPrefix("hw:") else { throw error }
      return try ALSAPort("plug\(name)", request)
    }
  }

  package func watch() throws(AudioDeviceError) -> any AudioWatcher { ALSAWatcher() }
}

private final class ALSAWatcher: AudioWatcher {
  private let watch = unsafe sora_sound_watch("/dev/snd")

  func wait(milliseconds: Int) -> AudioWatch {
    // The folder comes with the first card: until then the list is looked at again and again.
    guard watch >= 0 else {
      _ = sora_sound_watched(-1, Int32(clamping: milliseconds))
      return .changed
    }
    return sora_sound_watched(watch, Int32(clamping: milliseconds)) != 0 ? .changed : .nothing
  }

  /// It waits for no longer than it was told.
  func wake() {}
  func close() { sora_sound_unwatch(watch) }
}

@safe private final class ALSAPort: AudioPort, @unchecked Sendable {
  // @unchecked: whoever opened it hands it to one thread; `wake` sets an atomic flag, and comes before `close`.
  private let raw: OpaquePointer
  private let request: AudioPortRequest

  init(_ name: String, _ request: AudioPortRequest) throws(AudioDeviceError) {
    var format = sora_sound_format(
      rate: 48_000, channels: UInt32(request.channels), period: UInt32(request.period),
      buffer: UInt32(request.buffer))
    var made: OpaquePointer?
    let failure = unsafe SoundFailure.of {
      unsafe sora_alsa_open(name, request.direction == .input ? 1 : 0, &format, &made, $0)
    }
    if let failure {
      throw AudioDeviceError(failure, "opening", .alsa, request) {
        (try? ALSABackend().devices()) ?? []
      }
    }
    guard let made = unsafe made else {
      throw .system(operation: "opening", device: name, reason: "no memory")
    }
    guard format.rate == 48_000 else {
      unsafe sora_alsa_close(made)
      throw .formatRefused(device: name, reason: "it has \(format.rate) Hz")
    }
    unsafe raw = made
    self.request = request
  }

  func wait(milliseconds: Int) -> AudioPortEvents {
    AudioPortEvents(rawValue: unsafe sora_alsa_wait(raw, Int32(clamping: milliseconds)))
  }
  func wake() { unsafe sora_alsa_wake(raw) }
  var available: Int { max(0, Int(unsafe sora_alsa_available(raw))) }

  func read(_ frames: Int, into samples: inout [Int16]) {
    unsafe samples.append(frames: frames, channels: request.channels) {
      unsafe sora_alsa_read(raw, $0, $1)
    }
  }

  func write(_ samples: Span<Int16>) {
    let frames = Int32(samples.count / request.channels)
    unsafe samples.withUnsafeBufferPointer {
      _ = unsafe sora_alsa_write(raw, $0.baseAddress, frames)
    }
  }

  var latency: Duration? {
    let microseconds = unsafe sora_alsa_latency(raw)
    return microseconds < 0 ? nil : .microseconds(microseconds)
  }

  var xruns: Int { Int(unsafe sora_alsa_xruns(raw)) }
  /// ALSA's buffers have the length that they were opened with.
  func setBuffer(_ frames: Int) {}
  var reason: AudioDeviceError { .unplugged(device: request.name) }
  func close() { unsafe sora_alsa_close(raw) }
}
