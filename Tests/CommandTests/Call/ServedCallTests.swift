import Foundation
import SoraSignaling
import Testing

/// The options of `sora publish` and `sora play` about a connection's part in the channel, beside a real `sora serve`.
@Suite(.timeLimit(.minutes(3))) struct ServedCallTests {
  private func publisher(
    _ port: Int, channel: String = "c", _ options: [String]
  ) throws -> ServedProgram {
    try ServedProgram(
      [
        "publish", "ws://127.0.0.1:\(port)/signaling", "--channel", channel, "--video-codec", "vp8",
        "--resolution", "640x360", "--fps", "15", "--json",
      ] + options)
  }

  private func play(
    _ port: Int, channel: String = "c", _ options: [String]
  ) async throws -> [String: Any] {
    let program = try ServedProgram(
      [
        "play", "ws://127.0.0.1:\(port)/signaling", "--channel", channel, "--json", "--duration",
        "1.5",
      ] + options)
    defer { program.interrupt() }
    return try await program.summary()
  }

  private func video(_ summary: [String: Any]) -> [String: Any]? {
    summary["video"] as? [String: Any]
  }

  @Test func aLayerOfASimulcast() async throws {
    let (server, port) = try await ServedProgram.serve()
    defer { server.interrupt() }
    let publisher = try publisher(port, ["--simulcast", "--role", "sendrecv"])
    defer { publisher.interrupt() }
    // The layers have a quarter, a half and all of the picture's width.
    for (options, width) in [(["--rid", "r0"], 160), (["--simulcast-rid", "r1"], 320)] {
      let summary = try await play(port, options + ["--role", "sendrecv"])
      #expect(video(summary)?["width"] as? Int == width, "\(summary)")
      #expect(summary["error"] is NSNull, "\(summary)")
    }
  }

  /// The pattern tells when it was made: what is held back is as much older.
  @Test func picturesAreHeldAsLongAsWasAsked() async throws {
    let (server, port) = try await ServedProgram.serve()
    defer { server.interrupt() }
    let publisher = try publisher(port, [])
    defer { publisher.interrupt() }
    var delays: [Int] = []
    for target in ["0", "700"] {
      let summary = try await play(port, ["--jitter-buffer-target", target, "--duration", "4"])
      let latency = try #require(video(summary)?["latencyMs"] as? [String: Any], "\(summary)")
      delays.append(try #require(latency["p50"] as? Int, "\(summary)"))
    }
    #expect((600...1_000).contains(delays[1] - delays[0]), "\(delays) ms")
  }

  /// Ten bits a sample all the way from the pattern to a file; and eight where nobody asks.
  @Test(arguments: [("vp9", 10), ("av1", 10), ("vp9", 8)])
  func samplesOfTenBits(_ codec: String, _ bits: Int) async throws {
    let (server, port) = try await ServedProgram.serve()
    defer { server.interrupt() }
    let publisher = try publisher(port, ["--video-codec", codec, "--bit-depth", "\(bits)"])
    defer { publisher.interrupt() }
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID()).y4m")
    defer { try? FileManager.default.removeItem(at: file) }
    let summary = try await play(port, ["--record", file.path])
    #expect(video(summary)?["codec"] as? String == codec.uppercased(), "\(summary)")
    // The pattern is known again and compared.
    #expect(try #require(video(summary)?["psnrDb"] as? Double) > 30, "\(summary)")
    let header = try String(
      decoding: Data(contentsOf: file).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    #expect(header.contains(bits == 10 ? " C420p10 " : " C420jpeg"), "\(header)")
  }

  /// The tone goes over G.711, and is as loud at the other end.
  @Test func soundInG711() async throws {
    let (server, port) = try await ServedProgram.serve()
    defer { server.interrupt() }
    let publisher = try publisher(port, ["--audio-codec", "pcmu"])
    defer { publisher.interrupt() }
    let summary = try await play(port, ["--video", "none"])
    let audio = try #require(summary["audio"] as? [String: Any], "\(summary)")
    #expect(audio["codec"] as? String == "PCMU")
    #expect(try #require(audio["levelDb"] as? Double) > -40)
    // And an Opus beside it.
    let other = try self.publisher(port, channel: "d", [])
    defer { other.interrupt() }
    let opus = try await play(port, channel: "d", ["--video", "none"])
    #expect((opus["audio"] as? [String: Any])?["codec"] as? String == "opus", "\(opus)")
  }

  /// What the layers have in common is counted once.
  @Test func layersAreOnePublishersFrames() async throws {
    let (server, port) = try await ServedProgram.serve()
    defer { server.interrupt() }
    let publisher = try publisher(port, ["--simulcast", "--duration", "2"])
    let summary = try await publisher.summary()
    let frames = try #require(video(summary)?["frames"] as? Int)
    // Two seconds of 15 frames per second; three times as many were all layers'.
    #expect((10...45).contains(frames), "\(summary)")
    publisher.interrupt()
  }

  @Test func aFilterKeepsSoundAway() async throws {
    let (server, port) = try await ServedProgram.serve()
    defer { server.interrupt() }
    let publisher = try publisher(port, [])
    defer { publisher.interrupt() }
    let filter =
      #"{"action":"block","rules":[[{"field":"kind","operator":"is_in","values":["audio"]}]]}"#
    for options in [
      ["--forwarding-filter", filter],
      [
        "--forwarding-filter", filter, "--forwarding-filter",
        #"{"name":"other","action":"block","rules":[]}"#,
      ],
    ] {
      let summary = try await play(port, options)
      #expect(video(summary)?["frames"] as? Int ?? 0 > 0, "\(summary)")
      #expect(summary["audio"] is NSNull, "\(summary)")
    }
    #expect(try await play(port, [])["audio"] is [String: Any])
  }

  /// What `connect` carries, which a server that has no spotlight can't show.
  @Test func theWishesAreSent() async throws {
    let (messages, continuation) = AsyncStream.makeStream(of: SignalingMessage.self)
    let server = try await SignalingServer.start(configuration: .init()) { connection in
      Task {
        for await event in connection.messages {
          guard case .text(let text) = event, let message = try? SignalingMessage(parsing: text)
          else { continue }
          continuation.yield(message)
          connection.close(code: .signalingError, reason: "SEEN")
        }
      }
    }
    let url = "ws://127.0.0.1:\(server.boundPort)/signaling"
    let options = [
      "play", url, "--channel", "c", "--role", "sendrecv", "--rid", "none", "--spotlight",
      "--spotlight-number", "3", "--spotlight-focus-rid", "r2", "--spotlight-unfocus-rid", "none",
      "--forwarding-filter", #"{"name":"f","priority":7,"rules":[],"metadata":{"m":1}}"#,
    ]
    let run = try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread { continuation.resume(with: Result { try Run(options) }) }
    }
    #expect(run.status == 1 && run.errors.contains("SEEN"), "\(run.errors)")
    continuation.finish()
    let json = try #require(await messages.first { _ in true }?.json.objectValue)
    #expect(json["role"] == "sendrecv" && json["simulcast"] == true)
    #expect(json["simulcast_request_rid"] == "none" && json["simulcast_rid"] == nil)
    #expect(json["spotlight"] == true && json["spotlight_number"] == 3)
    #expect(json["spotlight_focus_rid"] == "r2" && json["spotlight_unfocus_rid"] == "none")
    #expect(
      json["forwarding_filter"] == ["name": "f", "priority": 7, "rules": [], "metadata": ["m": 1]])
    await server.stop()
  }

  /// A server that crashes and is there again: the call goes on, on both sides.
  @Test func theConnectionIsMadeAnew() async throws {
    let (first, port) = try await ServedProgram.serve()
    let publisher = try publisher(port, ["--reconnect", "--duration", "60"])
    defer { publisher.interrupt() }
    let told = FileManager.default.temporaryDirectory
      .appendingPathComponent("sora-told-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: told) }
    let player = try ServedProgram(
      ["play", "ws://127.0.0.1:\(port)/signaling", "--channel", "c", "--json", "--reconnect"],
      errors: told)
    defer { player.interrupt() }
    func plays(anew: Int) async throws -> Bool {
      let live = "\"streamsLive\":1"
      let again = "\"reconnections\":\(anew)"
      return try await player.line {
        $0.contains(again) && $0.contains(live) && !$0.contains("\"video\":null")
      } != nil
    }
    #expect(try await plays(anew: 0))
    first.crash()
    let (second, _) = try await ServedProgram.serve(port: port)
    defer { second.interrupt() }
    #expect(try await plays(anew: 1))
    // People are told of both: of the loss, and that it is over.
    let notes = try String(contentsOf: told, encoding: .utf8)
    #expect(notes.contains("; attempt 1 to connect anew\n"), "\(notes)")
    #expect(notes.hasSuffix("sora: connected anew\n"), "\(notes)")
    // And what the publisher sent before the loss stays counted.
    let line = try #require(try await publisher.line { $0.contains("\"reconnections\":1") })
    #expect(line.contains("\"error\":null"))
  }

  /// Without the option it ends.
  @Test func aLostConnectionEndsTheCall() async throws {
    let (server, port) = try await ServedProgram.serve()
    let publisher = try publisher(port, [])
    _ = try await publisher.line { $0.contains("\"type\":\"stats\"") }
    server.crash()
    let summary = try await publisher.summary()
    #expect((summary["error"] as? String)?.hasPrefix("signaling: ") == true, "\(summary)")
    publisher.interrupt()
  }
}
