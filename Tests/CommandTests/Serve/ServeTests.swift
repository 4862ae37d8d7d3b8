import Foundation
import Testing

/// `sora serve` as a person sees it.
@Suite(.timeLimit(.minutes(5))) struct ServeTests {
  /// Runs a server until it has printed a line with each of `texts`, while `body` does something with its URL; returns what it
  /// printed.
  private func serve(
    _ arguments: [String], until texts: [String], _ body: (String) throws -> Void = { _ in }
  ) throws -> String {
    let process = Process()
    process.executableURL = try Run.command()
    process.arguments = ["serve", "--port", "0"] + arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardInput = FileHandle.nullDevice
    try process.run()
    defer {
      process.interrupt()
      process.waitUntilExit()
    }
    var output = ""
    var isDone = false
    while !texts.allSatisfy(output.contains) {
      let data = pipe.fileHandleForReading.availableData
      guard !data.isEmpty else { break }
      output += String(decoding: data, as: UTF8.self)
      guard !isDone, let line = output.split(separator: "\n").first, output.contains("--channel")
      else { continue }
      isDone = true
      try body(String(line.drop { $0 != "w" }))
    }
    return output
  }

  @Test func aChannelsNameCanNotForgeLines() throws {
    let name = "a\nleave evil\u{1B}[31m"
    let output = try serve([], until: ["leave"]) { url in
      let run = try Run(["publish", url, "--channel", name, "--duration", "0.1", "--video", "none"])
      #expect(run.status == 0, "\(run.errors)")
      // Nor in the client's own table.
      #expect(run.output.hasPrefix("published a\\nleave evil\\u{1b}[31m\n"))
    }
    #expect(output.contains("\njoin   a\\nleave evil\\u{1b}[31m  "), "\(output)")
    #expect(!output.contains("\nleave evil"))
    #expect(!output.contains("\u{1B}"))
  }

  @Test func theLinkNamesTheChannelOfTheExamples() throws {
    let output = try serve([], until: ["sora play"])
    #expect(output.contains("/?channel=sora\n"), "\(output)")
    #expect(output.contains("--channel sora\n"))
    #expect(!output.contains("in this network"))
  }

  @Test func aWildcardNamesEveryAddress() throws {
    let output = try serve(["--host", "0.0.0.0"], until: ["--tls-key"])
    #expect(output.contains("http://127.0.0.1:"), "\(output)")
    #expect(output.contains("only on localhost or https"))
  }

  @Test func aPortInUseIsToldInOneLine() throws {
    _ = try serve([], until: ["sora play"]) { url in
      let port = try #require(url.split(separator: ":").last?.prefix { $0.isNumber })
      let run = try Run(["serve", "--port", String(port)])
      #expect(run.status == 1)
      #expect(run.errors.contains("the port is in use"), "\(run.errors)")
      #expect(run.errors.contains("choose another port"))
      #expect(run.errors.split(separator: "\n").count == 1)
    }
  }
}
