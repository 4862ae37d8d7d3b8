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
  /// A tone that goes on, and how loud it was heard in half a second.
  private final class Tone: Sendable {
    private let position = Mutex(0)
    private let heard = Mutex((block: [Int16](), amplitudes: [Double]()))

    func speak(_ frame: inout AudioFrame) {
      let start = position.withLock { position in
        defer { position += 480 }
        return position
      }
      Sine.fill(&frame, hertz: 440, from: start)
    }

    func hear(_ frame: AudioFrame) {
      heard.withLock { heard in
        heard.block += frame.samples
        guard heard.block.count >= 24_000 else { return }
        heard.amplitudes.append(Sine.amplitude(of: 440, in: heard.block))
        heard.block = []
      }
    }

    var amplitudes: [Double] { heard.withLock { $0.amplitudes } }

    /// Waits until it is heard as it was spoken, in something heard from now on.
    func isHeardAnew() async throws {
      let before = amplitudes.count
      while !amplitudes.dropFirst(before + 1).contains(where: { $0 > 6_000 && $0 < 9_000 }) {
        try await Task.sleep(for: .milliseconds(50))
      }
    }
  }

  @Test(
    .enabled(if: SoundServer.areAllInstalled, "\(SoundServer.allRequirement)"),
    arguments: SoundServer.System.allCases)
  func fromMicrophoneToSpeaker(on system: SoundServer.System) async throws {
    let tone = Tone()
    let call = try SoundCall(
      SoundServer(system), seconds: 5, options: SoundCall.unprocessed, speak: tone.speak,
      hear: tone.hear)
    try await call.end()
    let loudest = tone.amplitudes.max() ?? 0
    print("the tone of 8000 came with an amplitude of", loudest)
    #expect(loudest > 6_000 && loudest < 9_000)
  }

  /// Unplugged in mid-call, one after the other, and plugged in again: each command says so, and what is said is heard again.
  @Test func devicesGoAndComeBack() async throws {
    let sound = try SoundServer()
    func plugIn(_ name: String) throws -> String {
      try sound.control("load-module", "module-null-sink", "sink_name=\(name)", "rate=48000")
    }
    var modules = ["desk": try plugIn("desk"), "headset": try plugIn("headset")]
    let tone = Tone()
    let call = try SoundCall(
      sound, microphone: "desk", speaker: "headset", seconds: 90, options: SoundCall.unprocessed,
      speak: tone.speak, hear: tone.hear)
    try await tone.isHeardAnew()
    for (name, side, device) in [
      ("desk", SoundCall.Side.publisher, "microphone"), ("headset", .player, "speaker"),
    ] {
      let module = try #require(modules[name])
      try sound.control("unload-module", module)
      try await call.says("sora: --audio: \(name)", side)
      modules[name] = try plugIn(name)
      try await call.says("sora: --audio: the \(device) is back", side)
      try await tone.isHeardAnew()
    }
    call.interrupt()
    try await call.end()
  }

  /// Sentences of espeak-ng's, processed as a microphone's sound is by default: what is heard is loud and soft when they were.
  @Test(.enabled(if: Speech.isInstalled, "\(Speech.requirement)"))
  func speechGoesThrough() async throws {
    let speech = try Speech(
      "The quick brown fox jumps over the lazy dog. A robot streams its camera to the people who drive it."
    )
    let heard = Mutex([Int16]())
    let position = Mutex(0)
    let call = try SoundCall(SoundServer(), seconds: 12) { frame in
      let start = position.withLock { position in
        defer { position += 480 }
        return position
      }
      for index in 0..<480 { frame.samples[index] = speech[start + index] }
    } hear: { frame in
      heard.withLock { $0 += frame.samples }
    }
    try await call.end()
    let likeness = speech.likeness(to: heard.withLock { $0 })
    print("what was heard is like what was said by", likeness)
    #expect(likeness > 0.85)
  }

  /// Beeps of 100 ms, one in a second: from the block in which one begins to the one in which it is heard.
  @Test(
    .enabled(if: SoundServer.areAllInstalled, "\(SoundServer.allRequirement)"),
    arguments: SoundServer.System.allCases)
  func latencyFromMouthToEar(on system: SoundServer.System) async throws {
    struct State {
      var blocks = 0
      var spoken: Instant?
      var delays: [Duration] = []
    }
    let state = Mutex(State())
    let sound = try SoundServer(system)
    let call = try SoundCall(sound, seconds: 20, options: SoundCall.unprocessed) { frame in
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
    try await call.end()
    // The first beep may have begun before there was a call.
    let delays = state.withLock { $0.delays }.dropFirst().sorted()
    try #require(delays.count > 5)
    let (median, late) = (delays[delays.count / 2], delays[delays.count * 95 / 100])
    print("from mouth to ear on \(system): p50 \(median), p95 \(late), of \(delays.count)")
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
