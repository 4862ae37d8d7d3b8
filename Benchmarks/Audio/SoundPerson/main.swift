import Foundation
import SoraAudioDevices
import SoraClock
import SoraMedia
import Synchronization

// `SoundPerson MOUTH EAR`: somebody who speaks into the sink MOUTH, a beep of 20 ms in a second, and listens to the source EAR. Prints the
// milliseconds from mouth to ear of each beep that is heard. Ends with standard input.

func fail(_ message: String) -> Never {
  FileHandle.standardError.write(Data("SoundPerson: \(message)\n".utf8))
  exit(1)
}

/// What was said last, and when.
struct Speech {
  private static let period = 48_000
  private static let beep = 960

  private var position = 0
  private var spoken: Instant?

  mutating func speak(_ frame: inout AudioFrame) {
    for index in frame.samples.indices {
      let place = position % Self.period
      if place == 0 { spoken = frame.timestamp + Self.duration(index) }
      if place < Self.beep {
        frame.samples[index] = Int16(sin(2 * Double.pi * Double(place) / 48) * 12_000)
      }
      position += 1
    }
  }

  /// How long ago what begins in this frame was said; nil where nothing does.
  mutating func hear(_ frame: AudioFrame) -> Duration? {
    guard let spoken, let first = frame.samples.firstIndex(where: { $0.magnitude > 3_000 })
    else { return nil }
    self.spoken = nil
    return frame.timestamp + Self.duration(first) - spoken
  }

  private static func duration(_ samples: Int) -> Duration {
    .nanoseconds(Int64(samples) * 1_000_000_000 / 48_000)
  }
}

let words = Array(CommandLine.arguments.dropFirst())
guard words.count == 2 else { fail("usage: SoundPerson MOUTH EAR") }
do {
  let devices = try AudioDevice.all()
  let speech = Mutex(Speech())
  let mouth = try AudioPlayback(
    devices.device(named: words[0], .output), channels: 1,
    fill: { frame in speech.withLock { $0.speak(&frame) } })
  let ear = try AudioCapture(
    devices.device(named: words[1], .input), channels: 1,
    deliver: { frame in
      guard let delay = speech.withLock({ $0.hear(frame) }) else { return }
      FileHandle.standardOutput.write(Data("\(delay.inMilliseconds)\n".utf8))
    })
  while readLine() != nil {}
  FileHandle.standardError.write(
    Data("mouth \(mouth.statistics)\near \(ear.statistics)\n".utf8))
  mouth.stop()
  ear.stop()
} catch { fail("\(error)") }
