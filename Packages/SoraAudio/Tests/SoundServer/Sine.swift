import Foundation
public import SoraMedia

/// A sine, and how to find one.
public enum Sine {
  public static let amplitude = 8_000.0

  /// Puts a tone into a frame, from sample `position` of each channel on.
  public static func fill(_ frame: inout AudioFrame, hertz: Double, from position: Int) {
    for index in 0..<frame.frameCount {
      let phase = 2 * Double.pi * hertz * Double(position + index) / 48_000
      for channel in 0..<frame.channels {
        frame.samples[index * frame.channels + channel] = Int16(sin(phase) * amplitude)
      }
    }
  }

  /// The amplitude of a frequency (Goertzel) in samples of one channel at 48 kHz.
  public static func amplitude(of hertz: Double, in samples: some Collection<Int16>) -> Double {
    let factor = 2 * cos(2 * Double.pi * hertz / 48_000)
    var (a, b) = (0.0, 0.0)
    for sample in samples { (a, b) = (Double(sample) + factor * a - b, a) }
    let power = a * a + b * b - factor * a * b
    return 2 * max(0, power).squareRoot() / Double(max(1, samples.count))
  }
}
