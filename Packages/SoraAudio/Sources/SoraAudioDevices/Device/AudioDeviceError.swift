/// Why a sound device can't be used, with the way out.
public enum AudioDeviceError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Neither a sound server nor ALSA can be used; what each said.
  case noSoundSystem(reasons: [String])
  /// The system's library isn't installed.
  case noLibrary(AudioSystem, file: String)
  /// No server answers.
  case noServer(AudioSystem, reason: String)
  /// There is no such device, or more than one; `known` has those that there are, or those that are meant.
  case noDevice(name: String?, direction: AudioDevice.Direction, known: [String])
  /// The device may not be opened.
  case noPermission(device: String, reason: String)
  /// Another program has the device for itself.
  case busy(device: String)
  /// The device doesn't take 16 bits at 48 kHz in the wanted number of channels.
  case formatRefused(device: String, reason: String)
  /// The device was taken away while it ran.
  case unplugged(device: String)
  /// The sound server ended while the device ran.
  case serverGone(AudioSystem)
  /// Something else failed.
  case system(operation: String, device: String, reason: String)

  public var description: String {
    switch self {
    case .noSoundSystem(let reasons):
      "no sound devices: \(reasons.joined(separator: "; "))"
    case .noLibrary(let system, let file):
      "\(file) is missing; install \(system == .alsa ? "libasound2" : "libpulse0") to use \(system)"
    case .noServer(let system, let reason):
      "no \(system) server answers (\(reason)); start one (pulseaudio --start, or pipewire-pulse), or set PULSE_SERVER"
    case .noDevice(let name, let direction, let known):
      Self.text(of: name, direction, known)
    case .noPermission(let device, let reason):
      "\(device) may not be opened (\(reason)); add the user to the group audio, or run as the one whose sound server it is"
    case .busy(let device): "\(device) is in use; end the other program that has it for itself"
    case .formatRefused(let device, let reason):
      "\(device) doesn't take 16 bits at 48 kHz (\(reason)); choose a device that converts, such as default"
    case .unplugged(let device): "\(device) was unplugged"
    case .serverGone(let system): "the \(system) server has ended; start it again"
    case .system(let operation, let device, let reason):
      "\(operation) of \(device) failed: \(reason)"
    }
  }

  private static func text(
    of name: String?, _ direction: AudioDevice.Direction, _ known: [String]
  ) -> String {
    let kind = direction == .input ? "microphone" : "loudspeaker"
    let there = known.isEmpty ? "there is none" : "there are: \(known.joined(separator: ", "))"
    guard let name else { return "no \(kind): \(there)" }
    return "no \(kind) is \"\(name)\" and no other; \(there)"
  }
}
