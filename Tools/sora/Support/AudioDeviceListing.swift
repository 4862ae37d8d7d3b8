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

  /// The device that a person names; nil for the default, of which there is one.
  static func choose(
    _ name: String?, _ direction: AudioDevice.Direction
  ) throws(AudioDeviceError) -> AudioDevice? {
    let devices = try AudioDevice.all()
    if let name { return try devices.device(named: name, direction) }
    guard devices.standard(direction) != nil else {
      throw .noDevice(name: nil, direction: direction, known: [])
    }
    return nil
  }
}
