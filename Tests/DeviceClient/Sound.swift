import Foundation
import SoraAudioDevices
import SoraMedia
import SoundServer
import Synchronization

/// A tone through a card whose two ends are joined (snd-aloop): what goes into the one device comes out of the other. Then a third who
/// opens it, and the card that goes and comes back while it sounds.
///
/// Both ends have two channels: the loop takes the format of who is ready first, and if they opened it anew at once with two formats, the
/// microphone would be refused until the loudspeaker let go.
///
/// - Parameter card: a part of the card's name.
func sound(_ card: String) async throws {
  let devices = try AudioDevice.all(.alsa)
  write(["type": "sounds", "known": devices.map { "\($0.direction) \($0.id) \($0.name)" }])
  let output = try devices.device(named: "hw:CARD=\(card),DEV=0", .output)
  let input = try devices.device(named: "hw:CARD=\(card),DEV=1", .input)
  let ear = Ear()
  let position = Mutex(0)
  let playback = try AudioPlayback(output, channels: 2) { frame in
    let start = position.withLock { position in
      defer { position += frame.frameCount }
      return position
    }
    Sine.fill(&frame, hertz: Ear.tone, from: start)
  } notify: {
    tell("loudspeaker", $0)
  }
  let capture = try AudioCapture(input, channels: 2, deliver: { ear.hear($0) }) {
    tell("microphone", $0)
  }
  defer {
    playback.stop()
    capture.stop()
  }
  try await wait("the tone", seconds: 20) { ear.hasHeardTone }
  let (played, heard) = (playback.statistics, capture.statistics)
  write([
    "type": "tone", "amplitude": ear.amplitude(of: Ear.tone), "other": ear.amplitude(of: 660),
    "underruns": played.overruns, "overruns": heard.overruns,
    "latency": played.latency?.inMilliseconds ?? -1,
    "heardLatency": heard.latency?.inMilliseconds ?? -1,
  ])

  // A device has two places. Who wants another format has ALSA's converter before it.
  let second = try AudioCapture(input, channels: 1, deliver: { _ in }, notify: { _ in })
  do {
    let third = try AudioCapture(input, channels: 1, deliver: { _ in }, notify: { _ in })
    third.stop()
  } catch {
    write(["type": "busy", "error": "\(error)"])
  }
  second.stop()

  write(["type": "running"])
  try await wait("the card's end", seconds: 20) {
    playback.statistics.losses > 0 && capture.statistics.losses > 0
  }
  ear.forget()
  write(["type": "gone"])
  try await wait("the tone again", seconds: 30) { ear.hasHeardTone }
  write(["type": "back", "amplitude": ear.amplitude(of: Ear.tone)])
}

private func tell(_ who: String, _ event: AudioStreamEvent) {
  switch event {
  case .lost(let error): write(["type": "event", "who": who, "lost": "\(error)"])
  case .restored: write(["type": "event", "who": who, "restored": true])
  }
}

private struct NeverCame: Error, CustomStringConvertible {
  var description: String
}

private func wait(_ what: String, seconds: Int, until condition: () -> Bool) async throws {
  let end = ContinuousClock.now + .seconds(seconds)
  while !condition() {
    guard ContinuousClock.now < end else { throw NeverCame(description: "\(what) never came") }
    try await Task.sleep(for: .milliseconds(20))
  }
}

/// The last half second of what a microphone heard: one channel of it.
private final class Ear: Sendable {
  static let tone = 440.0
  private static let memory = 24_000
  private let samples = Mutex<[Int16]>([])

  func hear(_ frame: AudioFrame) {
    samples.withLock { samples in
      samples += stride(from: 0, to: frame.samples.count, by: frame.channels).map {
        frame.samples[$0]
      }
      samples.removeFirst(max(0, samples.count - Self.memory))
    }
  }

  func forget() { samples.withLock { $0 = [] } }

  func amplitude(of hertz: Double) -> Double {
    Sine.amplitude(of: hertz, in: samples.withLock { $0 })
  }

  /// Whether all of it is the tone, about as loud as it was played.
  var hasHeardTone: Bool {
    samples.withLock { $0.count } == Self.memory
      && abs(amplitude(of: Self.tone) - Sine.amplitude) < Sine.amplitude * 0.05
  }
}
