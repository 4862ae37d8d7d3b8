import SoraMedia
import SoraRTP
import SoraTransport

/// Puts the packets of a published track together into frames, for who takes them before they are decoded. Confined to its core.
final class TrackAssembly {
  private let codec: MediaCodec
  /// Video only; nothing is held back for smoothness.
  private let buffer: VideoJitterBuffer?

  /// nil where the codec is none that can be put together.
  init?(_ codec: SFUCodec, payloadType: UInt8) {
    guard let known = MediaCodec(encodingName: codec.name) else { return nil }
    self.codec = known
    guard known.kind == .video else {
      buffer = nil
      return
    }
    var configuration = VideoJitterBuffer.Configuration()
    configuration.maximumDelay = .zero
    let made = VideoJitterBuffer(configuration: configuration)
    made.setFormat(RTPPayloadFormats.named(codec.name), payloadType: payloadType)
    buffer = made
  }

  /// Takes a packet and gives out the frames that are complete with it.
  ///
  /// - Returns: whether the publisher is to be asked for a key frame.
  func take(
    _ packet: LentPacket, reports: SenderReportTracker?, at now: Instant,
    _ output: (EncodedTrackFrame) -> Void
  ) -> Bool {
    let header = packet.uploaded.header
    let payload = unsafe header.payload(in: packet.bytes)
    guard let buffer else {
      guard unsafe !payload.isEmpty else { return false }
      let frame = unsafe EncodedFrame(
        payload: EncodedBuffer(payload), isKeyFrame: true, rtpTimestamp: header.timestamp,
        timestamp: now)
      output(track(frame, reports, now))
      return false
    }
    unsafe buffer.insert(
      header, payload: payload, isRetransmission: packet.uploaded.isRestored,
      rotation: packet.uploaded.values.videoOrientation,
      dependencyDescriptor: packet.uploaded.values.dependencyDescriptor.bytes(in: packet.bytes),
      at: now)
    while let frame = buffer.nextFrame(at: now) { output(track(frame, reports, now)) }
    return buffer.takeKeyFrameRequest(at: now)
  }

  private func track(
    _ frame: EncodedFrame, _ reports: SenderReportTracker?, _ now: Instant
  ) -> EncodedTrackFrame {
    EncodedTrackFrame(
      codec: codec, frame: frame,
      captureTime: reports?.captureTime(of: frame.rtpTimestamp).map {
        .nanoseconds($0.unixNanoseconds)
      }, receiveTime: now)
  }
}
