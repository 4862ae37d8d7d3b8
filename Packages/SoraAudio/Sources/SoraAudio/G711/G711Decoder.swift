/// G.711 for a jitter buffer: one channel at 48 kHz, and what is made up for packets that are missing.
///
/// Confined: it isn't `Sendable`, and all its calls come from one serial executor or thread.
public final class G711Decoder: AudioPayloadDecoder {
  /// Samples at 48 kHz for one of 8 kHz.
  private static let ratio = 6
  /// At 48 kHz: 120 ms, the most that a jitter buffer takes.
  private static let longest = 5_760

  public let law: G711Law
  public var channels: Int { 1 }

  private let resampler: AudioResampler
  private var concealment = WaveformConcealment(sampleRate: 8_000)
  private var narrow: [Int16] = []
  private var wide: [Int16] = []

  /// A decoder of one of the two laws.
  public init(_ law: G711Law) throws(AudioCodecError) {
    guard let resampler = AudioResampler(inputRate: 8_000, outputRate: 48_000, channels: 1) else {
      throw .invalidSetting(name: "sampleRate", value: "8000", allowed: "4000 to 384000")
    }
    self.law = law
    self.resampler = resampler
    prime()
  }

  public func sampleCount(of payload: Span<UInt8>) -> Int? {
    let count = payload.count * Self.ratio
    return payload.isEmpty || count > Self.longest ? nil : count
  }

  public func redundantSampleCount(of payload: Span<UInt8>) -> Int { 0 }

  /// G.711 sends its silence.
  public func isSilence(_ payload: Span<UInt8>) -> Bool { false }

  public func decode(
    _ payload: Span<UInt8>, into samples: inout MutableSpan<Int16>
  ) throws(AudioCodecError) -> Int {
    guard let count = sampleCount(of: payload) else { throw .malformedPacket }
    guard samples.count >= count else {
      throw .wrongSampleCount(given: samples.count, expected: count)
    }
    narrow.removeAll(keepingCapacity: true)
    for index in payload.indices { narrow.append(law.decode(payload[index])) }
    concealment.heard(&narrow)
    return widen(count, into: &samples)
  }

  public func decodeRedundancy(
    of payload: Span<UInt8>, sampleCount: Int, into samples: inout MutableSpan<Int16>
  ) throws(AudioCodecError) -> Int {
    // A packet holds nothing of the one before it.
    try conceal(sampleCount: sampleCount, into: &samples)
  }

  public func conceal(
    sampleCount: Int, into samples: inout MutableSpan<Int16>
  ) throws(AudioCodecError) -> Int {
    guard sampleCount > 0, sampleCount <= Self.longest, sampleCount % Self.ratio == 0,
      samples.count >= sampleCount
    else { throw .wrongSampleCount(given: min(sampleCount, samples.count), expected: Self.longest) }
    narrow.removeAll(keepingCapacity: true)
    concealment.continue(for: sampleCount / Self.ratio, into: &narrow)
    return widen(sampleCount, into: &samples)
  }

  public func reset() {
    concealment = WaveformConcealment(sampleRate: 8_000)
    wide.removeAll(keepingCapacity: true)
    resampler.finish(into: &wide)
    prime()
  }

  /// Has what goes in come out at once, after 3 ms of silence: one sample gives six from then on.
  private func prime() {
    wide.removeAll(keepingCapacity: true)
    let silence = [Int16](repeating: 0, count: resampler.delay)
    resampler.process(silence.span, into: &wide)
  }

  private func widen(_ count: Int, into samples: inout MutableSpan<Int16>) -> Int {
    wide.removeAll(keepingCapacity: true)
    resampler.process(narrow.span, into: &wide)
    for index in 0..<min(count, wide.count) { samples[index] = wide[index] }
    return min(count, wide.count)
  }
}
