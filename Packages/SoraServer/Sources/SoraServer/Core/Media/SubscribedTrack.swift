import SoraCongestion
import SoraMedia
import SoraRTP
import SoraTransport
import SoraWire

/// Who is sent published tracks.
protocol TrackSubscriber: AnyObject {
  /// Sends a packet that is lent, on to its link.
  func forward(
    _ packet: LentPacket, of layer: PublishedLayer, on subscription: SubscribedTrack,
    at now: Instant)
  /// Sends what came of a layer in one batch.
  func forward(
    _ run: Span<UploadedPacket>, of layer: PublishedLayer, on subscription: SubscribedTrack,
    at now: Instant)
  /// Layers of its simulcast have begun or stopped to come.
  func layersChanged(of subscription: SubscribedTrack, at now: Instant)
  /// It is sent another layer from now on, or none.
  func layerSwitched(
    of subscription: SubscribedTrack, from previous: PublishedLayer?, at now: Instant)
}

/// One published medium on its way to one subscriber: its own source, numbers, ids and reports, and the frames that its link
/// has room for.
///
/// Confined to its core.
final class SubscribedTrack {
  let source: PublishedTrack
  unowned let subscriber: any TrackSubscriber
  let sender: RTPTrackSender
  /// The subscriber's: at hand, for each packet needs both.
  private let transport: PeerTransport
  private let controller: SendController
  /// Names it in the subscriber's pacer.
  let slot: Int
  let types: SFUPayloadTypes.Assignment
  /// Whether the subscriber hears of it only what the spotlight has heard.
  private let followsSpotlight: Bool
  /// Whether the subscriber's answer takes the section and its transport can carry it.
  private(set) var isActive = false
  /// What of `types` the subscriber takes.
  private var accepted: SFUPayloadTypes.Assignment
  /// Whether the subscriber reports by source what became of packets, so that they need no transport-wide number.
  private var isReportedBySource = false
  /// What is wanted of it, and what it gets.
  @safe @exclusivity(unchecked) var gate = FrameGate()
  private(set) var share: BandwidthAllocator.Share?

  @safe @exclusivity(unchecked) var selection: LayerSelection<PublishedLayer>
  @safe @exclusivity(unchecked) var rewriter: PacketRewriter
  /// Steps back from the newest packet that the next probe takes.
  private var paddingCursor: UInt16 = 0
  @safe @exclusivity(unchecked) private var dropped = Dropped()

  /// Packets that didn't go on, by reason.
  struct Dropped: Hashable {
    var notWritable: UInt64 = 0
    /// Waited for so long that it isn't kept any more.
    var overtaken: UInt64 = 0
    /// Of who isn't in the spotlight: audio.
    var unfocused: UInt64 = 0
    /// Waited, on the first time or another, when a key frame of a lower layer made it needless.
    var withdrawn: UInt64 = 0
    /// Of a frame that was given up, or older than what is known.
    var late: UInt64 = 0
  }

  struct Statistics {
    var sent: RTPTrackSender.Statistics
    var dropped: Dropped
    var frames: FrameGate.Statistics
  }

  /// - Parameters:
  ///   - sender: its place towards the subscriber.
  ///   - followsSpotlight: whether it is left out while the spotlight doesn't have it heard; audio only.
  ///   - rewriter: where its stream stands.
  init(
    source: PublishedTrack, subscriber: any TrackSubscriber, transport: PeerTransport,
    controller: SendController, slot: Int, _ sender: RTPTrackSender,
    types: SFUPayloadTypes.Assignment, followsSpotlight: Bool, rewriter: PacketRewriter
  ) {
    self.followsSpotlight = followsSpotlight
    self.source = source
    self.subscriber = subscriber
    self.transport = transport
    self.controller = controller
    self.slot = slot
    self.types = types
    accepted = SFUPayloadTypes.Assignment(media: types.media)
    selection = LayerSelection(source.isSimulcast ? nil : source.layers.first)
    self.sender = sender
    self.rewriter = rewriter
  }

  var kind: MediaKind { source.kind }
  /// Audio that isn't sent because its publisher isn't in the spotlight.
  var isMuted: Bool { followsSpotlight && !source.isHeard }
  /// Whether anything of it was sent.
  var hasBegun: Bool { rewriter.timestamps.isStarted }
  var ssrc: UInt32 { sender.parameters.ssrc }
  var statistics: Statistics {
    Statistics(sent: sender.statistics, dropped: dropped, frames: gate.statistics)
  }

