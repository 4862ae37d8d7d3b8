import COpus
import CSoraOpus

/// An Opus decoder over libopus, at 48 kHz.
///
/// Confined: it isn't `Sendable`, and all its calls come from one serial executor or thread.
public final class OpusDecoder: AudioPayloadDecoder {
  /// Channels that are handed out, whatever the packets hold.
  public let channels: Int

  private let state: OpaquePointer

  /// Starts a decoder. Throws `AudioCodecError.invalidSetting` or `AudioCodecError.library`.
  public init(channels: Int = 2) throws(AudioCodecError) {
    guard (1...2).contains(channels) else {
      throw .invalidSetting(name: "channels", value: "\(channels)", allowed: "1 or 2")
    }
    var code: Int32 = 0
    guard let state = opus_decoder_create(48_000, Int32(channels), &code), code == OPUS_OK else {
      throw opusError("start a decoder", code)
    }
    self.state = state
    self.channels = channels
  }

  deinit { opus_decoder_destroy(state) }

  /// Decompresses `packet` into `samples` (interleaved) and returns the samples of each channel, at most 5,760.
  public func decode(
    _ packet: UnsafeRawBufferPointer, into samples: UnsafeMutableBufferPointer<Int16>
  ) throws(AudioCodecError) -> Int {
    guard let count = OpusPacket.sampleCount(packet) else { throw .malformedPacket }
    guard samples.count >= count * channels else {
      throw .wrongSampleCount(given: samples.count / channels, expected: count)
    }
    return try run(packet, count: samples.count / channels, fec: false, into: samples)
  }

  /// Restores the audio right before `packet` from the copy that it carries. `sampleCount` of each channel is what is
  /// missing; what the copy doesn't cover is concealed.
  public func decodeRedundancy(
    of packet: UnsafeRawBufferPointer, sampleCount: Int,
    into samples: UnsafeMutableBufferPointer<Int16>
  ) throws(AudioCodecError) -> Int {
    guard OpusPacket.sampleCount(packet) != nil else { throw .malformedPacket }
    try check(sampleCount, samples)
    return try run(packet, count: sampleCount, fec: true, into: samples)
  }

  /// Makes up `sampleCount` samples of each channel (a multiple of 120, up to 5,760) that continue what was heard: speech
  /// and tones that fade out, or comfort noise where the sender stopped transmitting on purpose.
  public func conceal(sampleCount: Int, into samples: UnsafeMutableBufferPointer<Int16>)
    throws(AudioCodecError) -> Int
  {
    try check(sampleCount, samples)
    return try run(
      UnsafeRawBufferPointer(start: nil, count: 0), count: sampleCount, fec: false, into: samples)
  }

  public func sampleCount(of payload: UnsafeRawBufferPointer) -> Int? {
    OpusPacket.sampleCount(payload)
  }

  public func redundantSampleCount(of payload: UnsafeRawBufferPointer) -> Int {
    OpusPacket.redundantSampleCount(payload)
  }

  public func isSilence(_ payload: UnsafeRawBufferPointer) -> Bool {
    OpusPacket.isSilence(payload)
  }

  /// Forgets the past, as at the start.
  public func reset() { _ = sora_opus_decoder_reset(state) }

  /// Amplifies what is decoded by `decibels`, -128 to 128.
  public func setGain(decibels: Double) throws(AudioCodecError) {
    guard decibels >= -128, decibels < 128 else {
      throw .invalidSetting(name: "gain", value: "\(decibels)", allowed: "-128 to 128 dB")
    }
    let code = sora_opus_decoder_set(state, OPUS_SET_GAIN_REQUEST, Int32(decibels * 256))
    guard code == OPUS_OK else { throw opusError("set its gain", code) }
  }

  private func check(_ count: Int, _ samples: UnsafeMutableBufferPointer<Int16>)
    throws(AudioCodecError)
  {
    guard count > 0, count <= 5_760, count % 120 == 0, samples.count >= count * channels else {
      throw .wrongSampleCount(given: min(count, samples.count / channels), expected: 5_760)
    }
  }

  private func run(
    _ packet: UnsafeRawBufferPointer, count: Int, fec: Bool,
    into samples: UnsafeMutableBufferPointer<Int16>
  ) throws(AudioCodecError) -> Int {
    guard let output = samples.baseAddress else {
      throw .wrongSampleCount(given: 0, expected: count)
    }
    let produced = opus_decode(
      state, packet.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(packet.count),
      output, Int32(count), fec ? 1 : 0)
    guard produced >= 0 else { throw opusError("decode", produced) }
    return Int(produced)
  }
}
