import SoraCongestion
import SoraMedia
import SoraRTP
import SoraTransport

/// One medium that a connection uploads: what arrives is counted, completed by NACK, kept, and handed to the subscribers.
///
/// Confined to its core.
final class PublishedTrack {
  let kind: MediaKind
  /// The section of the publisher's description.
  let mid: String
  let codec: SFUCodec
  let types: SFUPayloadTypes.Assignment
  /// The track's name towards subscribers; the stream's is the publisher's connection id.
  let trackID: String
  let publisherID: String

  /// What the publisher's answer says of the section.
  struct Terms {
    var isSending = false
    /// Ids of the header extensions.
    var extensions = RTPHeaderExtensionMap()
    var sendsNack = false
  }
  var terms = Terms()
  private(set) var subscriptions: [SubscribedTrack] = []

  /// The source that the publisher sends now; nil before its first packet.
  private(set) var receiver: RTPTrackReceiver?
  /// What was received, with the publisher's header, for every subscriber to be sent from. Video only: audio isn't kept waiting
  /// and isn't sent again.
  private let history: PacketHistory?
  private let depayloader: (any RTPDepayloader)?
  private var seen = DuplicateFilter()
  private var rates = LayerRates()
  /// The packets that came last, so that subscribers needn't parse them again.
  private var parsed = ParsedPackets()
  /// Kept packets that haven't been forwarded yet: those of one batch go to one subscriber after the other.
  private var run: [UploadedPacket] = []
  private var counted = Statistics()
  /// What puts its packets together into frames; nil while nobody takes those.
  private var assembly: TrackAssembly?

  struct Statistics {
    var packets: UInt64 = 0
    var bytes: UInt64 = 0
    var nacksSent: UInt64 = 0
    var keyFrameRequests: UInt64 = 0
  }

  init(
    codec: SFUCodec, types: SFUPayloadTypes.Assignment, mid: String, publisherID: String,
    trackID: String
  ) {
    kind = codec.kind
    self.mid = mid
    self.codec = codec
    self.types = types
    self.publisherID = publisherID
    self.trackID = trackID
    history = codec.kind == .video ? PacketHistory(capacity: 1024) : nil
    depayloader =
      codec.kind == .video ? RTPPayloadFormats.named(codec.name)?.makeDepayloader() : nil
  }

  var ssrc: UInt32? { receiver?.ssrc }
  /// Whether receivers take a gap in its payloads' picture ids for a loss.
  var movesPictureIDs: Bool { codec.name == "VP8" }

  var statistics: Statistics {
    var statistics = counted
    statistics.nacksSent &+= receiver?.statistics.nackCount ?? 0
    statistics.keyFrameRequests &+= receiver?.statistics.pliCount ?? 0
    return statistics
  }

  /// A new source begins: numbers and reports start over, and subscribers carry on where they were.
  func start(_ ssrc: UInt32, at now: Instant) {
    forwardRun(at: now)
    let next = RTPTrackReceiver(
      kind: kind, ssrc: ssrc, clockRate: codec.clockRate,
      sendsNack: terms.sendsNack && kind == .video)
    if let receiver {
      counted.nacksSent &+= receiver.statistics.nackCount
      counted.keyFrameRequests &+= receiver.statistics.pliCount
      next.keyFrames = receiver.keyFrames
    }
    receiver = next
    history?.removeAll()
    parsed = ParsedPackets()
    seen = DuplicateFilter()
    assembly = nil
    for subscription in subscriptions { subscription.rebase() }
  }

  /// What puts its packets together, made where there is none; nil where its codec is unknown.
  func obtainAssembly() -> TrackAssembly? {
    if assembly == nil { assembly = TrackAssembly(codec, payloadType: types.media) }
    return assembly
  }

  /// Nobody takes frames any more.
  func dropAssembly() { assembly = nil }

  // MARK: Subscribers

  func add(_ subscription: SubscribedTrack) { subscriptions.append(subscription) }

  func remove(_ subscription: SubscribedTrack) { subscriptions.removeAll { $0 === subscription } }

  /// Its publisher is gone. Its subscribers' sections hold the track until they are renegotiated.
  func end() {
    terms.isSending = false
    subscriptions = []
    run = []
  }