  /// Takes what the subscriber's answer says.
  ///
  /// - Returns: whether it is active from now on and wasn't before.
  func apply(
    isActive: Bool, extensions: RTPHeaderExtensionMap, isReportedBySource: Bool,
    acceptsNack: Bool, accepted: SFUPayloadTypes.Assignment
  ) -> Bool {
    self.accepted = accepted
    self.isReportedBySource = isReportedBySource
    sender.parameters.extensions = extensions
    sender.parameters.acceptsNack = acceptsNack
    defer { self.isActive = isActive }
    return isActive && !self.isActive
  }

  func deactivate() { isActive = false }

  /// A layer's source changed: if it is the one that is sent, numbers and timestamps go on from what was sent last.
  func sourceChanged(of layer: PublishedLayer) {
    guard layer === selection.current else { return }
    rewriter.rebase()
    gate.reset()
  }

  // MARK: What is wanted

  /// Why it is sent nothing until a key frame comes; nil where it is sent.
  var wait: FrameGate.Wait? { gate.wait }

  /// Whether packets of a layer are sent, or one of them may be the key frame that is waited for.
  func takes(_ layer: PublishedLayer) -> Bool { selection.has(layer) }

  /// Takes what the subscriber's link has room for, from the next frame on.
  func apply(_ share: BandwidthAllocator.Share) {
    self.share = share
    aimAtTemporalLayer()
  }

  // MARK: Losses

  /// The subscriber will never have this packet. Players wait for seconds before they ask for the key frame that they need then,
  /// and what refers to the packet's frame would be sent for nothing meanwhile.
  func lose(_ number: UInt16) {
    guard kind == .video, let origin = rewriter.numbers.origin(of: number),
      let layer = selection.current, layer.epoch == origin.shift.epoch,
      let (_, stored) = unsafe layer.stored(origin.source)
    else { return }
    gate.lose(stored.header.timestamp)
  }

  // MARK: Forwarding

  /// Whether a packet of the publisher's goes on, and how.
  enum Verdict {
    /// Under this number.
    case forward(UInt16)
    /// As an empty packet under a number that was kept for it: its frame was left out meanwhile.
    case fill(UInt16)
    case leaveOut
  }

  /// Whether `judge` decides of a frame anew with this packet.
  func decides(_ uploaded: UploadedPacket) -> Bool { !gate.isNewest(uploaded.header.timestamp) }

  /// Judges a packet of the publisher's.
  ///
  /// - Parameters:
  ///   - layer: what it is of.
  ///   - now: the present time.
  func judge(
    _ uploaded: UploadedPacket, of layer: PublishedLayer, at now: Instant
  ) -> Verdict {
    let (number, timestamp) = (uploaded.header.sequenceNumber, uploaded.header.timestamp)
    if layer !== selection.current {
      guard layer === selection.next, layer.startsKeyFrame(uploaded),
        controller.backlog <= FrameGate.longestKeyFrameBacklog
      else { return .leaveOut }
      enter(layer, with: timestamp, at: now)
    }
    guard rewriter.numbers.isNewest(number) else { return judgeLate(uploaded, layer.epoch) }
    var frame: FrameGate.Decision?
    var beginsFrame = false
    if kind == .video {
      frame = gate.isNewest(timestamp) ? gate.decision(timestamp) : nil
      if frame == nil {
        let info = uploaded.info ?? RTPPayloadInfo(range: 0..<0)
        frame = gate.decide(timestamp, info, backlog: controller.backlog)
        beginsFrame = true
      }
    }
    let forwards = frame?.forwards ?? !(isMuted || isRefused(uploaded.header))
    if isMuted { dropped.unfocused &+= 1 }
    guard
      let out = rewriter.advance(
        to: uploaded, forwards: forwards, gapIsLeftOut: !forwards && !beginsFrame, frame: frame,
        beginsFrame: beginsFrame, epoch: layer.epoch, at: now)
    else { return .leaveOut }
    return .forward(out)
  }

  /// Whether a packet of the publisher's has keys of a telephone.
  private func isTelephone(_ header: RTPHeader) -> Bool {
    header.payloadType == source.types.telephone
  }

  /// Whether the subscriber takes nothing of the kind.
  private func isRefused(_ header: RTPHeader) -> Bool {
    accepted.telephone == nil && isTelephone(header)
  }

  /// Whether a packet of the publisher's repeats some before it.
  private func isRedundant(_ header: RTPHeader) -> Bool {
    header.payloadType == source.types.red
  }

