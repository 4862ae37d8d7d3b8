import SoraAudio
import SoraMedia

#if canImport(Glibc)
  import Glibc
#endif

/// Signals and measures that several tests use.
enum Signals {
  /// A mono tone at 48 kHz.
  static func tone(_ frequency: Double, count: Int, from: Int = 0, amplitude: Double = 10_000)
    -> [Int16]
  {
    (0..<count).map {
      Int16((amplitude * sin(2 * .pi * frequency * Double($0 + from) / 48_000)).rounded())
    }
  }

  /// The signal-to-noise ratio in decibels of a tone of known frequency and any phase and gain: what a fit of sine and
  /// cosine explains, against what it leaves.
  static func toneSNR(_ samples: [Int16], frequency: Double, rate: Double = 48_000) -> Double {
    var ss = 0.0
    var cc = 0.0
    var sc = 0.0
    var xs = 0.0
    var xc = 0.0
    for (index, sample) in samples.enumerated() {
      let phase = 2 * Double.pi * frequency * Double(index) / rate
      let s = sin(phase)
      let c = cos(phase)
      ss += s * s
      cc += c * c
      sc += s * c
      xs += Double(sample) * s
      xc += Double(sample) * c
    }
    let determinant = ss * cc - sc * sc
    let a = (xs * cc - xc * sc) / determinant
    let b = (xc * ss - xs * sc) / determinant
    var signal = 0.0
    var noise = 0.0
    for (index, sample) in samples.enumerated() {
      let phase = 2 * Double.pi * frequency * Double(index) / rate
      let fit = a * sin(phase) + b * cos(phase)
      signal += fit * fit
      noise += (Double(sample) - fit) * (Double(sample) - fit)
    }
    return 10 * log10(signal / max(noise, 1e-9))
  }

  static func rms(_ samples: some Sequence<Int16>) -> Double {
    var sum = 0.0
    var count = 0.0
    for sample in samples {
      sum += Double(sample) * Double(sample)
      count += 1
    }
    return count == 0 ? 0 : (sum / count).squareRoot()
  }

  /// Speech-like audio: a pitch that wanders, harmonics, syllables.
  static func voice(count: Int) -> [Int16] { Array(longVoice[..<count]) }

  /// 20 seconds, made once.
  private static let longVoice = {
    var phase = 0.0
    return (0..<960_000).map { index in
      let t = Double(index) / 48_000
      phase += (140 + 30 * sin(2 * .pi * 0.7 * t)) / 48_000
      var value = 0.0
      for harmonic in 1...12 {
        value += sin(2 * .pi * phase * Double(harmonic)) / Double(harmonic)
      }
      let envelope = 0.4 + 0.6 * max(0, sin(2 * .pi * 3 * t))
      return Int16(4_000 * envelope * value)
    }
  }()
}

/// A sender, a network and an audio device around a jitter buffer, in virtual time.
struct AudioScenario {
  var seconds = 30
  var packetMilliseconds = 20
  /// The sender's clock against ours.
  var driftPPM = 0.0
  /// Milliseconds on the way for packet `index`, or nil for a lost one.
  var delay: (_ index: Int) -> Double? = { _ in 50 }
  /// Whether packet `index` is sent at all.
  var isSent: (_ index: Int) -> Bool = { _ in true }
  var payload: (_ index: Int) -> [UInt8] = { _ in Array(repeating: 0, count: 40) }
  var firstSequenceNumber: UInt16 = 100
  var firstTimestamp: UInt32 = 5_000

  struct Second {
    var stats: AudioJitterBufferStats
    var delay: Double?
  }

  /// Runs; returns the counters after each second. `output` sees every pull.
  @discardableResult
  func run(
    _ buffer: AudioJitterBuffer,
    output: (UnsafeBufferPointer<Int16>, AudioJitterBuffer.Playout) -> Void = { _, _ in }
  ) -> [Second] {
    var arrivals: [(at: Int64, index: Int, sequence: Int)] = []
    var sequence = 0
    let count = seconds * 1_000 / packetMilliseconds
    for index in 0..<count where isSent(index) {
      let sent = Double(index * packetMilliseconds) * (1 + driftPPM / 1e6)
      if let delay = delay(index) {
        arrivals.append((Int64((sent + delay) * 1e6), index, sequence))
      }
      sequence += 1
    }
    arrivals.sort { ($0.at, $0.index) < ($1.at, $1.index) }
    var history: [Second] = []
    let samples = UnsafeMutableBufferPointer<Int16>.allocate(capacity: 480 * buffer.channels)
    defer { samples.deallocate() }
    var next = 0
    for pull in 0..<(seconds * 100) {
      let now = Instant(nanoseconds: Int64(pull) * 10_000_000 + 3_000_000)
      while next < arrivals.count, arrivals[next].at <= now.nanoseconds {
        let arrival = arrivals[next]
        payload(arrival.index).withUnsafeBytes {
          buffer.insert(
            sequenceNumber: firstSequenceNumber &+ UInt16(truncatingIfNeeded: arrival.sequence),
            timestamp: firstTimestamp
              &+ UInt32(truncatingIfNeeded: arrival.index * packetMilliseconds * 48),
            payload: $0, at: Instant(nanoseconds: arrival.at))
        }
        next += 1
      }
      let playout = buffer.getAudio(at: now, into: samples)
      output(UnsafeBufferPointer(samples), playout)
      if pull % 100 == 99 {
        history.append(
          Second(stats: buffer.stats, delay: buffer.currentDelay.map(\.inMilliseconds)))
      }
    }
    return history
  }
}

extension AudioScenario {
  /// Packets that come too late, and pulls that are concealed, in the first five seconds of 20 streams with 100 ms of jitter.
  static func lossesAtStarts(
    of makeBuffer: () -> AudioJitterBuffer
  ) -> (late: UInt64, concealed: UInt64) {
    var losses: (late: UInt64, concealed: UInt64) = (0, 0)
    for seed in 1...20 as ClosedRange<UInt64> {
      let random = RandomSource(seed: seed)
      let buffer = makeBuffer()
      AudioScenario(
        seconds: 5, delay: { _ in 20 + Double.random(in: 0...100, using: &random.wrapped) }
      ).run(buffer)
      losses.late += buffer.stats.packetsLate
      losses.concealed += buffer.stats.concealedSamples / 480
    }
    return losses
  }
}

extension AudioJitterBufferStats {
  /// What was added since `earlier`, of those counters that the tests look at.
  func concealedShare(since earlier: AudioJitterBufferStats) -> Double {
    Double(concealedSamples - earlier.concealedSamples)
      / Double(totalSamplesReceived - earlier.totalSamplesReceived)
  }

  func averageDelay(since earlier: AudioJitterBufferStats) -> Double {
    1_000 * (jitterBufferDelay - earlier.jitterBufferDelay)
      / Double(jitterBufferEmittedCount - earlier.jitterBufferEmittedCount)
  }
}
