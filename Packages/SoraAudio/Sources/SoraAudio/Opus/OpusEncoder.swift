import COpus
import CSoraOpus
public import SoraMedia

/// An Opus encoder over libopus, at 48 kHz.
///
/// Confined: it isn't `Sendable`, and all its calls come from one serial executor or thread.
@safe public final class OpusEncoder {
  /// The settings in force.
  public private(set) var settings: OpusEncoderSettings

  private let state: OpaquePointer
  private let pool = EncodedBufferPool(limit: 64)
  private var scratch = [UInt8](repeating: 0, count: maximumPacketSize)
  private var pending: [Int16] = []
  private var pendingTimestamp = Instant.zero
  private var nextRTPTimestamp: UInt32 = 0
  private var isSilenceAnnounced = false

  /// The largest packet, in bytes: what `OpusEncoderSettings.packetSizes` ends at.
  public static var maximumPacketSize: Int { OpusEncoderSettings.packetSizes.upperBound }

  /// Starts an encoder. Throws `AudioCodecError.invalidSetting` or `AudioCodecError.library`.
  public init(_ settings: OpusEncoderSettings = OpusEncoderSettings()) throws(AudioCodecError) {
    try settings.validate()
    var code: Int32 = 0
    let application =
      switch settings.application {
      case .voip: OPUS_APPLICATION_VOIP
      case .audio: OPUS_APPLICATION_AUDIO
      case .restrictedLowDelay: OPUS_APPLICATION_RESTRICTED_LOWDELAY
      }
    guard
      let state = unsafe opus_encoder_create(48_000, Int32(settings.channels), application, &code),
      code == OPUS_OK
    else { throw opusError("start an encoder", code) }
    unsafe self.state = state
    self.settings = settings
    pending.reserveCapacity(settings.channels * OpusFrameDuration.milliseconds120.sampleCount)
    try apply(settings)
  }

  deinit { unsafe opus_encoder_destroy(state) }

  /// Takes other settings from the next packet on; where one is refused, all stay as they were. `channels` and
  /// `application` must stay: libopus can't change them. Throws `AudioCodecError`.
  public func update(_ settings: OpusEncoderSettings) throws(AudioCodecError) {
    try settings.validate()
    guard settings.channels == self.settings.channels else {
      throw .invalidSetting(
        name: "channels", value: "\(settings.channels)", allowed: "\(self.settings.channels)")
    }
    guard settings.application == self.settings.application else {
      throw .invalidSetting(
        name: "application", value: "\(settings.application)",
        allowed: "\(self.settings.application)")
    }
    do throws(AudioCodecError) {
      try apply(settings)
    } catch {
      try? apply(self.settings)
      throw error
    }
    self.settings = settings
  }

  /// Compresses one packet's worth of interleaved samples into `packet` and returns the packet's size; 0 if
  /// discontinuous transmission has nothing to send.
  ///
  /// `samples.count` is `settings.frameDuration.sampleCount * settings.channels`. `packet` should hold
  /// `maximumPacketSize` bytes; less room limits the quality.
  public func encode(
    _ samples: Span<Int16>, into packet: inout MutableSpan<UInt8>
  ) throws(AudioCodecError) -> Int {
    let expected = settings.frameDuration.sampleCount
    guard samples.count == expected * settings.channels, !packet.isEmpty else {
      throw .wrongSampleCount(given: samples.count / settings.channels, expected: expected)
    }
    let room = Int32(min(packet.count, settings.maximumPacketSize))
    // Both pointers have what libopus is told: checked above.
    let count = unsafe samples.withUnsafeBufferPointer { samples in
      unsafe packet.withUnsafeMutableBufferPointer { packet in
        unsafe opus_encode(state, samples.baseAddress!, Int32(expected), packet.baseAddress!, room)
      }
    }
    guard count >= 0 else { throw opusError("encode", count) }
    guard settings.usesDTX, count <= 2 else {
      isSilenceAnnounced = false
      return Int(count)
    }
    // The first bare header tells the receiver that silence began; the ones after it say nothing new. Every 400 ms the
    // encoder refreshes the receiver's comfort noise with a whole packet, which is sent.
    if isSilenceAnnounced { return 0 }
    isSilenceAnnounced = true
    return Int(count)
  }

  /// Compresses a block of any length: collects samples until a packet is full, and calls `emit` with each packet.
  ///
  /// RTP timestamps count the samples taken in (48 kHz), also those that discontinuous transmission leaves out. The
  /// block must be at 48 kHz; mono and stereo are converted to what the encoder takes.
  public func encode(_ frame: AudioFrame, emit: (EncodedFrame) -> Void) throws(AudioCodecError) {
    guard frame.sampleRate == 48_000, (1...2).contains(frame.channels) else {
      throw .invalidSetting(
        name: "frame", value: "\(frame.sampleRate) Hz, \(frame.channels) channels",
        allowed: "48000 Hz, 1 or 2 channels")
    }
    if pending.isEmpty { pendingTimestamp = frame.timestamp }
    take(frame)
    let wanted = settings.frameDuration.sampleCount * settings.channels
    var start = 0
    // Taken out of the object while they are lent.
    var samples: [Int16] = []
    var packet: [UInt8] = []
    swap(&samples, &pending)
    swap(&packet, &scratch)
    defer {
      samples.removeFirst(start)
      pending = samples
      scratch = packet
    }
    while samples.count - start >= wanted {
      let range = start..<(start + wanted)
      start += wanted
      let timestamp = pendingTimestamp
      let rtpTimestamp = nextRTPTimestamp
      pendingTimestamp += .nanoseconds(
        Int64(settings.frameDuration.sampleCount) * 1_000_000_000 / 48_000)
      nextRTPTimestamp &+= UInt32(settings.frameDuration.sampleCount)
      let count = try encode(samples, range, into: &packet)
      guard count > 0 else { continue }
      let payload = pool.take(capacity: 512)
      unsafe packet.span.extracting(..<count).withUnsafeBytes { unsafe payload.append($0) }
      emit(
        EncodedFrame(
          payload: payload, isKeyFrame: true, rtpTimestamp: rtpTimestamp, timestamp: timestamp))
    }
  }