  /// The type that a packet of the publisher's has towards the subscriber.
  private func payloadType(_ header: RTPHeader) -> UInt8 {
    if isTelephone(header) { return types.telephone ?? types.media }
    return isRedundant(header) ? accepted.red ?? types.media : types.media
  }

  private func judgeLate(_ uploaded: UploadedPacket, _ epoch: UInt8) -> Verdict {
    let number = uploaded.header.sequenceNumber
    guard case .reserved(let out) = rewriter.numbers.place(of: number) else {
      dropped.late &+= 1
      return .leaveOut
    }
    let frame = kind == .audio ? nil : gate.decision(uploaded.header.timestamp)
    rewriter.fill(number, frame: frame, epoch: epoch)
    if isRefused(uploaded.header) { return .fill(out) }
    // Of a frame of which nothing else came nothing was decided: it goes on unless all is left out.
    let forwards = kind == .audio || (frame?.forwards ?? (gate.wait == nil))
    return forwards ? .forward(out) : .fill(out)
  }

  /// Takes back what waits for the link: a key frame of a lower layer makes it needless, and would come late behind it. A frame of which
  /// something has left is finished.
  ///
  /// - Returns: the first number that is free again; nil where nothing has left yet.
  func withdrawWaiting(at now: Instant) -> UInt16? {
    guard hasBegun else { return nil }
    var first = rewriter.timestamps.newestNumber &+ 1
    while let (_, packet, shift) = unsafe stored(first),
      packet.header.timestamp &+ shift.timestamp == rewriter.timestamps.newestTimestamp
    {
      first &+= 1
    }
    var rest: [PacketToken] = []
    controller.discard(stream: slot) { token in
      if !token.isRetransmission, sequenceNumber(first, isNewerThan: token.number) {
        rest.append(token)
      } else {
        dropped.withdrawn &+= 1
      }
    }
    for token in rest {
      guard let count = storedCount(token.number) else { continue }
      _ = controller.enqueue(token, size: count, priority: .video, at: now)
    }
    return first
  }

  /// Whether a packet is of a higher layer than the one that is sent now: behind its key frame a full link has no room for that.
  func isNeedless(_ number: UInt16) -> Bool {
    guard share.map({ $0.reason != .satisfied }) ?? false,
      let origin = rewriter.numbers.origin(of: number), let current = selection.current,
      let layer = source.layer(epoch: origin.shift.epoch)
    else { return false }
    return layer.rank > current.rank
  }

  /// Bytes of the kept packet under a number of ours; nil where it isn't kept any more.
  func storedCount(_ number: UInt16) -> Int? {
    guard let origin = rewriter.numbers.origin(of: number) else { return nil }
    return source.layer(epoch: origin.shift.epoch)?.storedCount(origin.source)
  }

  /// The kept packet under a number of ours, and what it is moved by.
  private func stored(
    _ number: UInt16
  ) -> (bytes: UnsafeRawBufferPointer, packet: StoredPacket, shift: PacketShift)? {
    guard let origin = rewriter.numbers.origin(of: number),
      let layer = source.layer(epoch: origin.shift.epoch),
      let (bytes, packet) = unsafe layer.stored(origin.source)
    else { return nil }
    return unsafe (bytes, packet, origin.shift)
  }

  /// Sends a packet on that is lent.
  ///
  /// - Returns: the bytes of the plain packet; nil where it didn't leave.
  func send(_ packet: LentPacket, as number: UInt16, at now: Instant) -> Int? {
    guard let origin = rewriter.numbers.origin(of: number) else { return nil }
    return unsafe send(
      packet.bytes, packet.uploaded.header, packet.uploaded.values, origin.shift, as: number,
      at: now)
  }

