import Foundation
import SoraAudioDevices
import SoraMedia
import SoundServer
import TestPrograms
import Testing

/// A call of both commands through a server of its own: from the microphone that hears sink `microphone`, to the sink `speaker`.
final class SoundCall {
  /// Has a microphone's sound sent as it is.
  static let unprocessed = ["--no-noise-suppression", "--no-gain-control"]

  private let sound: SoundServer
  private let server = Process()
  private let voice: AudioPlayback
  private let ear: AudioCapture
  private let publisher: TestPrograms.Running
  private let player: TestPrograms.Running

  /// Begins it.
  ///
  /// - Parameters:
  ///   - sound: a sound server that has the sinks.
  ///   - seconds: how long the player plays, at most.
  ///   - options: the publisher's.
  ///   - speak: fills what the microphone hears, 10 ms of one channel.
  ///   - hear: gets what the speaker plays, likewise.
  init(
    _ sound: SoundServer, microphone: String = "mic", speaker: String = "t", seconds: Int,
    options: [String] = [], speak: @escaping @Sendable (inout AudioFrame) -> Void,
    hear: @escaping @Sendable (AudioFrame) -> Void
  ) throws {
    self.sound = sound
    let pipe = Pipe()
    server.executableURL = try Run.command()
    server.arguments = ["serve", "--port", "0"]
    server.standardOutput = pipe
    try server.run()
    do {
      var printed = ""
      while !printed.contains("--channel") {
        let data = pipe.fileHandleForReading.availableData
        try #require(!data.isEmpty, "the server has ended")
        printed += String(decoding: data, as: UTF8.self)
      }
      let words = printed.split(whereSeparator: \.isWhitespace)
      let url = String(try #require(words.first { $0.hasPrefix("ws://") }))
      voice = try sound.playback(into: microphone, fill: speak)
      ear = try sound.capture(from: speaker, deliver: hear)
      let sora = try Run.command().path
      // Both run before anybody waits: with `async let` the publisher would wait for a thread, beside many tests until the player has given up.
      publisher = try TestPrograms.start(
        [
          sora, "publish", url, "--channel", "c", "--video", "none", "--audio",
          "mic:\(microphone).monitor", "--duration", "\(seconds + 5)",
        ] + options, output: Side.publisher.log(sound), environment: sound.environment)
      player = try TestPrograms.start(
        [
          sora, "play", url, "--channel", "c", "--video", "none", "--audio", "speaker:\(speaker)",
          "--duration", "\(seconds)", "--timeout", "60",
        ], output: Side.player.log(sound), environment: sound.environment)
    } catch {
      server.interrupt()
      throw error
    }
  }

  deinit {
    interrupt()
    voice.stop()
    ear.stop()
    server.interrupt()
    server.waitUntilExit()
  }

  /// Of whom something is asked.
  enum Side: String {
    case publisher, player

    fileprivate func log(_ sound: SoundServer) -> URL {
      sound.folder.appendingPathComponent("\(rawValue).log")
    }
  }

  /// What a command has printed so far.
  func text(of side: Side) throws -> String {
    try String(contentsOf: side.log(sound), encoding: .utf8)
  }

  /// Waits until a command has printed something.
  func says(_ words: String, _ side: Side) async throws {
    while try !text(of: side).contains(words) { try await Task.sleep(for: .milliseconds(20)) }
  }

  /// Has both commands end now, as Ctrl-C does.
  func interrupt() {
    player.interrupt()
    publisher.interrupt()
  }

  /// Waits until both commands have ended, by their durations where nobody interrupts them; both must have succeeded.
  func end() async throws {
    let (played, published) = (await player.status(), await publisher.status())
    let texts = try (text(of: .player), text(of: .publisher))
    #expect(played == 0, "\(texts.0)")
    #expect(published == 0, "\(texts.1)")
  }
}
