public import SoraMedia

/// Packets of 20 ms in G.711 (RFC 3551 §4.5.14): 160 octets of 8 kHz, one channel.
///
/// Confined: it isn't `Sendable`, and all its calls come from one serial executor or thread.
public final class G711Encoder: AudioPacketEncoder {
  /// What RFC 3551 §4.2 recommends.
  private static let samplesPerPacket = 160

  public let law: G711Law
  public var sampleRate: Int { 8_000 }

  private var pending: [UInt8] = []
  private var pendingTimestamp = Instant.zero
  private var nextRTPTimestamp: UInt32 = 0

  /// An encoder of one of the two laws.
  public init(_ law: G711Law) {
    self.law = law
    pending.reserveCapacity(2 * Self.samplesPerPacket)
  }

  public func encode(_ frame: AudioFrame, emit: (EncodedFrame) -> Void) throws(AudioCodecError) {
    guard frame.sampleRate == sampleRate, (1...2).contains(frame.channels) else {
      throw .invalidSetting(
        name: "frame", value: "\(frame.sampleRate) Hz, \(frame.channels) channels",
        allowed: "8000 Hz, 1 or 2 channels")
    }
    if pending.isEmpty { pendingTimestamp = frame.timestamp }
    for index in 0..<frame.frameCount {
      let sample =
        frame.channels == 1
        ? frame.samples[index]
        : Int16(
          truncatingIfNeeded: (Int(frame.samples[2 * index]) + Int(frame.samples[2 * index + 1]))
            >> 1)
      pending.append(law.encode(sample))
      if pending.count == Self.samplesPerPacket { emit(take()) }
    }
  }

  private func take() -> EncodedFrame {
    let packet = EncodedFrame(
      payload: EncodedBuffer(pending), isKeyFrame: true, rtpTimestamp: nextRTPTimestamp,
      timestamp: pendingTimestamp)
    nextRTPTimestamp &+= UInt32(Self.samplesPerPacket)
    pendingTimestamp += .milliseconds(20)
    pending.removeAll(keepingCapacity: true)
    return packet
  }

  public func skip(sampleCount: Int) {
    nextRTPTimestamp &+= UInt32(truncatingIfNeeded: pending.count + max(0, sampleCount))
    pending.removeAll(keepingCapacity: true)
  }
}