  /// Sends one packet on, payload untouched but for picture ids where frames were left out or the layer has changed, and the dependency
  /// descriptor but for its frame's number where the layer has. Of redundant audio who doesn't take that gets the newest block.
  @discardableResult
  private func send(
    _ packet: UnsafeRawBufferPointer, _ header: RTPHeader, _ values: ForwardedValues,
    _ shift: PacketShift, as number: UInt16, at now: Instant
  ) -> Int? {
    var out = header
    if isRedundant(header), accepted.red == nil {
      guard let newest = unsafe header.newestBlock(in: packet.bytes),
        newest.payloadType == source.types.media
      else { return nil }
      out = newest
    }
    out.payloadType = payloadType(header)
    out.ssrc = ssrc
    out.sequenceNumber = number
    out.timestamp = header.timestamp &+ shift.timestamp
    var extra = sender.namingValues
    take(values, movedBy: shift, into: &extra)
    let map = sender.parameters.extensions
    let size = out.payloadCount
    let isLent = keepsPayload(of: header, by: shift)
    let lent = unsafe isLent ? out.payload(in: packet).bytes : nil
    let capacity = Self.headerRoom(extra) + (isLent ? 0 : size)
    let count = unsafe write(
      out, capacity: capacity, payload: lent, number, .first, extra, at: now
    ) { extra, slot in
      guard
        let writer = unsafe try? RTPPacket.rewriteExtensions(
          of: packet, header: out, extensions: extra, map: map, copiesPayload: !isLent, into: slot)
      else { return nil }
      if isLent { return (writer.count + size, size) }
      unsafe rewrite(payloadOf: header, by: shift, at: writer.payloadOffset, in: slot)
      return (writer.count, size)
    }
    guard let count else { return nil }
    let descriptor = extra.dependencyDescriptor
    rewriter.sent(
      number, out.timestamp, frame: descriptor.count > 0 ? descriptor.frameNumber : nil)
    return count
  }

  /// Sends a packet that waited, if it is still kept.
  func sendStored(_ number: UInt16, at now: Instant) {
    guard let (bytes, stored, shift) = unsafe stored(number) else {
      dropped.overtaken &+= 1
      return
    }
    unsafe send(bytes, stored.header, stored.values, shift, as: number, at: now)
  }

  /// Sends a kept packet again on the retransmission source (RFC 4588 §4).
  ///
  /// - Parameters:
  ///   - number: the original's, as the subscriber knows it.
  /// - Returns: the bytes of the plain packet; nil where it didn't leave.
  func resend(
    _ number: UInt16, as sending: RTPTrackSender.Sending, at now: Instant
  ) -> Int? {
    guard let rtx = sender.parameters.rtx, let (packet, stored, shift) = unsafe stored(number)
    else {
      dropped.overtaken &+= 1
      return nil
    }
    let header = stored.header
    var out = header
    out.ssrc = rtx.ssrc
    out.payloadType = rtx.payloadType
    out.sequenceNumber = sender.takeRTXNumber()
    out.timestamp = header.timestamp &+ shift.timestamp
    var extra = sender.repairValues
    take(stored.values, movedBy: shift, into: &extra)
    let map = sender.parameters.extensions
    let capacity = Self.headerRoom(extra) + Retransmission.overhead + header.payloadCount
    return unsafe write(out, capacity: capacity, number, sending, extra, at: now) { extra, slot in
      guard
        let writer = unsafe try? Retransmission.write(
          out, originalNumber: number, payload: header.payload(in: packet), extensions: extra,
          map: map, dependencyDescriptor: extra.dependencyDescriptor.bytes(in: packet), into: slot)
      else { return nil }
      unsafe rewrite(
        payloadOf: header, by: shift, at: writer.payloadOffset + Retransmission.overhead, in: slot)
      return (writer.count, header.payloadCount + Retransmission.overhead)
    }
  }

  /// Sends a packet of nothing but padding under a number that is kept for one of a frame that was left out: the subscriber
  /// would ask for it for ever.
  func sendFiller(_ number: UInt16, at now: Instant) {
    var out = RTPHeader(
      payloadType: types.media, sequenceNumber: number,
      timestamp: rewriter.timestamps.newestTimestamp,
      ssrc: ssrc)
    out.marker = false
    let extra = sender.namingValues
    let map = sender.parameters.extensions
    let capacity = Self.headerRoom(extra)
    _ = unsafe write(out, capacity: capacity, number, .padding, extra, at: now) { extra, slot in
      var writer = unsafe RTPPacketWriter(into: slot)
      guard unsafe (try? writer.writeHeader(out, extensions: extra, map: map)) != nil,
        (try? writer.appendPadding(1)) != nil
      else { return nil }
      return (writer.count, 0)
    }
  }

