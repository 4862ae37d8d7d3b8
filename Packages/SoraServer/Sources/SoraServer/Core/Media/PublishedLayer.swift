import SoraCongestion
import SoraMedia
import SoraRTP
import SoraTransport

/// One encoding of a published medium: what arrives of it is counted, completed by NACK, kept, and handed to those who are sent it.
/// A medium without simulcast has one.
///
/// Confined to its core.
final class PublishedLayer {
  unowned let track: PublishedTrack
  /// nil without simulcast.
  let rid: RTPExtensionText?
  /// Its place among those that were offered, the lowest first.
  let rank: Int
  let types: SFUPayloadTypes.Assignment

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
  private var parsed = ParsedPackets()
  /// Kept packets that haven't been forwarded yet: those of one batch go to one subscriber after the other.
  private var run: [UploadedPacket] = []
  private var counted = PublishedTrack.Statistics()
  /// With simulcast, whether its frames come.
  private(set) var flow = LayerFlow()

  /// Without simulcast rates are those of the latest second. With it a key frame, as each subscriber that enters the layer asks
  /// for, must not look like a higher rate.
  private static let longMemory = Duration.milliseconds(2500)

  init(of track: PublishedTrack, rid: RTPExtensionText? = nil, rank: Int = 0) {
    self.track = track
    self.rid = rid
    self.rank = rank
    types = track.types
    let isVideo = track.kind == .video
    history = isVideo ? PacketHistory(capacity: 1024) : nil
    depayloader = isVideo ? RTPPayloadFormats.named(track.codec.name)?.makeDepayloader() : nil
    rates = LayerRates(memory: rid == nil ? .seconds(1) : Self.longMemory)
  }

  var ssrc: UInt32? { receiver?.ssrc }

  var statistics: PublishedTrack.Statistics {
    var statistics = counted
    statistics.nacksSent &+= receiver?.statistics.nackCount ?? 0
    statistics.keyFrameRequests &+= receiver?.statistics.pliCount ?? 0
    return statistics
  }

  /// A new source begins: numbers and reports start over, and subscribers carry on where they were.
  func start(_ ssrc: UInt32, at now: Instant) {
    forwardRun(at: now)
    let next = RTPTrackReceiver(
      kind: track.kind, ssrc: ssrc, clockRate: track.codec.clockRate,
      sendsNack: track.terms.sendsNack && track.kind == .video)
    if let receiver {
      counted.nacksSent &+= receiver.statistics.nackCount
      counted.keyFrameRequests &+= receiver.statistics.pliCount
      next.keyFrames = receiver.keyFrames
    }
    receiver = next
    epoch = track.takeEpoch()
    history?.removeAll()
    parsed = ParsedPackets()
    seen = DuplicateFilter()
    flow.rebase()
    track.layerStarted(self)
  }

  /// Its publisher is gone.
  func end() { run = [] }

  /// Its frames don't come any more.
  func stopFlowing() { flow.stop() }

  /// Asks for a key frame with the publisher's next poll, but not sooner than the interval after the last one. Before its
  /// first packet a publisher has no source to name, and begins with a key frame anyway.
  func requestKeyFrame(interval: Duration, at now: Instant) {
    guard track.kind == .video, track.terms.isSending else { return }
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
    if rid != nil { note(uploaded, at: now) }
    guard let history else { return uploaded }
    if isRestored {
      let slot = unsafe history.reserve(sequenceNumber: header.sequenceNumber)
      if let writer = unsafe try? RTPPacket.rewriteExtensions(
        of: packet, header: header, extensions: values, map: track.terms.extensions, into: slot)
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

  /// With simulcast: frames of one layer tell whether others still come.
  private func note(_ uploaded: UploadedPacket, at now: Instant) {
    // Whoever waits for a key frame has it with this one.
    if startsKeyFrame(uploaded) { receiver?.keyFrames.withdraw() }
    guard flow.take(uploaded.header.timestamp, at: now) else { return }
    let hasBegun = flow.begin(at: now)
    track.frameCame(on: self, isFirst: hasBegun, at: now)
  }

  /// Whether a subscriber can be sent this layer from this packet on. Parameter sets may stand in packets of their own before the
  /// picture: without knowing what is before it, a picture alone isn't trusted to need none.
  func startsKeyFrame(_ uploaded: UploadedPacket) -> Bool {
    guard let info = uploaded.info, info.isFrameStart else { return false }
    if info.isKeyFrame || info.parts.contains(.parameterSets) { return true }
    return info.parts.isKeyFrame && storedCount(uploaded.header.sequenceNumber &- 1) != nil
  }

  /// Sends the run on, to one subscriber after the other, so that what each of them needs is fetched from memory once.
  func forwardRun(at now: Instant) {
    guard !run.isEmpty else { return }
    for subscription in track.subscriptions where subscription.isActive && subscription.takes(self)
    {
      subscription.subscriber.forward(run, of: self, on: subscription, at: now)
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
    let values = unsafe RTPHeaderExtensions(of: header, in: bytes, map: track.terms.extensions)
    return unsafe (bytes, StoredPacket(header: header, values: values))
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
