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
  private var terms: Terms

  /// What the publisher's answer says of its section.
  struct Terms {
    var isSending = false
    /// Ids of the header extensions.
    var extensions = RTPHeaderExtensionMap()
    var sendsNack = false
    /// How its publisher is to be told what becomes of packets; nil where nothing is agreed on.
    var feedback: CongestionFeedbackKind?
  }

  typealias Statistics = LayerTraffic.Statistics

  /// The source that the publisher sends now; nil before its first packet.
  private(set) var receiver: RTPTrackReceiver?
  /// Names the present source among those of its track.
  private(set) var epoch: UInt8 = 0
  /// What was received, with the publisher's header, for every subscriber to be sent from. Video only: audio isn't kept waiting
  /// and isn't sent again.
  private let history: PacketHistory?
  private let depayloader: (any RTPDepayloader)?
  private var traffic: LayerTraffic
  /// The packets that came last, so that subscribers needn't parse them again.
  @safe @exclusivity(unchecked) private var parsed = ParsedPackets()
  /// What the first packets of the newest frames have said of them.
  private var frames = FrameInfos()
  /// Kept packets that haven't been forwarded yet: those of one batch go to one subscriber after the other.
  @safe @exclusivity(unchecked) private var run: [UploadedPacket] = []
  /// With simulcast, whether its frames come.
  private(set) var flow = LayerFlow()

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
    traffic = LayerTraffic(isSimulcast: rid != nil)
  }

  var ssrc: UInt32? { receiver?.ssrc }

  var statistics: Statistics {
    var statistics = traffic.statistics
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
    if let receiver { next.keyFrames = receiver.keyFrames }
    traffic.startSource(
      afterNacks: receiver?.statistics.nackCount ?? 0,
      keyFrameRequests: receiver?.statistics.pliCount ?? 0)
    receiver = next
    self.epoch = epoch
    history?.removeAll()
    parsed = ParsedPackets()
    frames = FrameInfos()
    flow.rebase()
  }

  /// Its publisher is gone.
  func end() {
    run = []
    terms.isSending = false
  }

  /// With simulcast: its frames come.
  ///
  /// - Returns: whether they didn't before.
  func beginFlowing(at now: Instant) -> Bool {
    guard flow.begin(at: now) else { return false }
    traffic.restartRates()
    return true
  }

  /// Its frames don't come any more.
  func stopFlowing() { flow.stop() }

  /// Asks for a key frame with the publisher's next poll, but not sooner than the interval after the last one. Before its
  /// first packet a publisher has no source to name, and begins with a key frame anyway.
  func requestKeyFrame(interval: Duration, at now: Instant) {
    guard codec.kind == .video, terms.isSending else { return }
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
    guard traffic.isNew(header.sequenceNumber) else { return nil }
    let payload = unsafe header.payload(in: packet)
    let info = depayloader.flatMap { unsafe try? $0.parse(payload, marker: header.marker) }
    traffic.count(
      packet.count, payload: header.payloadCount, layer: info?.temporalLayer ?? 0, at: now)
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
  var highestTemporalLayer: UInt8 { traffic.highestTemporalLayer }

  /// What the temporal layers up to this one take together at the moment, with all headers.
  func rate(through layer: UInt8, at now: Instant) -> Bitrate {
    traffic.rate(through: layer, at: now)
  }
}
