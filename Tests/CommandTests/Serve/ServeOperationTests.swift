import Foundation
import Testing

/// `sora serve` as a service manager sees it: settings, log, signals.
@Suite(.timeLimit(.minutes(5))) struct ServeOperationTests {
  private func folder() throws -> URL {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("sora-serve-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  private func write(_ text: String, to name: String, in folder: URL) throws -> String {
    let file = folder.appendingPathComponent(name)
    try Data(text.utf8).write(to: file)
    return file.path
  }

  @Test func thePrintedSettingsAreRightAsTheyAreAndWithEachDefault() throws {
    let folder = try folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let printed = try Run(["serve", "--print-config"])
    #expect(printed.status == 0, "\(printed.errors)")
    for key in [
      "host", "port", "media-address", "drain-time", "secret-key-file", "turn", "log-format",
    ] {
      #expect(printed.output.contains("\n#\(key) = "), "\(key)")
    }
    #expect(!printed.output.contains("print-config"))
    let file = try write(printed.output, to: "printed.conf", in: folder)
    let check = try Run(["serve", "--config", file, "--check-config"])
    #expect(check.status == 0, "\(check.errors)")
    // Those with a default, without their comment signs, say what holds anyway.
    let defaults = printed.output.split(separator: "\n").filter {
      $0.hasPrefix("#") && $0.contains(" = ") && !$0.hasPrefix("# ")
        && ["port", "host", "drain-time", "log-format", "turn", "max-connections", "ice-policy"]
          .contains($0.dropFirst().prefix { $0 != " " })
    }
    #expect(defaults.count == 7)
    let open = try write(
      defaults.map { String($0.dropFirst()) }.joined(separator: "\n"), to: "open.conf", in: folder)
    let second = try Run(["serve", "--config", open, "--check-config"])
    #expect(second.status == 0, "\(second.errors)")
  }

  @Test func eachErrorIsToldWithLineAndKey() throws {
    let folder = try folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let syntax = try write(
      """
      host = "127.0.0.1"
      port = many
      colour = "red"
      turn = 3
      host = "::1"
      [table]
      log-format = "text" trailing
      media-address = ["127.0.0.1", ]
      record = "open
      max-connections = "some"
      """, to: "syntax.conf", in: folder)
    let first = try Run(["serve", "--config", syntax, "--check-config"])
    #expect(first.status == 2)
    let told = first.errors.split(separator: "\n")
    for (line, part) in [
      (2, "port: many"), (3, "colour: there is no such"), (4, "turn: write true"),
      (5, "host: it is on line 1"), (6, "tables"), (7, "log-format: something follows"),
      (9, "record: the closing"), (10, "max-connections: "),
    ] {
      #expect(
        told.contains { $0.contains("syntax.conf: line \(line): \(part)") }, "\(line): \(told)")
    }
    #expect(told.count == 8, "\(told)")
    // What only all options together tell.
    let meaning = try write(
      "log-level = \"loud\"\nport = 70000\n\nrecordings = \"/\"\nice-policy = \"relay\"\napi-host = \"::1\"\n",
      to: "meaning.conf", in: folder)
    let second = try Run(["serve", "--config", meaning, "--check-config"])
    #expect(second.status == 2)
    for (line, key) in [
      (1, "log-level"), (2, "port"), (4, "recordings"), (5, "ice-policy"), (6, "api-host"),
    ] {
      #expect(
        second.errors.contains("meaning.conf: line \(line): \(key): --\(key)"), "\(second.errors)")
    }
    // Both at once, in the order of the lines.
    let mixed = try write(
      "port = 70000\ncolour = 1\nlog-level = \"loud\"\nmax-connections = 3\n",
      to: "mixed.conf", in: folder)
    let both = try Run(["serve", "--config", mixed, "--check-config"])
    #expect(both.status == 2)
    let lines = both.errors.split(separator: "\n").map { $0.firstMatch(of: /line (\d+):/)?.1 }
    #expect(lines == ["1", "2", "3"], "\(both.errors)")
    // The command line wins, there too.
    let third = try Run([
      "serve", "--config", meaning, "--check-config", "--port=0", "--log-level", "info",
      "--ice-policy", "all", "--api-port", "0", "--spotlight-number", "3",
      "--spotlight-focus-rid", "r2", "--spotlight-unfocus-rid", "none", "--spotlight-delay", "1",
    ])
    #expect(third.status == 0, "\(third.errors)")
    #expect(try Run(["serve", "--config", folder.path + "/none"]).status == 2)
    #expect(try Run(["serve", "--check-config"]).status == 2)
  }

  @Test func aServiceLogsJSONReloadsAndDrains() throws {
    let folder = try folder()
    defer { try? FileManager.default.removeItem(at: folder) }
    let key = "a-key-that-nobody-else-has-0123456789"
    let secret = try write("\(key)\n", to: "key", in: folder)
    let file = try write(
      """
      port = 0
      log-format = "json"
      log-level = "info" # who comes and goes
      secret-key-file = "\(secret)"
      drain-time = 240
      max-connections = 20
      max-channel-connections = 10
      max-address-connections = 1
      redirect-url = "ws://127.0.0.1:1/signaling"
      """, to: "sora.conf", in: folder)
    let process = Process()
    process.executableURL = try Run.command()
    process.arguments = ["serve", "--config", file, "--json"]
    let (output, log) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = log
    process.standardInput = FileHandle.nullDevice
    try process.run()
    defer { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
    var printed = Lines(output)
    var logged = Lines(log)
    let ready = try #require(try printed.object { $0["type"] as? String == "ready" })
    let url = try #require(ready["url"] as? String)
    let refused = try Run([
      "publish", url, "--channel", "c", "--duration", "0.1", "--video", "none",
    ])
    #expect(refused.status == 1)
    #expect(try logged.object { $0["message"] as? String == "refused" } != nil)
    let player = Process()
    player.executableURL = try Run.command()
    player.arguments = [
      "play", url, "--channel", "c", "--audio", "none", "--metadata",
      "{\"access_token\":\"\(key)\"}",
    ]
    player.standardOutput = FileHandle.nullDevice
    player.standardError = FileHandle.nullDevice
    try player.run()
    defer { if player.isRunning { kill(player.processIdentifier, SIGKILL) } }
    let joined = try #require(try logged.object { $0["message"] as? String == "joined" })
    #expect(joined["channel_id"] as? String == "c" && joined["level"] as? String == "info")
    #expect((joined["connection_id"] as? String)?.count == 26)
    #expect((joined["time"] as? String)?.hasSuffix("Z") == true)
    let second = try Run([
      "play", url, "--channel", "d", "--duration", "0.1", "--metadata",
      "{\"access_token\":\"\(key)\"}",
    ])
    #expect(second.status == 1 && second.errors.contains("CONNECTION-LIMIT: the address"))
    // Reads its files again, and goes on.
    kill(process.processIdentifier, SIGHUP)
    #expect(
      try logged.object { ($0["message"] as? String)?.contains("certificate") == true } != nil)
    kill(process.processIdentifier, SIGTERM)
    #expect(try logged.object { $0["message"] as? String == "draining" } != nil)
    let late = try Run(["publish", url, "--channel", "c", "--duration", "0.1", "--video", "none"])
    #expect(late.status == 1)
    #expect(process.isRunning)
    // The last one goes, and so does the server.
    player.interrupt()
    player.waitUntilExit()
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 0)
    #expect(!logged.all.contains(key))
  }

  @Test func aSecondSignalEndsAtOnce() throws {
    let process = Process()
    process.executableURL = try Run.command()
    process.arguments = [
      "serve", "--port", "0", "--drain-time", "240", "--log-level", "notice", "--json",
    ]
    let (output, log) = (Pipe(), Pipe())
    process.standardOutput = output
    process.standardError = log
    process.standardInput = FileHandle.nullDevice
    try process.run()
    defer { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
    var printed = Lines(output)
    var logged = Lines(log)
    let ready = try #require(try printed.object { $0["type"] as? String == "ready" })
    let url = try #require(ready["url"] as? String)
    let player = Process()
    player.executableURL = try Run.command()
    player.arguments = ["play", url, "--channel", "c"]
    player.standardOutput = FileHandle.nullDevice
    player.standardError = FileHandle.nullDevice
    try player.run()
    defer { if player.isRunning { kill(player.processIdentifier, SIGKILL) } }
    _ = try #require(try printed.object { $0["type"] as? String == "join" })
    kill(process.processIdentifier, SIGTERM)
    _ = try logged.text("draining")
    kill(process.processIdentifier, SIGTERM)
    process.waitUntilExit()
    #expect(process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGTERM)
  }
}

/// The lines of a program, as they come.
private struct Lines {
  private let handle: FileHandle
  private(set) var all = ""
  private var taken = 0

  init(_ pipe: Pipe) { handle = pipe.fileHandleForReading }

  /// The next line; nil at the end.
  private mutating func next() -> String? {
    while true {
      let rest = all.dropFirst(taken)
      if let end = rest.firstIndex(of: "\n") {
        let line = String(rest[..<end])
        taken += line.count + 1
        return line
      }
      let data = handle.availableData
      guard !data.isEmpty else { return nil }
      all += String(decoding: data, as: UTF8.self)
    }
  }

  /// The first line from here on that is an object and fits. Every line must be one.
  mutating func object(where fits: ([String: Any]) -> Bool) throws -> [String: Any]? {
    while let line = next() {
      let object = try #require(
        try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
      if fits(object) { return object }
    }
    return nil
  }

  /// The first line from here on that holds a text.
  mutating func text(_ part: String) throws -> String {
    while let line = next() { if line.contains(part) { return line } }
    Issue.record("no \(part) in \(all)")
    return ""
  }
}
