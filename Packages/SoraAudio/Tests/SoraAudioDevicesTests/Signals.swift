import Foundation
import SoraMedia
import Synchronization

/// A sine, and how to find one.
enum Sine {
  static let amplitude = 8_000.0

  /// Puts a tone into a frame, from sample `position` of each channel on.
  static func fill(_ frame: inout AudioFrame, hertz: Double, from position: Int) {
    for index in 0..<frame.frameCount {
      let phase = 2 * Double.pi * hertz * Double(position + index) / 48_000
      for channel in 0..<frame.channels {
        frame.samples[index * frame.channels + channel] = Int16(sin(phase) * amplitude)
      }
    }
  }

  /// The amplitude of a frequency (Goertzel) in samples of one channel at 48 kHz.
  static func amplitude(of hertz: Double, in samples: some Collection<Int16>) -> Double {
    let factor = 2 * cos(2 * Double.pi * hertz / 48_000)
    var (a, b) = (0.0, 0.0)
    for sample in samples { (a, b) = (Double(sample) + factor * a - b, a) }
    let power = a * a + b * b - factor * a * b
    return 2 * max(0, power).squareRoot() / Double(max(1, samples.count))
  }
}

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

/// Lets other threads go on until a condition holds; tests have a time limit.
func wait(until condition: () throws -> Bool) async rethrows {
  while try !condition() { try? await Task.sleep(for: .milliseconds(5)) }
}

/// What was told, in order.
final class Log<Element: Sendable>: Sendable {
  private let storage = Mutex<[Element]>([])
  func append(_ element: Element) { storage.withLock { $0.append(element) } }
  var elements: [Element] { storage.withLock { $0 } }
}
