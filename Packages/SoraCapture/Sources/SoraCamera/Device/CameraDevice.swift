import Foundation

/// A camera of the machine. A description: nothing is open.
public struct CameraDevice: Sendable, Hashable, CustomStringConvertible {
  /// The device's file, such as `/dev/video0`.
  public let path: String
  /// The camera's name for people.
  public let name: String
  /// Where it is plugged in, such as `usb-0000:00:14.0-1`; the same after it was plugged out and in again.
  public let bus: String
  /// The kernel's driver.
  public let driver: String

  public init(path: String, name: String, bus: String, driver: String) {
    self.path = path
    self.name = name
    self.bus = bus
    self.driver = driver
  }

  /// The camera at a path.
  public init(path: String) throws(CameraError) {
    let open = try V4L2Driver(path: path)
    self.init(path: path, name: open.name, bus: open.bus, driver: open.driver)
  }

  public var description: String { "\(name) (\(path))" }

  /// The cameras of the machine, by the numbers of their files. What can't be opened or gives no pictures is left out.
  public static var all: [CameraDevice] { all(in: "/dev") }

  static func all(in folder: String) -> [CameraDevice] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    let numbers = names.compactMap { name -> Int? in
      name.hasPrefix("video") ? Int(name.dropFirst(5)) : nil
    }
    return numbers.sorted().compactMap { try? CameraDevice(path: "\(folder)/video\($0)") }
  }

  /// What it can give, in the driver's order. Of a range of sizes those that people know, as near as its steps allow, and the largest.
  public func formats() throws(CameraError) -> [CameraFormat] {
    try V4L2Driver(path: path).formats()
  }

  /// What can be set on it. Works while the camera runs, here or elsewhere.
  public func controls() throws(CameraError) -> [CameraControl] {
    try V4L2Driver(path: path).controls()
  }

  /// A control's present value.
  ///
  /// - Throws: `controlUnreadable` for a button and whatever else is only set.
  public func value(of control: CameraControl) throws(CameraError) -> Int64 {
    try V4L2Driver(path: path).value(of: control)
  }

  /// Sets a control. Works while the camera runs.
  ///
  /// - Throws: `controlRefused` for a value that isn't allowed, or not now.
  public func set(_ control: CameraControl, to value: Int64) throws(CameraError) {
    try V4L2Driver(path: path).set(control, to: value)
  }
}
