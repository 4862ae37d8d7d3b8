import Foundation
import TestPrograms
import Testing

/// Runs the `sora` that was built beside these tests.
struct Run {
  let status: Int32
  let output: String
  let errors: String

  /// - Parameter input: what it reads from standard input; less than a pipe holds.
  init(
    _ arguments: [String], environment: [String: String] = [:], input: String? = nil
  ) throws {
    let process = Process()
    process.executableURL = try Self.command()
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    let output = Pipe()
    let errors = Pipe()
    process.standardOutput = output
    process.standardError = errors
    process.standardInput = FileHandle.nullDevice
    if let input {
      let pipe = Pipe()
      process.standardInput = pipe
      try pipe.fileHandleForWriting.write(contentsOf: Data(input.utf8))
      try pipe.fileHandleForWriting.close()
    }
    try process.run()
    // What is printed here is shorter than a pipe holds, so that reading one after the other can't block.
    self.output = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    self.errors = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    status = process.terminationStatus
  }

  /// Runs the command on a thread of its own, so that whom it talks to in this process can answer.
  static func beside(_ arguments: [String], input: String? = nil) async throws -> Run {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(with: Result { try Run(arguments, input: input) })
      }
    }
  }

  static func command() throws -> URL {
    let invoked = URL(fileURLWithPath: CommandLine.arguments.first ?? "")
    let candidates = [
      invoked.deletingLastPathComponent().appendingPathComponent("sora"),
      TestPrograms.built("sora"),
    ]
    return try #require(
      candidates.first { FileManager.default.isExecutableFile(atPath: $0.path) },
      "no sora beside the tests: run `make build`")
  }
}

@Suite struct WrongUsageTests {
  private static let url = "ws://127.0.0.1:1/signaling"