  /// Asks for a key frame with the publisher's next poll, but not sooner than the interval after the last one. Before its
  /// first packet a publisher has no source to name, and begins with a key frame anyway.
  func requestKeyFrame(interval: Duration, at now: Instant) {
    guard kind == .video, terms.isSending else { return }
    receiver?.keyFrames.askOnce(interval: interval, at: now)
  }

  // MARK: Packets

  /// Takes a packet that the publisher sent, or that was restored from a retransmission.
  ///
  /// - Parameters:
  ///   - isRestored: whether `header` isn't `packet`'s own; it is kept as if it had come the first time.
  /// - Returns: what subscribers are to be sent of it; nil where it came before. What is kept is in the run then.
  func take(
    _ packet: UnsafeRawBufferPointer, _ header: RTPHeader, _ values: RTPHeaderExtensions,
    isRestored: Bool, at now: Instant
  ) -> UploadedPacket? {
    guard seen.insert(header.sequenceNumber) else { return nil }
    counted.packets &+= 1
    counted.bytes &+= UInt64(header.payloadCount)
    let payload = unsafe header.payload(in: packet)
    let info = depayloader.flatMap { unsafe try? $0.parse(payload, marker: header.marker) }
    rates.add(
      packet.count + SubscribedTrack.overhead, layer: info?.temporalLayer ?? 0, at: now)
    let uploaded = UploadedPacket(
      header: header, values: values, info: info, count: packet.count, isRestored: isRestored)
    guard let history else { return uploaded }
    if isRestored {
      let slot = unsafe history.reserve(sequenceNumber: header.sequenceNumber)
      if let writer = unsafe try? RTPPacket.rewriteExtensions(
        of: packet, header: header, extensions: values, map: terms.extensions, into: slot)
      {
        history.commit(sequenceNumber: header.sequenceNumber, count: writer.count, at: now)
      }
      parsed.remove(header.sequenceNumber)
    } else {
      unsafe history.store(packet, sequenceNumber: header.sequenceNumber, at: now)
      parsed.insert(StoredPacket(header: header, values: values))
    }
    run.append(uploaded)
    return uploaded
  }

  /// Sends the run on, to one subscriber after the other, so that what each of them needs is fetched from memory once.
  func forwardRun(at now: Instant) {
    guard !run.isEmpty else { return }
    for subscription in subscriptions where subscription.isActive {
      subscription.subscriber.forward(run, on: subscription, at: now)
    }
    run.removeAll(keepingCapacity: true)
  }

  /// Whether the run has begun with the packet that was taken last.
  var isRunNew: Bool { run.count == 1 }
  /// Whether no more fits into the run.
  var isRunFull: Bool { run.count >= ParsedPackets.capacity }

  /// A kept packet and its header; nil where it isn't kept any more. Valid until the next packet is taken.
  func stored(_ number: UInt16) -> (bytes: UnsafeRawBufferPointer, packet: StoredPacket)? {
    guard let memory = unsafe history?.stored(sequenceNumber: number) else { return nil }
    let bytes = UnsafeRawBufferPointer(memory)
    if let known = parsed[number] { return unsafe (bytes, known) }
    guard let header = unsafe try? RTPHeader(parsing: bytes) else { return nil }
    let values = unsafe RTPHeaderExtensions(of: header, in: bytes, map: terms.extensions)
    return unsafe (bytes, StoredPacket(header: header, values: values))
  }

  /// Bytes of a kept packet; nil where it isn't kept any more.
  func storedCount(_ number: UInt16) -> Int? {
    unsafe history?.stored(sequenceNumber: number)?.count
  }

  // MARK: Rates

  /// The highest temporal layer that came.
  var highestLayer: UInt8 { rates.highest }

  /// What the layers up to this one take together at the moment, with all headers.
  func rate(through layer: UInt8, at now: Instant) -> Bitrate {
    rates.rate(through: layer, at: now)
  }
}

/// Remembers which sequence numbers have come, as far back as retransmissions reach.
struct DuplicateFilter {
  private var extender = SequenceNumberExtender()
  /// The number in each place, extended; numbers collide only when they are too old to be told apart.
  private var slots = [Int64](repeating: .min, count: 2048)

  /// Returns false for a number that was inserted before, or is so old that nobody can tell.
  mutating func insert(_ number: UInt16) -> Bool {
    let sequence = extender.extend(number)
    let slot = Int(sequence & 2047)
    guard slots[slot] < sequence else { return false }
    slots[slot] = sequence
    return true
  }
}
