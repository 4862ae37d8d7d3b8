/// Why a camera can't be used, with the way out.
public enum CameraError: Error, Sendable, Hashable, CustomStringConvertible {
  /// There is no device at this path.
  case noDevice(path: String)
  /// The device may not be opened.
  case noPermission(path: String)
  /// Another program, or this one, uses it already.
  case busy(path: String)
  /// The USB bus has no room left for the pictures of this format and rate.
  case noBandwidth(path: String)
  /// A device that gives no pictures: an output, a radio, a node of another kind.
  case notACamera(path: String)
  /// The driver gave something else than was asked for, or something that isn't understood.
  case formatRefused(wanted: String, given: String)
  /// The camera was taken away while it ran.
  case unplugged(path: String)
  /// A control doesn't exist, or doesn't take this value now.
  case controlRefused(name: String, value: Int64, allowed: String)
  /// A control has no value to read: a button, or one that is gone.
  case controlUnreadable(name: String)
  /// A call of the driver's failed.
  case system(operation: String, path: String, code: Int32)

  public var description: String {
    switch self {
    case .noDevice(let path): "no camera at \(path); `sora devices` lists those that there are"
    case .noPermission(let path):
      "\(path) may not be opened; add the user to the group of its file (often `video`)"
    case .busy(let path): "\(path) is in use; end the other program that shows its pictures"
    case .noBandwidth(let path):
      "the USB bus of \(path) has no room for these pictures; choose MJPEG, a smaller format or a lower rate, or another port, away from other cameras"
    case .notACamera(let path):
      "\(path) gives no pictures; `sora devices` lists the cameras that there are"
    case .formatRefused(let wanted, let given):
      "the camera doesn't give \(wanted), but \(given); choose one of its formats"
    case .unplugged(let path): "\(path) was unplugged"
    case .controlRefused(let name, let value, let allowed):
      "the camera's \(name) can't be \(value); allowed is \(allowed)"
    case .controlUnreadable(let name):
      "the camera's \(name) can't be read; it can only be set"
    case .system(let operation, let path, let code):
      "\(operation) of \(path) failed: \(Self.text(of: code))"
    }
  }
}