  /// Lets `body` write a packet into the datagram that leaves, with its time and transport-wide number, and counts it. Where the payload is
  /// lent, the header is all that is written, and needs room.
  private func write(
    _ header: RTPHeader, capacity: Int, payload: RawSpan? = nil, _ number: UInt16,
    _ sending: RTPTrackSender.Sending,
    _ values: RTPHeaderExtensions, at now: Instant,
    _ body: (RTPHeaderExtensions, UnsafeMutableRawBufferPointer) -> (count: Int, payload: Int)?
  ) -> Int? {
    let isNumbered = sender.parameters.extensions.transportSequenceNumber != nil
    let ecn = isReportedBySource ? controller.codepoint : .notECT
    var values = values
    if !isReportedBySource {
      values.transportSequenceNumber = UInt16(truncatingIfNeeded: controller.nextSequence)
    }
    values.absSendTime = RTPHeaderExtensions.absSendTime(at: now)
    var written: (count: Int, payload: Int)?
    let elsewhere = payload?.byteCount ?? 0
    let isSent = unsafe transport.sendRTP(capacity: capacity, payload: payload, ecn: ecn) { slot in
      written = unsafe body(values, slot)
      return written.map { $0.count - elsewhere } ?? 0
    }
    guard isSent, let written else {
      dropped.notWritable &+= 1
      return nil
    }
    let source = isReportedBySource ? (header.ssrc, header.sequenceNumber) : nil
    let sequence =
      isNumbered || isReportedBySource
      ? controller.number(packetOf: written.count, source: source, at: now) : nil
    sender.sent(
      number, count: written.count, payload: written.payload, transportSequence: sequence,
      as: sending, ecn: ecn, at: now)
    return written.count
  }

  /// What a publisher's packet says beside its payload goes on with it.
  private func take(
    _ values: ForwardedValues, movedBy shift: PacketShift, into extra: inout RTPHeaderExtensions
  ) {
    extra.audioLevel = values.audioLevel
    extra.videoOrientation = values.videoOrientation
    guard sender.parameters.extensions.dependencyDescriptor != nil else { return }
    extra.dependencyDescriptor = values.dependencyDescriptor
    extra.dependencyDescriptor.frameNumber &+= shift.frameNumber
  }

  /// Bytes that a header with extensions needs at most: 12, 4, and 6 elements in the two-byte form; and a dependency descriptor, which
  /// may stand alone in making it that.
  private static func headerRoom(_ values: RTPHeaderExtensions) -> Int {
    let descriptor = Int(values.dependencyDescriptor.count)
    return descriptor == 0 ? 100 : 100 + 2 + descriptor
  }

  /// Whether redundant audio names its media by another type here.
  private func renames(_ header: RTPHeader) -> Bool {
    isRedundant(header) && accepted.red != nil && source.types.media != types.media
  }

  /// Whether a payload goes on as it is.
  private func keepsPayload(of header: RTPHeader, by shift: PacketShift) -> Bool {
    shift.keepsPayload && !renames(header)
  }

  /// Changes in a payload that was written what numbers or types of the publisher it has.
  private func rewrite(
    payloadOf header: RTPHeader, by shift: PacketShift, at offset: Int,
    in slot: UnsafeMutableRawBufferPointer
  ) {
    guard !keepsPayload(of: header, by: shift), offset < slot.count else { return }
    let end = min(slot.count, offset + header.payloadCount)
    var payload = unsafe UnsafeMutableRawBufferPointer(rebasing: slot[offset..<end]).mutableBytes
    if renames(header) { return REDPayload.move(source.types.media, to: types.media, in: &payload) }
    let (pictureID, baseLayerIndex) = (shift.pictureID, shift.baseLayerIndex)
    switch rewriter.pictures.format {
    case .vp8:
      VP8Descriptor.move(pictureID: pictureID, baseLayerIndex: baseLayerIndex, in: &payload)
    case .vp9:
      VP9Descriptor.move(pictureID: pictureID, baseLayerIndex: baseLayerIndex, in: &payload)
    case nil: break
    }
  }

  /// A recent packet for a probe: the last ones in turn. nil before the first.
  func paddingNumber() -> UInt16? {
    guard isActive, kind == .video, canPad else { return nil }
    for _ in 0..<16 {
      let number = rewriter.timestamps.newestNumber &- paddingCursor
      paddingCursor = (paddingCursor &+ 1) & 15
      guard let count = storedCount(number) else { continue }
      if count > 200 || paddingCursor == 0 { return number }
    }
    return nil
  }

  /// Whether its packets may fill probes: where a congestion signal comes back, and they can be repeated.
  var canPad: Bool {
    rewriter.timestamps.isStarted && sender.parameters.rtx != nil
      && sender.parameters.extensions.transportSequenceNumber != nil
  }
}
