import Foundation

/// What the files of a machine tell of its devices and certificates.
package struct MachineFiles: Sendable {
  private let root: String
  private let environment: [String: String]

  /// - Parameter root: the folder that holds `dev`, `proc` and `etc`.
  package init(
    root: String = "/", environment: [String: String] = ProcessInfo.processInfo.environment
  ) {
    self.root = root
    self.environment = environment
  }

  private func path(_ name: String) -> String { (root as NSString).appendingPathComponent(name) }

  private func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }

  package var cameras: Finding {
    let names = ((try? FileManager.default.contentsOfDirectory(atPath: path("dev"))) ?? [])
      .filter { $0.hasPrefix("video") && $0.dropFirst(5).allSatisfy(\.isNumber) }.sorted()
    guard !names.isEmpty else {
      return .ok("cameras", "none here; the test pattern and Y4M files need none")
    }
    let closed = names.filter {
      let file = path("dev/\($0)")
      return !FileManager.default.isReadableFile(atPath: file)
        || !FileManager.default.isWritableFile(atPath: file)
    }
    guard closed.isEmpty else {
      return .warn(
        "cameras", "\(closed.map { "/dev/\($0)" }.joined(separator: ", ")) can't be opened",
        "add this user to the group video (usermod -aG video NAME), then log in again")
    }
    return .ok("cameras", names.map { "/dev/\($0)" }.joined(separator: ", "))
  }

  package var sound: Finding {
    var found: [String] = []
    let cards = (try? String(contentsOfFile: path("proc/asound/cards"), encoding: .utf8)) ?? ""
    for line in cards.split(separator: "\n") {
      guard let colon = line.ranges(of: "]: ").first?.upperBound else { continue }
      found.append("ALSA: \(line[colon...])")
    }
    let runtime = environment["XDG_RUNTIME_DIR"] ?? "/run/user/\(getuid())"
    if exists("\(runtime)/pipewire-0") { found.append("PipeWire") }
    if exists("\(runtime)/pulse/native") || environment["PULSE_SERVER"] != nil {
      found.append("PulseAudio")
    }
    guard !found.isEmpty else {
      return .ok("sound", "no device here; the tone and WAV files need none")
    }
    return .ok("sound", found.joined(separator: ", "))
  }

  /// The authorities that `wss` servers are checked against.
  package var authorities: Finding {
    let places = [
      "etc/ssl/certs/ca-certificates.crt", "etc/pki/tls/certs/ca-bundle.crt", "etc/ssl/cert.pem",
    ]
    guard let place = places.first(where: exists) else {
      return .warn(
        "certificates", "this machine knows no certificate authority",
        "install the package ca-certificates, or name one with --ca FILE: else no wss server can be trusted"
      )
    }
    let text = (try? String(contentsOfFile: path(place), encoding: .utf8)) ?? ""
    let count = text.ranges(of: "-----BEGIN CERTIFICATE-----").count
    return .ok("certificates", "\(count) authorities in /\(place)")
  }

  /// The machine's clock: certificates have dates, and a latency between machines is the difference of two clocks.
  ///
  /// - Parameter seconds: since 1970.
  package func time(_ seconds: Int64) -> Finding {
    let clock = String(format: "%02d:%02d UTC", seconds / 3600 % 24, seconds / 60 % 60)
    let text = "\(Self.day(seconds)) \(clock)"
    // 2025: this program is younger.
    guard seconds > 1_735_689_600 else {
      return .fail(
        "time", "the clock says \(text)",
        "set it (timedatectl set-ntp true): certificates have dates")
    }
    if exists("run/systemd/timesync") {
      guard exists("run/systemd/timesync/synchronized") else {
        return .warn(
          "time", "\(text), not synchronized yet",
          "see timedatectl timesync-status: latency between machines is measured by their clocks")
      }
      return .ok("time", "\(text), kept by systemd-timesyncd")
    }
    if exists("run/chrony") { return .ok("time", "\(text), kept by chrony") }
    return .ok("time", "\(text), kept by nothing on this machine itself")
  }

  /// A day as `2026-11-22`, in UTC.
  package static func day(_ seconds: Int64) -> String {
    let formatter = ISO8601DateFormatter()
    formatter.formatOptions = [.withFullDate]
    return formatter.string(from: Date(timeIntervalSince1970: Double(seconds)))
  }
}
