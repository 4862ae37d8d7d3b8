public import Foundation
public import SoraAudioDevices
public import SoraMedia
import Synchronization

/// A sound server of a test's own, in a folder of its own, with the null sinks `t` (stereo) and `mic` (mono). A null sink's monitor
/// hears what is played into it.
public final class SoundServer: Sendable {
  /// Who answers programs that speak PulseAudio's protocol.
  public enum System: String, Sendable, CaseIterable {
    case pulseAudio, pipeWire

    /// What has to be there in /usr/bin.
    fileprivate var programs: [String] {
      switch self {
      case .pulseAudio: ["pulseaudio", "pactl"]
      case .pipeWire: ["dbus-daemon", "pipewire", "wireplumber", "pipewire-pulse", "pactl"]
      }
    }

    fileprivate var isInstalled: Bool {
      programs.allSatisfy { FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)") }
    }
  }

  /// Why there is none, or what it didn't do.
  public struct Failure: Error, CustomStringConvertible {
    public let description: String
  }

  public static let isInstalled = System.pulseAudio.isInstalled
  public static let requirement = "needs Debian's pulseaudio and pulseaudio-utils"
  /// Whether there is each of them.
  public static let areAllInstalled = System.allCases.allSatisfy(\.isInstalled)
  public static let allRequirement =
    requirement + ", and dbus-daemon, pipewire, wireplumber and pipewire-pulse"

  public let folder: URL
  public let address: String
  private let processes: Mutex<[pid_t]>

  public init(_ system: System = .pulseAudio) throws {
    folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("sora-sound-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let socket = system == .pulseAudio ? "native" : "pulse/native"
    address = "unix:\(folder.path)/\(socket)"
    processes = Mutex([])
    switch system {
    case .pulseAudio:
      try start([
        "pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1",
        "-L", "module-native-protocol-unix socket=\(folder.path)/native auth-anonymous=1",
      ])
    case .pipeWire:
      // Who decides what is the default, WirePlumber, doesn't without a bus.
      try start(["dbus-daemon", "--session", "--address=\(bus)", "--nofork", "--nopidfile"])
      try wait(for: "bus") { has("bus") }
      try start(["pipewire"])
      try wait(for: "PipeWire") { has("pipewire-0") }
      try start(["wireplumber"])
      try start(["pipewire-pulse"])
    }
    try wait(for: "sound server") { has(socket) && (try? control("info")) != nil }
    try control("load-module", "module-null-sink", "sink_name=t", "rate=48000", "channels=2")
    try control("load-module", "module-null-sink", "sink_name=mic", "rate=48000", "channels=1")
    try wait(for: "pair of sinks") {
      guard (try? control("set-default-sink", "t")) != nil,
        (try? control("set-default-source", "mic.monitor")) != nil,
        let devices = try? backend.devices()
      else { return false }
      return devices.count == 4 && devices.standard(.output)?.id == "t"
        && devices.standard(.input)?.id == "mic.monitor"
    }
  }

  deinit { end() }

  package var backend: PulseBackend { PulseBackend(server: address) }

  /// Plays into a sink, 10 ms of one channel at a time.
  public func playback(
    into sink: String, fill: @escaping @Sendable (inout AudioFrame) -> Void
  ) throws -> AudioPlayback {
    try AudioPlayback(
      backend, backend.devices().device(named: sink, .output), channels: 1, fill: fill,
      notify: { _ in })
  }

  /// Hears what is played into a sink, likewise.
  public func capture(
    from sink: String, deliver: @escaping @Sendable (AudioFrame) -> Void
  ) throws -> AudioCapture {
    try AudioCapture(
      backend, backend.devices().device(named: "\(sink).monitor", .input), channels: 1,
      deliver: deliver, notify: { _ in })
  }

  /// Has programs use this server.
  public var environment: [String: String] {
    [
      "XDG_RUNTIME_DIR": folder.path, "HOME": folder.path, "XDG_CONFIG_HOME": folder.path,
      "XDG_STATE_HOME": folder.path, "PULSE_SERVER": address, "LC_ALL": "C",
      "DBUS_SESSION_BUS_ADDRESS": bus,
      // No other bus: nobody there is to be asked for anything.
      "DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(folder.path)/nobody",
    ]
  }

  private var bus: String { "unix:path=\(folder.path)/bus" }

  private func has(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: folder.appendingPathComponent(name).path)
  }

  private func wait(for what: String, until isThere: () -> Bool) throws {
    let deadline = ContinuousClock.now + .seconds(20)
    while !isThere() {
      guard ContinuousClock.now < deadline else {
        throw Failure(description: "no \(what) came up")
      }
      usleep(20_000)
    }
  }

  /// Runs pactl; what it prints.
  @discardableResult
  public func control(_ arguments: String...) throws -> String {
    let pactl = Process()
    pactl.executableURL = URL(fileURLWithPath: "/usr/bin/pactl")
    pactl.arguments = arguments
    pactl.environment = environment
    let output = Pipe()
    pactl.standardOutput = output
    pactl.standardError = FileHandle.nullDevice
    try pactl.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    pactl.waitUntilExit()
    guard pactl.terminationStatus == 0 else { throw Failure(description: "pactl \(arguments)") }
    return text.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  public func end() {
    let running = processes.withLock { processes in
      defer { processes = [] }
      return processes
    }
    guard !running.isEmpty else { return }
    for process in running.reversed() {
      kill(process, SIGKILL)
      var status: Int32 = 0
      waitpid(process, &status, 0)
    }
    try? FileManager.default.removeItem(at: folder)
  }

  /// Not Foundation's `Process`: a server closes the descriptor by whose end that notices the end of a program.
  private func start(_ command: [String]) throws {
    let program = "/usr/bin/\(command[0])"
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for descriptor in Int32(0)...2 {
      posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
    }
    var words = command.map { strdup($0) } + [nil]
    var variables = environment.map { strdup("\($0)=\($1)") } + [nil]
    defer { for text in words + variables { free(text) } }
    var process: pid_t = 0
    let code = posix_spawn(&process, program, &actions, nil, &words, &variables)
    guard code == 0 else { throw Failure(description: "\(program) didn't start: \(code)") }
    processes.withLock { $0.append(process) }
  }
}
