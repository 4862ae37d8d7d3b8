package import SoraCamera

/// A camera as `sora devices` tells of it.
package struct CameraListing: Encodable {
  /// The sizes of one pixel format, with the highest frame rate of each.
  struct Format: Encodable, Equatable {
    struct Size: Encodable, Equatable {
      var width: Int
      var height: Int
      /// nil where the camera doesn't tell.
      var framesPerSecond: [Double]
    }
    var pixelFormat: String
    /// Whether pictures of it can be used here.
    var usable: Bool
    var sizes: [Size]
  }

  package struct Control: Encodable {
    package var name: String
    /// nil where it can't be read.
    package var value: Int64?
    package var usual: Int64
    package var allowed: String

    package init(name: String, value: Int64?, usual: Int64, allowed: String) {
      self.name = name
      self.value = value
      self.usual = usual
      self.allowed = allowed
    }
  }

  let type = "camera"
  let path: String
  let name: String
  let driver: String
  let bus: String
  let formats: [Format]
  let controls: [Control]?
  /// Why the formats can't be told.
  let error: String?

  package init(_ device: CameraDevice, withControls: Bool) {
    var formats: [CameraFormat] = []
    var controls: [CameraControl] = []
    var failure: String?
    do throws(CameraError) {
      formats = try device.formats()
      if withControls { controls = try device.controls() }
    } catch { failure = "\(error)" }
    self.init(
      device, formats: formats,
      controls: withControls
        ? controls.map {
          Control(
            name: $0.name, value: try? device.value(of: $0), usual: $0.defaultValue,
            allowed: $0.allowed)
        } : nil, error: failure)
  }

  package init(
    _ device: CameraDevice, formats: [CameraFormat], controls: [Control]?, error: String?
  ) {
    path = device.path
    name = device.name.printable
    driver = device.driver.printable
    bus = device.bus.printable
    self.controls = controls
    self.error = error
    var grouped: [Format] = []
    for format in formats {
      let size = Format.Size(
        width: format.width, height: format.height,
        framesPerSecond: format.frameRateRanges.map(\.upperBound).sorted())
      if let index = grouped.firstIndex(where: { $0.pixelFormat == "\(format.pixelFormat)" }) {
        grouped[index].sizes.append(size)
      } else {
        grouped.append(
          Format(
            pixelFormat: "\(format.pixelFormat)", usable: format.pixelFormat.isSupported,
            sizes: [size]))
      }
    }
    self.formats = grouped
  }

  /// For people: a line for the camera, and one for each format.
  package var lines: [String] {
    var lines = ["\(path)  \(name)  (\(driver), \(bus))"]
    if let error { lines.append("  \(error)") }
    for format in formats where format.usable {
      let sizes = format.sizes.map { size in
        "\(size.width)x\(size.height)"
          + (size.framesPerSecond.last.map { "@\(Self.text(of: $0))" } ?? "")
      }
      lines.append("  \(format.pixelFormat)  \(sizes.joined(separator: " "))")
    }
    let others = formats.filter { !$0.usable }.map(\.pixelFormat)
    if !others.isEmpty { lines.append("  not usable here: \(others.joined(separator: " "))") }
    for control in controls ?? [] {
      let value = control.value.map { "\($0)" } ?? "-"
      lines.append("  \(control.name.printable) = \(value)  (\(control.allowed.printable))")
    }
    return lines
  }

  private static func text(of rate: Double) -> String {
    rate == rate.rounded() ? "\(Int(rate))" : "\((rate * 100).rounded() / 100)"
  }
}
