import COpus
import CSoraOpus

/// An Opus decoder over libopus, at 48 kHz.
///
/// Confined: it isn't `Sendable`, and all its calls come from one serial executor or thread.
@safe public final class OpusDecoder: AudioPayloadDecoder {
  /// Channels that are handed out, whatever the packets hold.
  public let channels: Int

  private let state: OpaquePointer

  /// Starts a decoder. Throws `AudioCodecError.invalidSetting` or `AudioCodecError.library`.
  public init(channels: Int = 2) throws(AudioCodecError) {
    guard (1...2).contains(channels) else {
      throw .invalidSetting(name: "channels", value: "\(channels)", allowed: "1 or 2")
    }
    var code: Int32 = 0
    guard let state = unsafe opus_decoder_create(48_000, Int32(channels), &code), code == OPUS_OK
    else { throw opusError("start a decoder", code) }
    unsafe self.state = state
    self.channels = channels
  }

  deinit { unsafe opus_decoder_destroy(state) }

  /// Decompresses `packet` into `samples` (interleaved) and returns the samples of each channel, at most 5,760.
  public func decode(
    _ packet: Span<UInt8>, into samples: inout MutableSpan<Int16>
  ) throws(AudioCodecError) -> Int {
    guard let count = OpusPacket.sampleCount(packet) else { throw .malformedPacket }
    guard samples.count >= count * channels else {
      throw .wrongSampleCount(given: samples.count / channels, expected: count)
    }
    let room = samples.count / channels
    return try unsafe packet.withUnsafeBytes { packet throws(AudioCodecError) in
      try unsafe run(packet, count: room, fec: false, into: &samples)
    }
  }

  /// Restores the audio right before `packet` from the copy that it carries. `sampleCount` of each channel is what is
  /// missing; what the copy doesn't cover is concealed.
  public func decodeRedundancy(
    of packet: Span<UInt8>, sampleCount: Int, into samples: inout MutableSpan<Int16>
  ) throws(AudioCodecError) -> Int {
    guard OpusPacket.sampleCount(packet) != nil else { throw .malformedPacket }
    try check(sampleCount, samples.count)
    return try unsafe packet.withUnsafeBytes { packet throws(AudioCodecError) in
      try unsafe run(packet, count: sampleCount, fec: true, into: &samples)
    }
  }

  /// Makes up `sampleCount` samples of each channel (a multiple of 120, up to 5,760) that continue what was heard: speech
  /// and tones that fade out, or comfort noise where the sender stopped transmitting on purpose.
  public func conceal(sampleCount: Int, into samples: inout MutableSpan<Int16>)
    throws(AudioCodecError) -> Int
  {
    try check(sampleCount, samples.count)
    let none = unsafe UnsafeRawBufferPointer(start: nil, count: 0)
    return try unsafe run(none, count: sampleCount, fec: false, into: &samples)
  }

  public func sampleCount(of payload: Span<UInt8>) -> Int? {
    OpusPacket.sampleCount(payload)
  }

  public func redundantSampleCount(of payload: Span<UInt8>) -> Int {
    OpusPacket.redundantSampleCount(payload)
  }

  public func isSilence(_ payload: Span<UInt8>) -> Bool {
    OpusPacket.isSilence(payload)
  }

  /// Forgets the past, as at the start.
  public func reset() { _ = unsafe sora_opus_decoder_reset(state) }

  /// Amplifies what is decoded by `decibels`, -128 to 128.
  public func setGain(decibels: Double) throws(AudioCodecError) {
    guard decibels >= -128, decibels < 128 else {
      throw .invalidSetting(name: "gain", value: "\(decibels)", allowed: "-128 to 128 dB")
    }
    let code = unsafe sora_opus_decoder_set(state, OPUS_SET_GAIN_REQUEST, Int32(decibels * 256))
    guard code == OPUS_OK else { throw opusError("set its gain", code) }
  }

  private func check(_ count: Int, _ room: Int) throws(AudioCodecError) {
    guard count > 0, count <= 5_760, count % 120 == 0, room >= count * channels else {
      throw .wrongSampleCount(given: min(count, room / channels), expected: 5_760)
    }
  }

  /// Calls libopus, which writes `count` samples of each channel at most: `samples` has room for them.
  private func run(
    _ packet: UnsafeRawBufferPointer, count: Int, fec: Bool, into samples: inout MutableSpan<Int16>
  ) throws(AudioCodecError) -> Int {
    let produced = unsafe samples.withUnsafeMutableBufferPointer { samples -> Int32 in
      guard let output = samples.baseAddress else { return OPUS_BAD_ARG }
      return unsafe opus_decode(
        state, packet.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(packet.count),
        output, Int32(count), fec ? 1 : 0)
    }
    guard produced >= 0 else { throw opusError("decode", produced) }
    return Int(produced)
  }
}
