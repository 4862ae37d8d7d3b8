import SoraCongestion
import SoraMedia
import SoraRTP
import SoraTransport

/// One encoding of a published medium: what arrives of it is counted, completed by NACK, kept, and handed to those who are sent it.
/// A medium without simulcast has one.
///
/// Confined to its core.
final class PublishedLayer {
  let codec: SFUCodec
  /// The connection that publishes it.
  let publisherID: String
  /// nil without simulcast.
  let rid: RTPExtensionText?
  /// Its place among those that were offered, the lowest first.
  let rank: Int
  let types: SFUPayloadTypes.Assignment
  private let terms: Terms

  /// What the publisher's answer says of its section.
  struct Terms {
    var isSending = false
    /// Ids of the header extensions.
    var extensions = RTPHeaderExtensionMap()
    var sendsNack = false
    /// How its publisher is to be told what becomes of packets; nil where nothing is agreed on.
    var feedback: CongestionFeedbackKind?
  }

  struct Statistics {
    var packets: UInt64 = 0
    var bytes: UInt64 = 0
    var nacksSent: UInt64 = 0
    var keyFrameRequests: UInt64 = 0

    mutating func add(_ other: Statistics) {
      packets &+= other.packets
      bytes &+= other.bytes
      nacksSent &+= other.nacksSent
      keyFrameRequests &+= other.keyFrameRequests
    }
  }

  /// The source that the publisher sends now; nil before its first packet.
  private(set) var receiver: RTPTrackReceiver?
  /// Names the present source among those of its track.
  private(set) var epoch: UInt8 = 0
  /// What was received, with the publisher's header, for every subscriber to be sent from. Video only: audio isn't kept waiting
  /// and isn't sent again.
  private let history: PacketHistory?
  private let depayloader: (any RTPDepayloader)?
  private var seen = DuplicateFilter()
  private var rates: LayerRates
  /// The packets that came last, so that subscribers needn't parse them again.
  @safe @exclusivity(unchecked) private var parsed = ParsedPackets()
  /// What the first packets of the newest frames have said of them.
  private var frames = FrameInfos()
  /// Kept packets that haven't been forwarded yet: those of one batch go to one subscriber after the other.
  @safe @exclusivity(unchecked) private var run: [UploadedPacket] = []
  private var counted = Statistics()
  /// With simulcast, whether its frames come.
  private(set) var flow = LayerFlow()
  private var isEnded = false

  /// Without simulcast rates are those of the latest second. With it a key frame, as each subscriber that enters the layer asks
  /// for, must not look like a higher rate.
  private static let longMemory = Duration.milliseconds(2500)

  /// Bytes that a packet is longer on the wire than as it is stored, about: SRTP's tag, UDP and IPv4.
  private static let overhead = 16 + 28

  init(
    _ codec: SFUCodec, types: SFUPayloadTypes.Assignment, publisherID: String, _ terms: Terms,
    rid: RTPExtensionText? = nil, rank: Int = 0
  ) {
    self.codec = codec
    self.types = types
    self.publisherID = publisherID
    self.terms = terms
    self.rid = rid
    self.rank = rank
    let isVideo = codec.kind == .video
    history = isVideo ? PacketHistory(capacity: 1024) : nil
    depayloader = isVideo ? RTPPayloadFormats.named(codec.name)?.makeDepayloader() : nil
    rates = Self.rates(isSimulcast: rid != nil)
  }

  var ssrc: UInt32? { receiver?.ssrc }

  var statistics: Statistics {
    var statistics = counted
    statistics.nacksSent &+= receiver?.statistics.nackCount ?? 0
    statistics.keyFrameRequests &+= receiver?.statistics.pliCount ?? 0
    return statistics
  }

  /// A new source begins: numbers and reports start over.
  ///
  /// - Parameter epoch: names the source.
  func start(_ ssrc: UInt32, epoch: UInt8) {
    let next = RTPTrackReceiver(
      kind: codec.kind, ssrc: ssrc, clockRate: codec.clockRate,
      sendsNack: terms.sendsNack && codec.kind == .video)
    if let receiver {
      counted.nacksSent &+= receiver.statistics.nackCount
      counted.keyFrameRequests &+= receiver.statistics.pliCount
      next.keyFrames = receiver.keyFrames
    }
    receiver = next
    self.epoch = epoch
    history?.removeAll()
    parsed = ParsedPackets()
    frames = FrameInfos()
    seen = DuplicateFilter()
    flow.rebase()
  }

  /// Its publisher is gone.
  func end() {
    run = []
    isEnded = true
  }

  /// With simulcast: its frames come.
  ///
  /// - Returns: whether they didn't before.
  func beginFlowing(at now: Instant) -> Bool {
    guard flow.begin(at: now) else { return false }
    // What it took before it stopped, and that it took nothing since, says nothing of what it takes now.
    rates = Self.rates(isSimulcast: rid != nil)
    return true
  }

