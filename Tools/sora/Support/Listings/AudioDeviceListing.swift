import Foundation
package import SoraAudioDevices

/// A sound device as `sora devices` tells of it.
package struct AudioDeviceListing: Encodable {
  let type: String
  let id: String
  let name: String
  let system: String
  let isDefault: Bool
  /// Whether it hears what an output plays.
  let isMonitor: Bool
  /// nil where the system doesn't tell.
  let sampleRate: Int?
  let channels: Int?

  package init(_ device: AudioDevice) {
    type = device.direction == .input ? "microphone" : "speaker"
    id = device.id.printable
    name = device.name.printable
    system = device.system.rawValue
    isDefault = device.isDefault
    isMonitor = device.isMonitor
    sampleRate = device.sampleRate
    channels = device.channels
  }

  /// For people: one line.
  package var line: String {
    var facts = [system]
    if let sampleRate { facts.append("\(sampleRate) Hz") }
    if let channels { facts.append(channels == 1 ? "1 channel" : "\(channels) channels") }
    if isMonitor { facts.append("hears an output") }
    let mark = isDefault ? "*" : " "
    let column = type.padding(toLength: 10, withPad: " ", startingAt: 0)
    let names = name == id ? id : "\(id)  \(name)"
    return "\(column) \(mark) \(names)  (\(facts.joined(separator: ", ")))"
  }

  /// Throws unless there is the device that a person names, or a default one for nil.
  package static func check(
    _ name: String?, _ direction: AudioDevice.Direction
  ) throws(AudioDeviceError) {
    let devices = try AudioDevice.all()
    if let name {
      _ = try devices.device(named: name, direction)
    } else if devices.standard(direction) == nil {
      throw .noDevice(name: nil, direction: direction, known: [])
    }
  }
}