  @Test(arguments: [
    ["publish"],
    ["nonsense"],
    ["help", "nonsense"],
    ["stats", url, "--channel", "c", "--type", "foo"],
    ["serve", "--port", "0", "--turn-port", "3478", "--turn-tls-port", "3478"],
    ["serve", "--port", "5999", "--api-port", "5999"],
    ["serve", "--host", "0.0.0.0", "--port", "5999", "--api-port", "5999"],
    ["publish", url],
    ["publish", url, "--channel", ""],
    ["publish", "http://127.0.0.1/", "--channel", "c"],
    ["publish", "not a url", "--channel", "c"],
    ["publish", "ws://127.0.0.1:0/signaling", "--channel", "c"],
    ["play", "ws://127.0.0.1:65536/signaling", "--channel", "c"],
    ["publish", url, "--channel", "c", "--video", "camera:/dev/nowhere"],
    ["publish", url, "--channel", "c", "--video", "camera:/dev/null"],
    ["devices", "--cameras"],
    ["publish", url, "--channel", "c", "--video", "/nowhere.y4m"],
    ["publish", url, "--channel", "c", "--video", "none", "--audio", "none"],
    ["publish", url, "--channel", "c", "--audio", "speaker"],
    ["publish", url, "--channel", "c", "--audio", "mic:"],
    ["publish", url, "--channel", "c", "--audio", "mic:no such microphone anywhere"],
    ["play", url, "--channel", "c", "--audio", "mic"],
    ["play", url, "--channel", "c", "--audio", "speaker:no such speaker anywhere"],
    ["publish", url, "--channel", "c", "--audio", "/nowhere.wav"],
    ["publish", url, "--channel", "c", "--resolution", "720p"],
    ["publish", url, "--channel", "c", "--fps", "0"],
    ["publish", url, "--channel", "c", "--fps", "many"],
    ["publish", url, "--channel", "c", "--fps", "nan"],
    ["play", url, "--channel", "c", "--fps", "inf"],
    ["publish", url, "--channel", "c", "--video-codec", "mpeg2"],
    ["publish", url, "--channel", "c", "--video-bit-rate", "0"],
    ["publish", url, "--channel", "c", "--audio-bit-rate", "5"],
    ["publish", url, "--channel", "c", "--metadata", "{"],
    ["publish", url, "--channel", "c", "--ca", "/nowhere.pem"],
    ["publish", url, "--channel", "c", "--proxy", "127.0.0.1:3128"],
    ["doctor", url, "--proxy", "ftp://127.0.0.1:3128"],
    ["publish", url, "--channel", "c", "--duration", "-1"],
    ["play", url, "--channel", "c", "--video", "camera"],
    ["play", url, "--channel", "c", "--video", "none", "--audio", "none"],
    ["play", url, "--channel", "c", "--record", "film.avi"],
    ["play", url, "--channel", "c", "--record", "a.mp4", "--record", "b.webm"],
    ["play", url, "--channel", "c", "--record", "/nowhere/film.webm"],
    ["publish", url, "--channel", "c", "--record", "film.mp4"],
    ["play", url, "--channel", "c", "--snapshot", "picture.jpg"],
    ["play", url, "--channel", "c", "--timeout", "0"],
    ["play", url, "--channel", "c", "--jitter-buffer-target", "4001"],
    ["publish", url, "--channel", "c", "--jitter-buffer-target", "0"],
    ["play", url, "--channel", "c", "--view", "--video", "none"],
    ["play", url, "--channel", "c", "--video", "none", "--record", "a.y4m"],
    ["play", url, "--channel", "c", "--video", "none", "--snapshot", "a.png"],
    ["play", url, "--channel", "c", "--audio", "none", "--record", "a.wav"],
    ["publish", url, "--channel", "c", "--video", "none", "--record", "a.y4m"],
    ["publish", url, "--channel", "c", "--audio", "none", "--record", "a.wav"],
    ["play", url, "--channel", "c", "--teleport"],
    ["publish", url, "--channel", "c", "--audio-codec", "mp3"],
    ["play", url, "--channel", "c", "--role", "sendonly"],
    ["publish", url, "--channel", "c", "--role", "recvonly"],
    ["publish", url, "--channel", "c", "--rid", "r1"],
    ["play", url, "--channel", "c", "--rid", "r3"],
    ["play", url, "--channel", "c", "--spotlight-number", "9"],
    ["play", url, "--channel", "c", "--spotlight-focus-rid", "unspecified"],
    ["play", url, "--channel", "c", "--spotlight-unfocus-rid", "r3"],
    ["play", url, "--channel", "c", "--forwarding-filter", "{"],
    ["play", url, "--channel", "c", "--forwarding-filter", "{\"rules\": 3}"],
    ["doctor", "--channel", "c"],
    ["doctor", "--metadata", "{}"],
    ["doctor", "--insecure"],
    ["doctor", "--pin", "sha256//AAAA"],
    ["message", url, "--channel", "c"],
    ["message", url, "--channel", "c", "--label", "chat"],
    ["message", url, "--channel", "c", "--label", "#a", "--label", "#a"],
    ["message", url, "--channel", "c", "--label", "#a", "--send", "-", "--send", "-"],
    ["message", url, "--channel", "c", "--label", "#a", "--count", "0"],
    ["message", url, "--channel", "c", "--label", "#a", "--direction", "both"],
    ["message", url, "--channel", "c", "--label", "#a", "--direction", "recvonly", "--send", "x"],
    ["message", url, "--channel", "c", "--label", "#a", "--no-data-channel-signaling"],
    ["stats", url, "--channel", "c", "--interval", "0"],
    ["stats", url, "--channel", "c", "--count", "0"],
    ["stats", url, "--channel", "c", "--duration", "0.5"],
    [
      "play", url, "--channel", "c", "--ignore-disconnect-websocket", "--no-data-channel-signaling",
    ],
    ["serve", "--port", "70000"],
    ["serve", "--media-address", "everywhere"],
    ["serve", "--tls-cert", "a.pem"],
    ["serve", "--port", "0", "--record", "/dev/null/folder"],
    ["serve", "--turn-tls-port", "5349"],
    ["serve", "--turn-port", "-1"],
    ["serve", "--turn-port", "0", "--no-turn", "--ice-policy", "relay"],
    ["serve", "--spotlight-number", "0"],
    ["serve", "--spotlight-focus-rid", "r3"],
    ["serve", "--spotlight-unfocus-rid", "low"],
    ["serve", "--spotlight-delay", "2"],
    ["serve", "--secret-key", ""],
    ["serve", "--auth-webhook", "ftp://127.0.0.1/"],
    ["serve", "--event-webhook", "http://user:password@127.0.0.1/"],
    ["serve", "--webhook-timeout", "0"],
    ["serve", "--max-connections", "0"],
    ["serve", "--max-channel-connections", "-1"],
    ["serve", "--max-address-connections", "0"],
  ])
  func endsWithTwoAndOneLine(_ arguments: [String]) throws {
    let run = try Run(arguments)
    #expect(run.status == 2)
    #expect(run.output.isEmpty)
    #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
    #expect(run.errors.hasPrefix("sora: "))
  }