  private static func rates(isSimulcast: Bool) -> LayerRates {
    LayerRates(memory: isSimulcast ? longMemory : .seconds(1), trustsBeginning: isSimulcast)
  }

  /// Its frames don't come any more.
  func stopFlowing() { flow.stop() }

  /// Asks for a key frame with the publisher's next poll, but not sooner than the interval after the last one. Before its
  /// first packet a publisher has no source to name, and begins with a key frame anyway.
  func requestKeyFrame(interval: Duration, at now: Instant) {
    guard codec.kind == .video, terms.isSending, !isEnded else { return }
    receiver?.keyFrames.askOnce(interval: interval, at: now)
  }

  // MARK: Packets

  /// Takes a packet that the publisher sent, or that was restored from a retransmission.
  ///
  /// - Parameters:
  ///   - isRestored: whether `header` isn't `packet`'s own; it is kept as if it had come the first time.
  /// - Returns: what subscribers are to be sent of it, and with simulcast whether it begins a frame; nil where it came before. What
  ///   is kept is in the run then.
  func take(
    _ packet: UnsafeRawBufferPointer, _ header: RTPHeader, _ values: RTPHeaderExtensions,
    isRestored: Bool, at now: Instant
  ) -> (uploaded: UploadedPacket, beginsFrame: Bool)? {
    guard seen.insert(header.sequenceNumber) else { return nil }
    counted.packets &+= 1
    counted.bytes &+= UInt64(header.payloadCount)
    let payload = unsafe header.payload(in: packet)
    let info = depayloader.flatMap { unsafe try? $0.parse(payload, marker: header.marker) }
    rates.add(
      packet.count + Self.overhead, layer: info?.temporalLayer ?? 0, at: now)
    let uploaded = UploadedPacket(
      header: header, values: ForwardedValues(values), info: info, count: packet.count,
      isRestored: isRestored)
    let beginsFrame = rid != nil && flow.take(header.timestamp, at: now)
    guard let history else { return (uploaded, beginsFrame) }
    if let info { frames.note(info, of: header.timestamp) }
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
      parsed.insert(StoredPacket(header: header, values: uploaded.values))
    }
    run.append(uploaded)
    return (uploaded, beginsFrame)
  }

  /// Whoever waited for a key frame has it.
  func keyFrameCame() { receiver?.keyFrames.withdraw() }

  /// Whether a subscriber can be sent this layer from this packet on. Parameter sets may stand in packets of their own before the
  /// picture: without knowing what is before it, a picture alone isn't trusted to need none.
  func startsKeyFrame(_ uploaded: UploadedPacket) -> Bool {
    guard let info = uploaded.info, info.isFrameStart else { return false }
    if info.isKeyFrame || info.parts.contains(.parameterSets) { return true }
    return info.parts.isKeyFrame && storedCount(uploaded.header.sequenceNumber &- 1) != nil
  }

  /// Lends the run, and ends it. It is taken out meanwhile: an array of two owners would be copied to be emptied.
  func lendRun(_ body: (Span<UploadedPacket>) -> Void) {
    var packets: [UploadedPacket] = []
    swap(&packets, &run)
    body(packets.span)
    packets.removeAll(keepingCapacity: true)
    swap(&packets, &run)
  }

  /// Whether the run has begun with the packet that was taken last.
  var isRunNew: Bool { run.count == 1 }
  /// Whether no more fits into the run.
  var isRunFull: Bool { run.count >= ParsedPackets.capacity }

  /// A kept packet and its header; nil where it isn't kept any more. Valid until the next packet is taken.
  func stored(_ number: UInt16) -> ReadPacket? {
    guard let memory = unsafe history?.stored(sequenceNumber: number) else { return nil }
    let bytes = UnsafeRawBufferPointer(memory)
    if let known = parsed[number] { return unsafe ReadPacket(bytes: bytes, read: known) }
    guard let header = unsafe try? RTPHeader(parsing: bytes) else { return nil }
    let values = unsafe RTPHeaderExtensions(of: header, in: bytes, map: terms.extensions)
    return unsafe ReadPacket(
      bytes: bytes, read: StoredPacket(header: header, values: ForwardedValues(values)))
  }

  /// A kept packet as it came, but that it says of its frame what the first one did; nil where it isn't kept any more.
  func uploaded(_ number: UInt16) -> UploadedPacket? {
    guard let packet = stored(number) else { return nil }
    let read = packet.read
    return unsafe UploadedPacket(
      header: read.header, values: read.values, info: frames[read.header.timestamp],
      count: packet.bytes.count, isRestored: false)
  }

  /// Bytes of a kept packet; nil where it isn't kept any more.
  func storedCount(_ number: UInt16) -> Int? {
    unsafe history?.stored(sequenceNumber: number)?.count
  }

  // MARK: Rates

  /// The highest temporal layer that came.
  var highestTemporalLayer: UInt8 { rates.highest }

  /// What the temporal layers up to this one take together at the moment, with all headers.
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
