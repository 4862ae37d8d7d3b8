import Foundation
import SoraCommandSupport
import SoraServer
import Testing

/// `sora message` and `sora stats` beside a server.
@Suite(.timeLimit(.minutes(5))) struct MessageTests {
  /// A `sora message` that reads, and the lines that it prints.
  private final class Listener {
    let process = Process()
    /// What it is told of what it is to send, which doesn't end.
    private let input = Pipe()
    private var lines: AsyncStream<String>.Iterator

    init(_ arguments: [String], command: String = "message") throws {
      process.executableURL = try Run.command()
      process.arguments = [command] + arguments
      let pipe = Pipe()
      process.standardOutput = pipe
      process.standardError = FileHandle.nullDevice
      process.standardInput = input
      let (stream, continuation) = AsyncStream.makeStream(of: String.self)
      lines = stream.makeAsyncIterator()
      try process.run()
      Thread.detachNewThread {
        var text = ""
        while true {
          let data = pipe.fileHandleForReading.availableData
          guard !data.isEmpty else { break }
          text += String(decoding: data, as: UTF8.self)
          while let end = text.firstIndex(of: "\n") {
            continuation.yield(String(text[..<end]))
            text = String(text[text.index(after: end)...])
          }
        }
        continuation.finish()
      }
    }

    func line(isolation: isolated (any Actor)? = #isolation) async -> String? {
      await lines.next(isolation: isolation)
    }

    func object() async throws -> [String: Any] {
      let line = try #require(await line())
      return try #require(
        try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
  }

  @Test func linesGoFromOneToTheOther() async throws {
    let server = try await SoraServer.start()
    let listener = try Listener([
      server.url, "--channel", "c", "--label", "#chat", "--header", "--compress", "--json",
      "--count", "3", "--ignore-disconnect-websocket",
    ])
    let opening = try await listener.object()
    #expect(opening["type"] as? String == "connected")
    let sent = try await Run.beside(
      [
        "message", server.url, "--channel", "c", "--label", "#chat", "--send", "first", "--send",
        "-", "--json",
      ], input: "zweite ü\nthird\u{1B}[31m\n")
    #expect(sent.status == 0, "\(sent.errors)")
    #expect(sent.output.contains("\"sent\":3"), "\(sent.output)")
    let sender = try #require(
      sent.output.split(separator: "\"").first { $0.count == 26 && $0.allSatisfy(\.isASCII) })
    for text in ["first", "zweite ü", "third\u{1B}[31m"] {
      let message = try await listener.object()
      #expect(message["type"] as? String == "message" && message["label"] as? String == "#chat")
      #expect(message["text"] as? String == text)
      #expect(message["senderConnectionId"] as? String == String(sender))
    }
    let summary = try await listener.object()
    #expect(summary["type"] as? String == "summary" && summary["received"] as? Int == 3)
    #expect(summary["error"] == nil)
    #expect(await listener.line() == nil)
    listener.process.waitUntilExit()
    #expect(listener.process.terminationStatus == 0)
    await server.shutdown()
  }

  /// A server that ends a connection in order leaves undone what was asked for, and says why.
  @Test(arguments: [
    (["--count", "3"], "after 0 of 3 messages"), (["--send", "-"], "before all was sent"),
    (["--duration", "1000"], "before --duration was over"), ([], nil),
  ])
  func theServerEndsItEarly(_ options: [String], _ what: String?) async throws {
    let server = try await SoraServer.start()
    let listener = try Listener(
      [server.url, "--channel", "c", "--label", "#chat", "--json"] + options)
    #expect(try await listener.object()["type"] as? String == "connected")
    #expect(await server.disconnect(channelID: "c") == 1)
    let summary = try await listener.object()
    listener.process.waitUntilExit()
    #expect(listener.process.terminationStatus == (what == nil ? 0 : 1))
    let reason = try #require(summary["closeReason"] as? String)
    #expect(
      summary["error"] as? String
        == what.map { "signaling: the server ended the connection \($0): \(reason)" })
    await server.shutdown()
  }

  @Test func theServerEndsTheStatisticsEarly() async throws {
    let server = try await SoraServer.start()
    let listener = try Listener(
      [server.url, "--channel", "c", "--interval", "0.1", "--count", "1000000", "--json"],
      command: "stats")
    _ = try await listener.object()
    #expect(await server.disconnect(channelID: "c") == 1)
    while await listener.line() != nil {}
    listener.process.waitUntilExit()
    #expect(listener.process.terminationStatus == 1)
    await server.shutdown()
  }

  /// Who publishes is told why the server has ended it, and who plays, too: as an error where there was nothing to see.
  @Test func theServerEndsACallWithItsReason() async throws {
    let server = try await SoraServer.start()
    let arguments = [server.url, "--channel", "c", "--json"]
    let player = try ServedProgram(["play"] + arguments)
    let early = try #require(try await player.line { $0.contains("\"type\":\"stats\"") })
    #expect(early.contains("\"connectionId\":\""))
    #expect(await server.disconnect(channelID: "c") == 1)
    let ended = "signaling: the server ended the connection"
    #expect(
      try await player.summary()["error"] as? String
        == "\(ended) before media came: DISCONNECTED-API")
    #expect(player.status() == 1)
    let publisher = try ServedProgram(["publish"] + arguments + ["--video", "none"])
    let patient = try ServedProgram(["play"] + arguments)
    let timed = try ServedProgram(["play"] + arguments + ["--duration", "1000"])
    for player in [patient, timed] {
      _ = try await player.line {
        $0.contains("\"type\":\"stats\"") && $0.contains("\"levelDb\":-")
      }
    }
    #expect(await server.disconnect(channelID: "c") == 3)
    #expect(try await publisher.summary()["error"] as? String == "\(ended): DISCONNECTED-API")
    #expect(publisher.status() == 1)
    #expect(
      try await timed.summary()["error"] as? String
        == "\(ended) before --duration was over: DISCONNECTED-API")
    #expect(timed.status() == 1)
    #expect(try await patient.summary()["error"] is NSNull)
    #expect(patient.status() == 0)
    await server.shutdown()
  }

  /// What others send can neither forge lines nor drive the terminal.
  @Test func linesForPeople() {
    let sender = String(repeating: "A", count: 26)
    let forged = MessageText(
      label: "#chat", senderConnectionId: sender, data: Data("x\n#chat B: y\u{1B}[31m".utf8))
    #expect(forged.line == "#chat \(sender): x\\n#chat B: y\\u{1b}[31m")
    let bytes = MessageText(label: "#chat", senderConnectionId: nil, data: Data([0xFF, 0]))
    #expect(bytes.line == "#chat: (2 bytes)")
    #expect(
      bytes.jsonLine == ##"{"bytes":2,"data":"/wA=","label":"#chat","type":"message"}"##)
  }

  /// Feedback by source is offered where asked for, and loopback carries what it tells of.
  @Test(arguments: [true, false]) func marks(_ isAskedFor: Bool) async throws {
    let (server, port) = try await ServedProgram.serve(isAskedFor ? ["--ecn"] : [])
    defer { server.interrupt() }
    let url = "ws://127.0.0.1:\(port)/signaling"
    let publisher = try ServedProgram([
      "publish", url, "--channel", "c", "--video-codec", "vp8", "--resolution", "320x180", "--json",
    ])
    defer { publisher.interrupt() }
    let run = try await Run.beside([
      "stats", url, "--channel", "c", "--json", "--interval", "2", "--count", "1", "--type",
      "inbound-rtp",
    ])
    #expect(run.status == 0, "\(run.errors)")
    let report = try #require(
      try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any])
    let objects = try #require(report["statistics"] as? [[String: Any]])
    #expect(!objects.isEmpty)
    for object in objects {
      let marked = try #require(object["packetsReceivedWithEct1"] as? Int)
      #expect(isAskedFor ? marked > 10 : marked == 0, "\(object)")
    }
  }

  @Test func statistics() async throws {
    let server = try await SoraServer.start()
    let run = try await Run.beside([
      "stats", server.url, "--channel", "c", "--json", "--interval", "0.2", "--count", "2",
      "--type", "transport", "--type", "data-channel",
    ])
    #expect(run.status == 0, "\(run.errors)")
    let lines = run.output.split(separator: "\n")
    #expect(lines.count == 2)
    for line in lines {
      let report = try #require(
        try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      let objects = try #require(report["statistics"] as? [[String: Any]])
      #expect(Set(objects.compactMap { $0["type"] as? String }) == ["transport", "data-channel"])
    }
    let people = try await Run.beside([
      "stats", server.url, "--channel", "c", "--interval", "0.2", "--count", "1", "--type",
      "transport",
    ])
    #expect(people.output.hasPrefix("transport "), "\(people.output)")
    #expect(people.output.contains("\n  dtlsState: connected\n"), "\(people.output)")
    await server.shutdown()
  }
}
