import SoraMedia
import SoraRTP

/// What of a packet's header extensions goes on with it: the others name the publisher's own streams. Each packet is copied for each
/// subscriber, so it is kept small.
struct ForwardedValues {
  var audioLevel: RTPAudioLevel?
  var videoOrientation: VideoRotation?
  /// Its bytes are the packet's.
  var dependencyDescriptor: RTPDependencyDescriptorField

  init(_ values: RTPHeaderExtensions) {
    audioLevel = values.audioLevel
    videoOrientation = values.videoOrientation
    dependencyDescriptor = values.dependencyDescriptor
  }
}

/// A packet of a publisher's.
struct UploadedPacket {
  var header: RTPHeader
  var values: ForwardedValues
  /// What its payload says; nil of audio, and where it can't be read.
  var info: RTPPayloadInfo?
  /// Bytes of all of it.
  var count: Int
  /// Whether it came as a retransmission.
  var isRestored: Bool
}

/// A packet of a publisher's with its bytes, lent for the call.
@safe struct LentPacket {
  var uploaded: UploadedPacket
  var bytes: UnsafeRawBufferPointer
}

extension LentPacket {
  var read: ReadPacket {
    unsafe ReadPacket(
      bytes: bytes, read: StoredPacket(header: uploaded.header, values: uploaded.values))
  }

  /// A packet of a codec's media, of redundant audio the newest block; nil for others.
  func withoutRedundancy(_ types: SFUPayloadTypes.Assignment) -> LentPacket? {
    var packet = self
    if uploaded.header.payloadType == types.red {
      guard let newest = unsafe uploaded.header.newestBlock(in: bytes.bytes) else { return nil }
      packet.uploaded.header = newest
    }
    return packet.uploaded.header.payloadType == types.media ? packet : nil
  }
}

/// A kept packet's parsed header, whose offsets are the packet's own.
struct StoredPacket {
  var header: RTPHeader
  var values: ForwardedValues
}

/// A packet of a publisher's to be sent on: its bytes, lent for the call, and what was read of it.
@safe struct ReadPacket {
  var bytes: UnsafeRawBufferPointer
  var read: StoredPacket
}

/// The parsed headers of the packets that were kept last.
struct ParsedPackets {
  /// As many as a run has.
  static let capacity = 64
  private var slots: [StoredPacket?] = []

  mutating func remove(_ number: UInt16) {
    guard !slots.isEmpty else { return }
    slots[Int(number) % Self.capacity] = nil
  }

  mutating func insert(_ packet: StoredPacket) {
    if slots.isEmpty { slots = Array(repeating: nil, count: Self.capacity) }
    slots[Int(packet.header.sequenceNumber) % Self.capacity] = packet
  }

  subscript(number: UInt16) -> StoredPacket? {
    guard !slots.isEmpty, let packet = slots[Int(number) % Self.capacity],
      packet.header.sequenceNumber == number
    else { return nil }
    return packet
  }
}

/// What the packets that came first of the newest frames say of them.
struct FrameInfos {
  private static let capacity = FrameGate.memory
  private var entries: [(timestamp: UInt32, info: RTPPayloadInfo)] = []
  private var newest = 0

  mutating func note(_ info: RTPPayloadInfo, of timestamp: UInt32) {
    // Most packets are of the newest frame.
    guard entries.isEmpty || entries[newest].timestamp != timestamp, self[timestamp] == nil else {
      return
    }
    if entries.count < Self.capacity {
      newest = entries.count
      entries.append((timestamp, info))
    } else {
      newest = (newest + 1) % Self.capacity
      entries[newest] = (timestamp, info)
    }
  }

  subscript(timestamp: UInt32) -> RTPPayloadInfo? {
    entries.first { $0.timestamp == timestamp }?.info
  }
}
