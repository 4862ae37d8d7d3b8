import Foundation
import SoraAudioDevices
import SoraClock
import SoraMedia
import SoundServer
import Synchronization
import TestPrograms
import Testing

/// Sound from a microphone to a loudspeaker, through both commands and a server, with a sound server of the test's own.
@Suite(
  .enabled(if: SoundServer.isInstalled, "\(SoundServer.requirement)"), .timeLimit(.minutes(2)))
struct SoundTests {
  /// Runs a call from the microphone `mic.monitor` to the speaker `t` for some seconds.
  ///
  /// - Parameters:
  ///   - speak: fills what the microphone hears, 10 ms of one channel.
  ///   - hear: gets what the speaker plays, likewise.
  private static func call(
    seconds: Int, speak: @escaping @Sendable (inout AudioFrame) -> Void,
    hear: @escaping @Sendable (AudioFrame) -> Void
  ) async throws {
    let sound = try SoundServer()
    let server = Process()
    server.executableURL = try Run.command()
    server.arguments = ["serve", "--port", "0"]
    let pipe = Pipe()
    server.standardOutput = pipe
    try server.run()
    defer {
      server.interrupt()
      server.waitUntilExit()
    }
    var printed = ""
    while !printed.contains("--channel") {
      let data = pipe.fileHandleForReading.availableData
      try #require(!data.isEmpty, "the server has ended")
      printed += String(decoding: data, as: UTF8.self)
    }
    let words = printed.split(whereSeparator: \.isWhitespace)
    let url = String(try #require(words.first { $0.hasPrefix("ws://") }))
    let devices = try sound.backend.devices()
    let voice = try AudioPlayback(
      sound.backend, devices.device(named: "mic", .output), channels: 1, fill: speak,
      notify: { _ in })
    let ear = try AudioCapture(
      sound.backend, devices.device(named: "t.monitor", .input), channels: 1, deliver: hear,
      notify: { _ in })
    defer {
      voice.stop()
      ear.stop()
    }
    let sora = try Run.command().path
    let outputs = ["publish", "play"].map { sound.folder.appendingPathComponent("\($0).log") }
    async let published = TestPrograms.run(
      [
        sora, "publish", url, "--channel", "c", "--video", "none", "--audio", "mic",
        "--no-noise-suppression", "--no-gain-control", "--duration", "\(seconds + 5)",
      ], output: outputs[0], environment: sound.environment)
    let played = try await TestPrograms.run(
      [
        sora, "play", url, "--channel", "c", "--video", "none", "--audio", "speaker:t",
        "--duration", "\(seconds)", "--timeout", "60",
      ], output: outputs[1], environment: sound.environment)
    let publishedStatus = try await published
    let text = try outputs.map { try String(contentsOf: $0, encoding: .utf8) }
    #expect(played == 0, "\(text[1])")
    #expect(publishedStatus == 0, "\(text[0])")
  }

  @Test func fromMicrophoneToSpeaker() async throws {
    let position = Mutex(0)
    let loudest = Mutex((tone: 0.0, block: [Int16]()))
    try await Self.call(seconds: 5) { frame in
      let start = position.withLock { position in
        defer { position += 480 }
        return position
      }
      Sine.fill(&frame, hertz: 440, from: start)
    } hear: { frame in
      loudest.withLock { loudest in
        loudest.block += frame.samples
        guard loudest.block.count >= 24_000 else { return }
        loudest.tone = max(loudest.tone, Sine.amplitude(of: 440, in: loudest.block))
        loudest.block = []
      }
    }
    let tone = loudest.withLock { $0.tone }
    print("the tone of 8000 came with an amplitude of", tone)
    #expect(tone > 6_000 && tone < 9_000)
  }

  /// Beeps of 100 ms, one in a second: from the block in which one begins to the one in which it is heard.
  @Test func latencyFromMouthToEar() async throws {
    struct State {
      var blocks = 0
      var spoken: Instant?
      var delays: [Duration] = []
    }
    let state = Mutex(State())
    try await Self.call(seconds: 20) { frame in
      let turn = state.withLock { state in
        defer { state.blocks += 1 }
        if state.blocks % 100 == 0 { state.spoken = SystemClock.now }
        return state.blocks % 100
      }
      guard turn < 10 else { return }
      for index in 0..<480 {
        frame.samples[index] = Int16(sin(2 * Double.pi * Double(index) / 48) * 12_000)
      }
    } hear: { frame in
      let now = SystemClock.now
      guard frame.samples.contains(where: { $0 > 3_000 }) else { return }
      state.withLock { state in
        guard let spoken = state.spoken else { return }
        state.spoken = nil
        state.delays.append(now - spoken)
      }
    }
    // The first beep may have begun before there was a call.
    let delays = state.withLock { $0.delays }.dropFirst().sorted()
    try #require(delays.count > 5)
    let (median, late) = (delays[delays.count / 2], delays[delays.count * 95 / 100])
    print("from mouth to ear: p50 \(median), p95 \(late), of \(delays.count)")
    #expect(median < .seconds(1))
  }

  @Test func devicesAreListed() async throws {
    let sound = try SoundServer()
    let output = sound.folder.appendingPathComponent("devices.log")
    let status = try await TestPrograms.run(
      [Run.command().path, "devices", "--json"], output: output, environment: sound.environment)
    #expect(status == 0)
    let text = try String(contentsOf: output, encoding: .utf8)
    let found = text.split(separator: "\n").filter { $0.contains(#""system":"PulseAudio""#) }
    #expect(found.count == 4)
    #expect(found.contains { $0.contains(#""id":"t","isDefault":true"#) })
  }

  @Test func noSoundServerIsOneLine() async throws {
    let output = FileManager.default.temporaryDirectory
      .appendingPathComponent("sora-nosound-\(UUID().uuidString).log")
    defer { try? FileManager.default.removeItem(at: output) }
    let status = try await TestPrograms.run(
      [
        Run.command().path, "publish", "ws://127.0.0.1:1/signaling", "--channel", "c", "--audio",
        "mic:no such one",
      ], output: output,
      environment: [
        "PULSE_SERVER": "unix:/nowhere/native", "XDG_RUNTIME_DIR": "/nowhere",
        "ALSA_CONFIG_PATH": "/dev/null",
      ])
    let text = try String(contentsOf: output, encoding: .utf8)
    #expect(status == 2 && text.split(separator: "\n").count == 1, "\(text)")
    #expect(text.hasPrefix("sora: --audio mic:no such one: no "), "\(text)")
  }
}
