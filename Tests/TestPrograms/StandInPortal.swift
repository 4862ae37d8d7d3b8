import Foundation

/// A desktop's portal (`Display/portal.py`) over a screen of one colour, which a source of PipeWire's has; with a person in front of it.
///
/// A real one of sway's doesn't do: xdg-desktop-portal-wlr 0.7.0 takes no screen whose compositor draws with the processor alone
/// ("unable to receive a valid format": it wants a DMABUF's, too), and machines of tests have no graphics card.
package final class StandInPortal: Sendable {
  /// Whether the machine has what it takes.
  package static let isAvailable =
    (PrivateSession.tools + ["pw-dump", "gst-inspect-1.0"]).allSatisfy {
      TestPrograms.isInstalled($0)
    } && has("/usr/bin/python3", ["-c", "import dbus, gi"])
    && has("/usr/bin/env", ["gst-inspect-1.0", "pipewiresink"])
  package static let reason =
    "needs Debian's pipewire, wireplumber, dbus, gstreamer1.0-tools, gstreamer1.0-pipewire, python3-dbus and python3-gi"

  package let session: PrivateSession

  /// - Parameters:
  ///   - kind: what `portal.py` takes; nil for no portal.
  ///   - format: GStreamer's name of the pixels.
  ///   - color: red, green and blue.
  ///   - isManaged: whether somebody links streams.
  package init(
    _ kind: String? = "fair", format: String = "BGRx", color: [Int] = [0, 0, 255], width: Int = 64,
    height: Int = 48, isManaged: Bool = true
  ) throws {
    session = try PrivateSession()
    let session = session
    try session.start("pipewire", ["pipewire"])
    try session.wait(for: "pipewire") { session.has("pipewire-0") }
    if isManaged { try session.start("wireplumber", ["wireplumber"]) }
    let value = color.reduce(0xFF) { $0 << 8 | $1 }
    try session.start(
      "screen",
      [
        "gst-launch-1.0", "videotestsrc", "is-live=true", "pattern=solid-color",
        "foreground-color=\(value)", "!",
        "video/x-raw,format=\(format),width=\(width),height=\(height),framerate=20/1", "!",
        "pipewiresink", "mode=provide",
        "stream-properties=props,node.name=screen,media.class=Video/Source",
      ])
    guard let kind else { return }
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("Display/portal.py").path
    // Debian's own, which has Debian's modules.
    try session.start("portal", ["/usr/bin/python3", script, kind])
    try session.wait(for: "portal.py") { session.owns("org.freedesktop.portal.Desktop") }
  }

  /// Ends its sessions, as a person does who has shown enough.
  package func endSessions() throws {
    try call("End", [])
  }

  /// Answers the question, once it is asked.
  package func answer(allowing: Bool) throws {
    try session.wait(for: "a question") { (try? call("Answer", ["boolean:\(allowing)"])) != nil }
  }

  private func call(_ method: String, _ arguments: [String]) throws {
    try session.call(
      "org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop",
      "org.example.Desktop.\(method)",
      arguments)
  }

  private static func has(_ program: String, _ arguments: [String]) -> Bool {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }
}
