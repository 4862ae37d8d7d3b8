/// What a jitter buffer needs from a decoder. All counts are samples of each channel at 48 kHz.
///
/// `OpusDecoder` is one. A simulation uses a stand-in (`SilentPayloadDecoder`), and runs the same buffer without decoding.
public protocol AudioPayloadDecoder: AnyObject {
  /// Channels that are handed out, interleaved: 1 or 2.
  var channels: Int { get }
  /// Samples that `payload` stands for, at most 5,760; nil if it is malformed.
  func sampleCount(of payload: Span<UInt8>) -> Int?
  /// Samples right before `payload` that it could restore; 0 for none.
  func redundantSampleCount(of payload: Span<UInt8>) -> Int
  /// Whether the sender says with `payload` that it stops transmitting because it is silent.
  func isSilence(_ payload: Span<UInt8>) -> Bool
  /// Decodes a packet; returns the samples written.
  func decode(_ payload: Span<UInt8>, into samples: inout MutableSpan<Int16>)
    throws(AudioCodecError) -> Int
  /// Restores the `sampleCount` samples before `payload` from it.
  func decodeRedundancy(
    of payload: Span<UInt8>, sampleCount: Int,
    into samples: inout MutableSpan<Int16>
  ) throws(AudioCodecError) -> Int
  /// Makes up samples that continue what was decoded last.
  func conceal(sampleCount: Int, into samples: inout MutableSpan<Int16>)
    throws(AudioCodecError) -> Int
  /// Forgets the past.
  func reset()
}

/// A stand-in for simulations: every packet has the same length, and decodes to silence.
public final class SilentPayloadDecoder: AudioPayloadDecoder {
  public let channels: Int
  /// Samples of each channel that a packet stands for.
  public let samplesPerPacket: Int

  public init(samplesPerPacket: Int = 960, channels: Int = 1) {
    self.samplesPerPacket = min(max(samplesPerPacket, 1), 5_760)
    self.channels = min(max(channels, 1), 2)
  }

  public func sampleCount(of payload: Span<UInt8>) -> Int? {
    payload.isEmpty ? nil : samplesPerPacket
  }

  public func redundantSampleCount(of payload: Span<UInt8>) -> Int { 0 }

  public func isSilence(_ payload: Span<UInt8>) -> Bool { payload.count <= 2 }

  public func decode(
    _ payload: Span<UInt8>, into samples: inout MutableSpan<Int16>
  ) throws(AudioCodecError) -> Int { fill(samplesPerPacket, &samples) }

  public func decodeRedundancy(
    of payload: Span<UInt8>, sampleCount: Int,
    into samples: inout MutableSpan<Int16>
  ) throws(AudioCodecError) -> Int { fill(sampleCount, &samples) }

  public func conceal(sampleCount: Int, into samples: inout MutableSpan<Int16>)
    throws(AudioCodecError) -> Int
  { fill(sampleCount, &samples) }

  public func reset() {}

  private func fill(_ count: Int, _ samples: inout MutableSpan<Int16>) -> Int {
    let count = min(count, samples.count / channels)
    for index in 0..<(count * channels) { samples[index] = 0 }
    return count
  }
}
