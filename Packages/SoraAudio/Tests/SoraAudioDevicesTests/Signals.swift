import Foundation
import SoraAudioDevices
import SoraMedia
import SoundServer
import Synchronization

/// Collects what a microphone hears: one channel of it.
final class Heard: Sendable {
  private struct State: Sendable {
    var samples: [Int16] = []
    var first: Instant?
  }
  private let state = Mutex(State())

  func add(_ frame: AudioFrame) {
    let one = stride(from: 0, to: frame.samples.count, by: frame.channels).map {
      frame.samples[$0]
    }
    state.withLock { state in
      if state.first == nil { state.first = frame.timestamp }
      state.samples += one
    }
  }

  var samples: [Int16] { state.withLock { $0.samples } }
  /// When the first sample was captured.
  var first: Instant? { state.withLock { $0.first } }
  func clear() { state.withLock { $0 = State() } }

  /// Whether the last so many samples hold a tone of about the amplitude of `Sine`.
  func hears(_ hertz: Double, last count: Int = 9_600) -> Bool {
    let samples = samples.suffix(count)
    guard samples.count == count else { return false }
    let amplitude = Sine.amplitude(of: hertz, in: samples)
    return abs(amplitude - Sine.amplitude) < Sine.amplitude * 0.03
  }
}

/// Lets other threads go on until a condition holds, or the test's time is up.
func wait(until condition: () throws -> Bool) async rethrows {
  while try !condition(), !Task.isCancelled { try? await Task.sleep(for: .milliseconds(5)) }
}

/// What was told, in order.
final class Log<Element: Sendable>: Sendable {
  private let storage = Mutex<[Element]>([])
  func append(_ element: Element) { storage.withLock { $0.append(element) } }
  var elements: [Element] { storage.withLock { $0 } }
}

/// Plays a tone from its start on.
func player(
  _ backend: any AudioBackend, _ device: AudioDevice? = nil, hertz: Double = 440,
  log: Log<AudioStreamEvent> = Log()
) throws -> AudioPlayback {
  let position = Mutex(0)
  return try AudioPlayback(backend, device, channels: 2) { frame in
    let start = position.withLock { position in
      defer { position += frame.frameCount }
      return position
    }
    Sine.fill(&frame, hertz: hertz, from: start)
  } notify: {
    log.append($0)
  }
}
