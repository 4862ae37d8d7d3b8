import SoraAudio
import SoraMedia

#if canImport(Glibc)
  import Glibc
#endif

/// Encodes and decodes whole signals, packet by packet.
enum OpusBench {
  /// The packets of interleaved `samples`; empty ones are those that discontinuous transmission leaves out.
  static func encode(_ encoder: OpusEncoder, _ samples: [Int16]) throws -> [[UInt8]] {
    let size = encoder.settings.frameDuration.sampleCount * encoder.settings.channels
    return try stride(from: 0, through: samples.count - size, by: size).map { start in
      var packet = [UInt8](repeating: 0, count: OpusEncoder.maximumPacketSize)
      let count = try samples[start..<(start + size)].withUnsafeBufferPointer { input in
        try packet.withUnsafeMutableBytes { try encoder.encode(input, into: $0) }
      }
      return Array(packet.prefix(count))
    }
  }

  static func encode(_ settings: OpusEncoderSettings, _ samples: [Int16]) throws -> [[UInt8]] {
    try encode(OpusEncoder(settings), samples)
  }

  static func decode(_ decoder: OpusDecoder, _ packet: [UInt8]) throws -> [Int16] {
    var output = [Int16](repeating: 0, count: 5_760 * decoder.channels)
    let count = try output.withUnsafeMutableBufferPointer { output in
      try packet.withUnsafeBytes { try decoder.decode($0, into: output) }
    }
    return Array(output.prefix(count * decoder.channels))
  }

  static func decode(_ packets: [[UInt8]], channels: Int) throws -> [Int16] {
    let decoder = try OpusDecoder(channels: channels)
    return try packets.flatMap { try decode(decoder, $0) }
  }

  /// Bits per second that packets of one duration make up.
  static func rate(_ packets: [[UInt8]], _ duration: OpusFrameDuration) -> Double {
    Double(packets.reduce(0) { $0 + $1.count }) * 8_000
      / (Double(packets.count) * duration.milliseconds)
  }
}

extension Signals {
  /// Noise of all frequencies up to 24 kHz.
  static func noise(count: Int, amplitude: Double = 6_000, seed: UInt64 = 7) -> [Int16] {
    let random = RandomSource(seed: seed)
    return (0..<count).map { _ in
      Int16(Double.random(in: -amplitude...amplitude, using: &random.wrapped))
    }
  }

  static func interleaved(_ left: [Int16], _ right: [Int16]) -> [Int16] {
    zip(left, right).flatMap { [$0, $1] }
  }

  /// One channel of interleaved samples.
  static func channel(_ index: Int, of channels: Int, _ samples: [Int16]) -> [Int16] {
    stride(from: index, to: samples.count, by: channels).map { samples[$0] }
  }

  /// The share of the power that lies above `frequency`: what a steep high-pass filter lets through.
  static func share(of samples: [Int16], above frequency: Double) -> Double {
    // Windowed sinc of 255 taps: a low-pass, taken away from the whole.
    let half = 127
    let cut = frequency / 48_000
    let taps = (-half...half).map { index -> Double in
      let x = Double(index)
      let sinc = index == 0 ? 2 * cut : sin(2 * .pi * cut * x) / (.pi * x)
      return sinc * (0.54 + 0.46 * cos(.pi * x / Double(half)))
    }
    var high = 0.0
    var whole = 0.0
    for position in stride(from: half, to: samples.count - half, by: 11) {
      var low = 0.0
      for (offset, tap) in taps.enumerated() {
        low += tap * Double(samples[position - half + offset])
      }
      let value = Double(samples[position])
      high += (value - low) * (value - low)
      whole += value * value
    }
    return whole == 0 ? 0 : high / whole
  }

  /// Decibels by which `reference` is stronger than what `samples` differ from it.
  static func snr(_ samples: [Int16], _ reference: [Int16]) -> Double {
    var signal = 0.0
    var noise = 0.0
    for (a, b) in zip(samples, reference) {
      signal += Double(b) * Double(b)
      noise += (Double(a) - Double(b)) * (Double(a) - Double(b))
    }
    return 10 * log10(max(signal, 1e-9) / max(noise, 1e-9))
  }
}
