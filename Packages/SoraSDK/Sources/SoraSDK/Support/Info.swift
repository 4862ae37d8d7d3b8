import Foundation
import SoraVersion

/// This SDK. Its API is that of the iOS SDK's release 2025.1.1.
public enum SDKInfo {
  /// This project's own version.
  public static let version = SoraVersion.current
}

/// The WebRTC engine: this project's own, and of its version. The parts of libwebrtc's version numbers have no meaning here and are
/// empty; so are revisions, which a build with SwiftPM doesn't know.
public enum WebRTCInfo {
  public static let version = SoraVersion.current
  public static let branch = ""
  public static let commitPosition = ""
  public static let maintenanceVersion = ""
  public static let revision = ""
  public static let shortRevision = ""
}

/// The machine that this runs on.
public struct DeviceInfo: CustomStringConvertible, Sendable {
  public static var current: DeviceInfo { DeviceInfo() }

  /// The processor's architecture, as `uname -m` prints it.
  public let machineName: String
  private let system: String

  private init() {
    var name = utsname()
    unsafe uname(&name)
    machineName = unsafe withUnsafeBytes(of: name.machine) { bytes in
      unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    system = Self.systemName() ?? "Linux"
  }

  /// `PRETTY_NAME` of os-release(5).
  private static func systemName() -> String? {
    guard let text = try? String(contentsOfFile: "/etc/os-release", encoding: .utf8) else {
      return nil
    }
    for line in text.split(separator: "\n") where line.hasPrefix("PRETTY_NAME=") {
      return line.dropFirst("PRETTY_NAME=".count).trimmingCharacters(in: ["\"", "'"])
    }
    return nil
  }

  /// The machine and its system: what `connect` carries as `environment`.
  public var description: String { "\(machineName); \(system)" }
}
