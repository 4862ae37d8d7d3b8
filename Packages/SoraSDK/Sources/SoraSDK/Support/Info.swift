import Foundation

/// This SDK.
public enum SDKInfo {
  /// The release of the official iOS SDK whose API this one has.
  public static let version = "2025.1.1"
}

/// The WebRTC engine: this project's own.
public enum WebRTCInfo {
  public static let version = "Sora Swift WebRTC"
  public static let branch = "main"
  public static let commitPosition = "0"
  public static let maintenanceVersion = "0"
  public static let revision = String(repeating: "0", count: 40)
  public static let shortRevision = "0000000"
}

/// The machine that this runs on.
public struct DeviceInfo: CustomStringConvertible, Sendable {
  public static var current: DeviceInfo { DeviceInfo() }

  /// The processor's architecture, as `uname -m` prints it.
  public let machineName: String
  private let system: String

  private init() {
    var name = utsname()
    uname(&name)
    machineName = withUnsafeBytes(of: name.machine) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
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
