import Foundation
import SoraAudio
package import SoraMedia
import Synchronization

/// What can be heard of one stream: how long, how loud. Safe from any thread.
package final class AudioMeter: Sendable {
  package struct Snapshot: Sendable {
    package var seconds = 0.0
    /// When the first sample came that isn't silence.
    package var firstSound: Instant?
    /// Sum of (mean square × seconds), relative to full scale.
    package var energy = 0.0
    /// Whether nothing came of which nobody knows how loud it is.
    package var isMeasured = true

    package init() {}

    /// The level since `earlier` in dB relative to full scale; nil where nothing came, or silence alone.
    package func levelDb(since earlier: Snapshot = Snapshot()) -> Double? {
      let duration = seconds - earlier.seconds
      let energy = energy - earlier.energy
      guard duration > 0, energy > 0 else { return nil }
      return 10 * log10(energy / duration)
    }
  }

  private let state = Mutex(Snapshot())

  package init() {}

  package var snapshot: Snapshot { state.withLock { $0 } }

  /// Counts an Opus packet, of which nobody knows how loud it is.
  package func addPacket(_ packet: EncodedFrame, at now: Instant) {
    // Its first bytes tell how long it is.
    let head = unsafe Array(packet.payload.bytes.prefix(2))
    guard let samples = OpusPacket.sampleCount(head.span) else { return }
    state.withLock { state in
      state.firstSound = state.firstSound ?? now
      state.seconds += Double(samples) / 48_000
      state.isMeasured = false
    }
  }

  /// Counts a block.
  package func add(_ block: AudioFrame, at now: Instant) {
    let meanSquare = AudioLevel.meanSquare(block.samples.span)
    let seconds = block.duration.inSeconds
    state.withLock { state in
      // What a receiver plays before the first packet isn't sound that was sent.
      if state.firstSound == nil {
        guard meanSquare > 0 else { return }
        state.firstSound = now
      }
      state.seconds += seconds
      state.energy += meanSquare * seconds
    }
  }
}
