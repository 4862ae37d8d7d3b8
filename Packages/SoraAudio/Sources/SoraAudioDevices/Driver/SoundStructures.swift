import CSoraSound

/// A call's words for what went wrong.
enum SoundFailure {
  /// Calls C with room for words; nil where it worked.
  static func of(_ body: (UnsafeMutablePointer<sora_sound_reason>) -> Int32) -> (
    code: Int, reason: String
  )? {
    var raw = sora_sound_reason()
    let code = unsafe body(&raw)
    guard code != 0 else { return nil }
    return (Int(code), SoundText.text(of: raw.text))
  }
}

/// Text of C's structures.
enum SoundText {
  /// Up to the first zero.
  static func text<Characters>(of characters: Characters) -> String {
    unsafe withUnsafeBytes(of: characters) { bytes in
      unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }
}

extension AudioDevice {
  init(_ device: sora_sound_device, _ system: AudioSystem) {
    let id = SoundText.text(of: device.name)
    let name = SoundText.text(of: device.description)
    self.init(
      id: id, name: name.isEmpty ? id : name, direction: device.is_input != 0 ? .input : .output,
      system: system, isDefault: device.is_default != 0, isMonitor: device.is_monitor != 0,
      sampleRate: device.rate > 0 ? Int(device.rate) : nil,
      channels: device.channels > 0 ? Int(device.channels) : nil)
  }

  /// Copies a list of C's, and frees it.
  static func list(
    _ devices: UnsafeMutablePointer<sora_sound_device>?, _ count: Int32, _ system: AudioSystem
  ) -> [AudioDevice] {
    defer { unsafe sora_sound_free_devices(devices) }
    let found = unsafe UnsafeBufferPointer(start: devices, count: Int(count))
    return unsafe found.map { AudioDevice($0, system) }
  }
}

extension AudioDeviceError {
  /// A code of C's (SORA_SOUND_...), of an operation with a device.
  package init(
    _ failure: (code: Int, reason: String), _ operation: String, _ system: AudioSystem,
    _ request: AudioPortRequest? = nil, known: () -> [AudioDevice] = { [] }
  ) {
    let name = request?.name ?? "\(system)"
    switch failure.code {
    case SORA_SOUND_NO_LIBRARY: self = .noLibrary(system, file: failure.reason)
    case SORA_SOUND_NO_SERVER: self = .noServer(system, reason: failure.reason)
    case SORA_SOUND_NO_DEVICE:
      let direction = request?.direction ?? .output
      self = .noDevice(
        name: request?.device?.id, direction: direction,
        known: known().filter { $0.direction == direction }.map(\.id))
    case SORA_SOUND_BUSY: self = .busy(device: name)
    case SORA_SOUND_NO_PERMISSION:
      self = .noPermission(device: name, reason: failure.reason)
    // A server takes its connection along; a device of the kernel's has none.
    case SORA_SOUND_GONE:
      self = system == .pulseAudio ? .serverGone(system) : .unplugged(device: name)
    case SORA_SOUND_REFUSED: self = .formatRefused(device: name, reason: failure.reason)
    default: self = .system(operation: operation, device: name, reason: failure.reason)
    }
  }
}