  /// The line names the option as it was written and what it takes.
  @Test(arguments: [
    (["publish", url, "--channel", "c", "--duration", "1e300"], "above 0 and up to 10000000"),
    (["publish", url, "--channel", "c", "--duration", "-3"], "--duration -3"),
    (["play", url, "--channel", "c", "--timeout", "-3"], "--timeout -3"),
    (["publish", url, "--channel", "c", "--fps", "-3"], "--fps -3"),
    (["publish", url, "--channel", "c", "--video-bit-rate", "-3"], "--video-bit-rate -3"),
    (["publish", url, "--channel", "c", "--bit-depth", "12"], "--bit-depth 12: use 8 or 10"),
    (
      ["publish", url, "--channel", "c", "--bit-depth", "10", "--video-codec", "h264"],
      "add --video-codec vp9 or av1"
    ),
    (["publish", url, "--channel", "c", "--pin", "sha256//AAAA"], "--pin sha256//AAAA: write"),
    (
      ["play", url, "--channel", "c", "--record", "film.avi"],
      "end the name in .webm, .mp4 or .mkv for the stream as it comes, / for a folder of all streams"
    ),
    (["publish", url, "--channel", "c", "--record", "film.mp4"], "end the name in .y4m"),
    (
      ["play", url, "--channel", "c", "--record", "/nowhere/film.webm"],
      "--record: cannot create /nowhere/film.webm: No such file or directory"
    ),
    (["message", url, "--channel", "c", "--label", "chat"], "begin it with #, as in '#chat'"),
    (["message", url, "--channel", "c"], "--label: name a data channel, in quotes"),
    (
      ["play", url, "--channel", "c", "--role", "sendonly"],
      "use recvonly or sendrecv here; publish sends"
    ),
    (["publish", url, "--channel", "c", "--rid", "r1"], "add --role sendrecv"),
    (
      ["play", url, "--channel", "c", "--video", "none", "--record", "a.y4m"],
      "--record a.y4m: there are no pictures"
    ),
    (["play", url, "--channel", "c", "--recor", "a"], "'--record'? See 'sora play --help'"),
    (["publish", url, "--channel", "c", "--metadata", "{a}"], "--metadata: not JSON at byte 1: "),
    (
      ["play", url, "--channel", "c", "--forwarding-filter", "[1"],
      "--forwarding-filter: not JSON at byte 2: "
    ),
    (["doctor", "--ca", "/dev/null"], "--ca: that is for a server; name its URL"),
    (["serve", "--port", "-3"], "--port -3: use 0 to 65535"),
    (
      ["serve", "--port", "0", "--turn-tls-port", "3478"],
      "--turn-tls-port 3478: --turn-port has that one"
    ),
    (["serve", "--port", "5999", "--api-port", "5999"], "--api-port 5999: --port has that one"),
    (["help", "nonsense"], "no such command; there are serve, "),
    (["stats", url, "--channel", "c", "--type", "foo"], "--type foo: use inbound-rtp, "),
    (["publish", url, "--channel", "c", "--audio", "nofile.wav"], "No such file"),
    (["publish", url, "--channel", "c", "--ca", "/dev/null"], "no PEM certificate"),
    (["play", url, "--channel", "c", "--proxy", "http://h:0"], "--proxy: write http://HOST:PORT"),
    (["serve", "--tls-cert", "/dev/null", "--tls-key", "/dev/null"], "--tls-cert /dev/null: "),
    (["serve", "--media-address", "192.0.2.77"], "not of this machine; it has "),
  ])
  func theLineSaysWhatToChange(_ arguments: [String], _ text: String) throws {
    let run = try Run(arguments)
    #expect(run.status == 2)
    #expect(run.errors.contains(text), "\(run.errors)")
    #expect(!run.errors.contains("errno") && !run.errors.contains("Missing value"))
    #expect(run.errors.split(separator: "\n").count == 1, "\(run.errors)")
  }

  @Test(arguments: [["--version"], ["serve", "--version"], ["play", "--version"]])
  func versionsAreTold(_ arguments: [String]) throws {
    let run = try Run(arguments)
    #expect(run.status == 0)
    #expect(run.output.split(separator: "\n").count == 1)
    #expect(run.output.first?.isNumber == true)
    #expect(run.errors.isEmpty)
  }

  @Test(arguments: ["publish", "play", "message"])
  func aServerThatIsNotThereEndsWithOneAndOneLine(_ command: String) throws {
    let label = command == "message" ? ["--label", "#chat"] : []
    let run = try Run([command, Self.url, "--channel", "c", "--json"] + label)
    #expect(run.status == 1)
    let lines = run.errors.split(separator: "\n")
    #expect(lines.count == 1, "\(run.errors)")
    #expect(lines.first?.hasPrefix("sora: signaling: ") == true)
    // The summary is there all the same, and names the error.
    let summary = try #require(
      try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
    #expect(summary["type"] as? String == "summary")
    #expect((summary["error"] as? String)?.isEmpty == false)
  }

  /// What is to be sent is the sender's to choose: it comes as far as the server that isn't there.
  @Test(arguments: ["-x", "- a list's line", "--json"])
  func aMessageMayBeginWithADash(_ text: String) throws {
    let run = try Run(["message", Self.url, "--channel", "c", "--label", "#a", "--send", text])
    #expect(run.status == 1)
    #expect(run.errors.hasPrefix("sora: signaling: "), "\(run.errors)")
  }

  @Test func helpIsNoError() throws {
    let run = try Run(["play", "--help"])
    #expect(run.status == 0)
    #expect(run.output.contains("--channel"))
    #expect(run.errors.isEmpty)
  }
}
