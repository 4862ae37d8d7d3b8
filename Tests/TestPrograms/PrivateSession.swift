import Foundation

/// A session of a test's own: a folder, a D-Bus, PipeWire and other programs, each of which is ended with it by its process id.
package final class PrivateSession: @unchecked Sendable {
  // @unchecked: for one test, which does one thing after the other.

  /// What it takes itself.
  static let tools = ["dbus-daemon", "dbus-send", "pipewire", "wireplumber"]

  package enum Failure: Error {
    case notReady(String)
    case failed([String])
  }

  private let home: URL
  private var programs: [(name: String, process: Process)] = []

  /// Starts the bus; `has` and `owns` tell when something is there.
  init() throws {
    home = FileManager.default.temporaryDirectory.appendingPathComponent("session-\(UUID())")
    try FileManager.default.createDirectory(
      at: home, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try write(
      "bus.conf",
      """
      <busconfig><type>session</type><listen>\(bus)</listen><auth>EXTERNAL</auth><policy context="default">
      <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>
      """)
    try start("dbus-daemon", ["dbus-daemon", "--config-file=\(path("bus.conf"))", "--nofork"])
    try wait(for: "dbus-daemon") { has("bus") }
  }

  deinit { stop() }

  /// The address of its D-Bus.
  package var bus: String { "unix:path=\(path("bus"))" }

  /// What programs find it by; without the rest of the test's own environment, which may name another.
  package var environment: [String: String] {
    [
      "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "HOME": home.path,
      "XDG_RUNTIME_DIR": home.path, "XDG_CONFIG_HOME": home.path, "XDG_DATA_HOME": home.path,
      "XDG_STATE_HOME": home.path, "LC_ALL": "C.UTF-8", "DBUS_SESSION_BUS_ADDRESS": bus,
      // No other bus: nobody there is to be asked for anything.
      "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(path("nobody"))",
    ]
  }

  // MARK: Files

  func path(_ name: String) -> String { home.appendingPathComponent(name).path }

  func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }

  func write(_ name: String, _ text: String) throws {
    let file = home.appendingPathComponent(name)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }

  // MARK: Programs

  /// Whether somebody on the bus has a name.
  func owns(_ name: String) -> Bool {
    let interface = "org.freedesktop.DBus"
    return (try? call(interface, "/", "\(interface).GetNameOwner", ["string:\(name)"])) != nil
  }

  /// Calls an object of the bus's.
  func call(
    _ name: String, _ object: String, _ method: String, _ arguments: [String] = []
  ) throws {
    try run(
      ["dbus-send", "--bus=\(bus)", "--print-reply", "--dest=\(name)", object, method] + arguments)
  }

  /// - Parameter name: what `end` takes.
  func start(_ name: String, _ command: [String]) throws {
    let process = try make(command)
    try process.run()
    programs.append((name, process))
  }

  func run(_ command: [String]) throws {
    let process = try make(command)
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failure.failed(command) }
  }

  private func make(_ command: [String]) throws -> Process {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    process.environment = environment
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    return process
  }

  /// Waits, for half a minute at most.
  func wait(for what: String, until isThere: () -> Bool) throws {
    let end = Date(timeIntervalSinceNow: 30)
    while !isThere() {
      guard Date() < end else { throw Failure.notReady(what) }
      Thread.sleep(forTimeInterval: 0.02)
    }
  }

  // MARK: The end

  /// Ends programs of a name.
  package func end(_ name: String) {
    for program in programs where program.name == name { end(program.process) }
    programs.removeAll { $0.name == name }
  }

  private func end(_ process: Process) {
    guard process.isRunning else { return }
    // Threads of Dispatch block signals, and so do the programs that they start.
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Ends all programs, the last first, and removes the folder.
  package func stop() {
    for (_, process) in programs.reversed() { end(process) }
    programs = []
    try? FileManager.default.removeItem(at: home)
  }
}
