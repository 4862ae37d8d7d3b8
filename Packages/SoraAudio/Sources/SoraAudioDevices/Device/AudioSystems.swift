/// The machine's sound systems.
package enum AudioSystems {
  /// The one that is named, or the first that answers.
  package static func backend(_ system: AudioSystem?) throws(AudioDeviceError) -> any AudioBackend {
    switch system {
    case .pulseAudio: return PulseBackend()
    case .alsa: return ALSABackend()
    case nil: break
    }
    return try first(of: [PulseBackend(), ALSABackend()])
  }

  /// The first that has devices. What has none is no reason to look no further: ALSA without a card answers too.
  package static func first(
    of backends: [any AudioBackend]
  ) throws(AudioDeviceError) -> any AudioBackend {
    var reasons: [String] = []
    for backend in backends {
      do throws(AudioDeviceError) {
        if try !backend.devices().isEmpty { return backend }
        reasons.append("\(backend.system) has none")
      } catch {
        reasons.append("\(error)")
      }
    }
    throw .noSoundSystem(reasons: reasons)
  }
}

extension AudioDevice {
  /// The devices of the machine, inputs and outputs: those of the sound server, or ALSA's where none answers.
  ///
  /// - Parameter system: nil for the first of `AudioSystem.allCases` that answers.
  /// - Throws: `AudioDeviceError.noSoundSystem` where none answers. An empty list is no error.
  public static func all(_ system: AudioSystem? = nil) throws(AudioDeviceError) -> [AudioDevice] {
    try AudioSystems.backend(system).devices()
  }

  /// The device that a person names: by its id, or by a part of its name or id that no other one of the direction has.
  ///
  /// - Throws: `AudioDeviceError.noDevice` with the names that there are.
  public static func named(
    _ name: String, _ direction: Direction, of system: AudioSystem? = nil
  ) throws(AudioDeviceError) -> AudioDevice {
    try all(system).device(named: name, direction)
  }
}

extension [AudioDevice] {
  /// The device of a direction that has this id, or else the only one whose name or id has this in it, in any case.
  public func device(
    named name: String, _ direction: AudioDevice.Direction
  ) throws(AudioDeviceError) -> AudioDevice {
    let devices = filter { $0.direction == direction }
    if let exact = devices.first(where: { $0.id == name }) { return exact }
    let wanted = name.lowercased()
    let similar = devices.filter {
      $0.id.lowercased().contains(wanted) || $0.name.lowercased().contains(wanted)
    }
    // Everything that hears an output has that output's name in its own.
    let candidates = similar.count > 1 ? similar.filter { !$0.isMonitor } : similar
    guard candidates.count == 1, !name.isEmpty else {
      throw .noDevice(
        name: name, direction: direction, known: (similar.isEmpty ? devices : similar).map(\.id))
    }
    return candidates[0]
  }

  /// What an app gets that names none; nil where there is none of the direction.
  public func standard(_ direction: AudioDevice.Direction) -> AudioDevice? {
    let devices = filter { $0.direction == direction }
    return devices.first(where: \.isDefault) ?? devices.first
  }
}