  private func encode(
    _ samples: [Int16], _ range: Range<Int>, into packet: inout [UInt8]
  ) throws(AudioCodecError) -> Int {
    var room = packet.mutableSpan
    return try encode(samples.span.extracting(range), into: &room)
  }

  /// Leaves out audio that was lost on its way here: `sampleCount` samples of each channel (0 or more), which come after
  /// those that wait for a packet to be full. These are left out, too.
  ///
  /// RTP timestamps go on by all of them, so that a receiver plays what follows at its time. The timestamp of the next
  /// packet is that of the next frame.
  public func skip(sampleCount: Int) {
    let left = pending.count / settings.channels + max(0, sampleCount)
    nextRTPTimestamp &+= UInt32(truncatingIfNeeded: left)
    pending.removeAll(keepingCapacity: true)
  }

  /// Forgets the past, as at the start.
  public func reset() {
    _ = unsafe sora_opus_encoder_reset(state)
    pending.removeAll(keepingCapacity: true)
    isSilenceAnnounced = false
  }

  /// Samples of each channel by which the encoder delays.
  public var lookahead: Int { Int(get(OPUS_GET_LOOKAHEAD_REQUEST)) }

  /// Bits per second that the encoder aims for: the setting, or its own choice.
  public var effectiveBitsPerSecond: Int { Int(get(OPUS_GET_BITRATE_REQUEST)) }

  private func take(_ frame: AudioFrame) {
    switch (frame.channels, settings.channels) {
    case (1, 2):
      for sample in frame.samples {
        pending.append(sample)
        pending.append(sample)
      }
    case (2, 1):
      for index in 0..<frame.frameCount {
        pending.append(Int16(meanOf: frame.samples[2 * index], frame.samples[2 * index + 1]))
      }
    default: pending.append(contentsOf: frame.samples)
    }
  }

  private func apply(_ settings: OpusEncoderSettings) throws(AudioCodecError) {
    let bandwidth =
      switch settings.maximumBandwidth {
      case .narrow: OPUS_BANDWIDTH_NARROWBAND
      case .medium: OPUS_BANDWIDTH_MEDIUMBAND
      case .wide: OPUS_BANDWIDTH_WIDEBAND
      case .superWide: OPUS_BANDWIDTH_SUPERWIDEBAND
      case .full: OPUS_BANDWIDTH_FULLBAND
      }
    let signal =
      switch settings.signal {
      case .automatic: OPUS_AUTO
      case .voice: OPUS_SIGNAL_VOICE
      case .music: OPUS_SIGNAL_MUSIC
      }
    try set(
      OPUS_SET_BITRATE_REQUEST, settings.bitsPerSecond.map { Int32($0) } ?? OPUS_AUTO, "bitrate")
    try set(OPUS_SET_COMPLEXITY_REQUEST, Int32(settings.complexity), "complexity")
    try set(OPUS_SET_INBAND_FEC_REQUEST, settings.usesInBandFEC ? 1 : 0, "in-band FEC")
    try set(OPUS_SET_PACKET_LOSS_PERC_REQUEST, Int32(settings.packetLossPercent), "packet loss")
    try set(OPUS_SET_DTX_REQUEST, settings.usesDTX ? 1 : 0, "DTX")
    try set(
      OPUS_SET_VBR_REQUEST, settings.rateControl == .constant ? 0 : 1, "variable bitrate")
    try set(
      OPUS_SET_VBR_CONSTRAINT_REQUEST, settings.rateControl == .variable ? 0 : 1,
      "bitrate constraint")
    try set(OPUS_SET_SIGNAL_REQUEST, signal, "signal")
    try set(OPUS_SET_MAX_BANDWIDTH_REQUEST, bandwidth, "maximum bandwidth")
    try set(OPUS_SET_FORCE_CHANNELS_REQUEST, settings.forcesMono ? 1 : OPUS_AUTO, "mono")
  }

  private func set(_ request: Int32, _ value: Int32, _ name: String) throws(AudioCodecError) {
    let code = unsafe sora_opus_encoder_set(state, request, value)
    guard code == OPUS_OK else { throw opusError("set its \(name) to \(value)", code) }
  }

  private func get(_ request: Int32) -> Int32 {
    var value: Int32 = 0
    return unsafe sora_opus_encoder_get(state, request, &value) == OPUS_OK ? value : 0
  }
}

/// The error of a libopus call that failed.
func opusError(_ operation: String, _ code: Int32) -> AudioCodecError {
  code == OPUS_INVALID_PACKET
    ? .malformedPacket
    : .library(
      operation: operation, code: Int(code), detail: unsafe String(cString: opus_strerror(code)))
}
