public import Foundation
public import SoraAudioDevices
public import SoraMedia
import Synchronization

/// A PulseAudio server of a test's own, in a folder of its own, with the null sinks `t` (stereo) and `mic` (mono). A null sink's monitor
/// hears what is played into it.
public final class SoundServer: Sendable {
  /// Why there is none, or what it didn't do.
  public struct Failure: Error, CustomStringConvertible {
    public let description: String
  }

  public static let isInstalled = ["pulseaudio", "pactl"].allSatisfy {
    FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)")
  }
  public static let requirement = "needs Debian's pulseaudio and pulseaudio-utils"

  public let folder: URL
  public let address: String
  private let process: pid_t
  private let isEnded = Mutex(false)

  public init() throws {
    folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("sora-sound-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    address = "unix:\(folder.path)/native"
    process = try Self.start(
      [
        "/usr/bin/pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1",
        "-L", "module-native-protocol-unix socket=\(folder.path)/native auth-anonymous=1",
        "-L", "module-null-sink sink_name=t rate=48000 channels=2",
        "-L", "module-null-sink sink_name=mic rate=48000 channels=1",
      ], environment: Self.environment(folder, address))
    let deadline = ContinuousClock.now + .seconds(20)
    while (try? backend.devices())?.count != 4 {
      guard ContinuousClock.now < deadline else {
        throw Failure(description: "no sound server came up")
      }
      usleep(20_000)
    }
    try control("set-default-sink", "t")
    try control("set-default-source", "mic.monitor")
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
  public var environment: [String: String] { Self.environment(folder, address) }

  private static func environment(_ folder: URL, _ address: String) -> [String: String] {
    ["XDG_RUNTIME_DIR": folder.path, "HOME": folder.path, "PULSE_SERVER": address, "LC_ALL": "C"]
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
    try pactl.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    pactl.waitUntilExit()
    guard pactl.terminationStatus == 0 else { throw Failure(description: "pactl \(arguments)") }
    return text.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  public func end() {
    let wasEnded = isEnded.withLock { isEnded in
      defer { isEnded = true }
      return isEnded
    }
    guard !wasEnded else { return }
    kill(process, SIGKILL)
    var status: Int32 = 0
    waitpid(process, &status, 0)
    try? FileManager.default.removeItem(at: folder)
  }

  /// Not Foundation's `Process`: the server closes the descriptor by whose end that notices the end of a program.
  private static func start(_ arguments: [String], environment: [String: String]) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for descriptor in Int32(0)...2 {
      posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
    }
    var words = arguments.map { strdup($0) } + [nil]
    var variables = environment.map { strdup("\($0)=\($1)") } + [nil]
    defer { for text in words + variables { free(text) } }
    var process: pid_t = 0
    let code = posix_spawn(&process, arguments[0], &actions, nil, &words, &variables)
    guard code == 0 else { throw Failure(description: "\(arguments[0]) didn't start: \(code)") }
    return process
  }
}
