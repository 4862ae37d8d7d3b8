package import SoraMedia

/// A frame whose packets are arriving.
package struct FrameAssembly {
  let rtpTimestamp: UInt32
  /// The timestamp without wraps.
  let timestamp: Int64
  let payloadType: UInt8
  /// Which packets of it have come.
  package var extent: FrameExtent
  package var isComplete = false
  /// The bytes of the packets before `extent.next`, once it has started.
  var buffer: EncodedBuffer?
  /// What the first packet said; of others only the layers are kept.
  var info: RTPPayloadInfo
  /// What the packets held whose bytes are in `buffer`.
  var parts: RTPFrameParts = []
  var packetCount = 0
  let firstArrival: Instant
  /// When a packet first came before its turn.
  var gapSince: Instant?
  var hasRetransmission = false
  var rotation: VideoRotation?

  package init(
    header: RTPHeader, timestamp: Int64, sequence: Int64, info: RTPPayloadInfo, at now: Instant
  ) {
    rtpTimestamp = header.timestamp
    self.timestamp = timestamp
    payloadType = header.payloadType
    extent = FrameExtent(sequence)
    self.info = info
    firstArrival = now
  }

  /// A frame that is known to be one that a decoder can't start at.
  var isKnownDelta: Bool {
    extent.isStarted && !info.isKeyFrame && (parts.isEmpty || parts.hasPicture)
  }

  /// Nothing but parameter sets and messages.
  var isWithoutPicture: Bool { !parts.isEmpty && !parts.hasPicture }

  /// A key frame, or the beginning of what will be one.
  var mayBeKeyFrame: Bool {
    extent.isStarted && (info.isKeyFrame || isWithoutPicture && parts.contains(.sequenceParameters))
  }

  /// The next payload's bytes have been taken into `buffer`.
  mutating func appended(_ next: RTPPayloadInfo) {
    if let more = next.dependencies {
      if info.dependencies == nil {
        info.dependencies = more
      } else {
        info.dependencies?.merge(more)
      }
    }
    guard !next.parts.isEmpty else { return }
    parts.formUnion(next.parts)
    info.isKeyFrame = parts.isKeyFrame
    info.temporalLayer = max(info.temporalLayer, next.temporalLayer)
  }
}
