import SoraMedia

extension AudioFrame {
  /// Makes the samples so many times as loud, within 16 bits.
  ///
  /// - Parameters:
  ///   - first: where the frame begins. From there it changes evenly, so that nothing clicks.
  ///   - last: of its last samples.
  mutating func scale(from first: Double, to last: Double) {
    guard first != 1 || last != 1 else { return }
    let channels = max(1, channels)
    let step = (last - first) / Double(max(1, frameCount))
    for index in samples.indices {
      let gain = first + step * Double(index / channels + 1)
      samples[index] = Int16(clamping: Int((Double(samples[index]) * gain).rounded()))
    }
  }
}
