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
  /// How its packets leave.
  let stream: ForwardedStream
  private let controller: SendController
  /// Names it in the subscriber's pacer.
  let slot: Int
  /// Whether the subscriber hears of it only what the spotlight has heard.
  private let followsSpotlight: Bool
  /// Whether the subscriber's answer takes the section and its transport can carry it.
  private(set) var isActive = false
  /// What is wanted of it, and what it gets.
  @safe @exclusivity(unchecked) var gate = FrameGate()
  private(set) var share: BandwidthAllocator.Share?

  @safe @exclusivity(unchecked) var selection: LayerSelection<PublishedLayer>
  @safe @exclusivity(unchecked) var rewriter: PacketRewriter
  /// Steps back from the newest packet that the next probe takes.
  private var paddingCursor: UInt16 = 0
  @safe @exclusivity(unchecked) private var dropped = Dropped()
  private var keyFrame = KeyFrameFlight()

  /// Packets that didn't go on, by reason.
  struct Dropped: Hashable {
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
    /// Packets that the transport didn't take.
    var notWritable: UInt64
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
    self.controller = controller
    self.slot = slot
    selection = LayerSelection(source.isSimulcast ? nil : source.layers.first)
    self.rewriter = rewriter
    stream = ForwardedStream(
      sender, types: types, of: source.types, pictures: source.stream.pictures,
      transport: transport, controller: controller)
  }

  var kind: MediaKind { source.kind }
  /// Audio that isn't sent because its publisher isn't in the spotlight.
  var isMuted: Bool { followsSpotlight && !source.isHeard }
  /// Whether anything of it was sent.
  var hasBegun: Bool { rewriter.timestamps.isStarted }
  var sender: RTPTrackSender { stream.sender }
  var types: SFUPayloadTypes.Assignment { stream.types }
  var ssrc: UInt32 { stream.ssrc }
  var statistics: Statistics {
    Statistics(
      sent: sender.statistics, notWritable: stream.notWritable, dropped: dropped,
      frames: gate.statistics)
  }

  /// Takes what the subscriber's answer says.
  ///
  /// - Returns: whether it is active from now on and wasn't before.
  func apply(
    isActive: Bool, extensions: RTPHeaderExtensionMap, isReportedBySource: Bool,
    acceptsNack: Bool, accepted: SFUPayloadTypes.Assignment
  ) -> Bool {
    stream.apply(
      extensions: extensions, isReportedBySource: isReportedBySource, acceptsNack: acceptsNack,
      accepted: accepted)
    defer { self.isActive = isActive }
    guard isActive, !self.isActive else { return false }
    // The publisher may have gone on for longer meanwhile than its numbers can tell.
    restart()
    return true
  }

  /// What comes next stands in no relation to what was sent last: numbers and timestamps go on from there.
  private func restart() {
    rewriter.rebase()
    gate.reset()
  }

  func deactivate() { isActive = false }

  /// A layer's source changed: if it is the one that is sent, numbers and timestamps go on from what was sent last.
  func sourceChanged(of layer: PublishedLayer) {
    if layer === selection.current { restart() }
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

  /// Whether a request for a key frame may be about something that the newest one mends, which is on its way.
  func awaitsKeyFrame(roundTrip: Duration?, at now: Instant) -> Bool {
    keyFrame.isUnderway(roundTrip: roundTrip, at: now)
  }

  // MARK: Losses

  /// The subscriber will never have this packet. Players wait for seconds before they ask for the key frame that they need then,
  /// and what refers to the packet's frame would be sent for nothing meanwhile.
  func lose(_ number: UInt16) {
    guard kind == .video, let origin = rewriter.numbers.origin(of: number),
      let layer = selection.current, layer.epoch == origin.shift.epoch,
      let packet = layer.stored(origin.source)
    else { return }
    gate.lose(packet.read.header.timestamp)
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
        if FrameGate.isKeyFrame(info), controller.backlog > FrameGate.longestLayerBacklog {
          leaveOutWaiting(at: now)
        }
        frame = gate.decide(timestamp, info, backlog: controller.backlog)
        beginsFrame = true
      }
    }
    let forwards = frame?.forwards ?? !(isMuted || stream.refuses(uploaded.header))
    if isMuted { dropped.unfocused &+= 1 }
    guard
      let out = rewriter.advance(
        to: uploaded, forwards: forwards, gapIsLeftOut: !forwards && !beginsFrame, frame: frame,
        beginsFrame: beginsFrame, epoch: layer.epoch, at: now)
    else { return .leaveOut }
    if let frame, frame.isKeyFrame { keyFrame.isJudged(out) }
    return .forward(out)
  }

  private func judgeLate(_ uploaded: UploadedPacket, _ epoch: UInt8) -> Verdict {
    let number = uploaded.header.sequenceNumber
    guard case .reserved(let out) = rewriter.numbers.place(of: number) else {
      dropped.late &+= 1
      return .leaveOut
    }
    let frame =
      kind == .audio ? nil : gate.lateDecision(uploaded.header.timestamp, uploaded.info)
    rewriter.fill(number, frame: frame, epoch: epoch)
    if stream.refuses(uploaded.header) { return .fill(out) }
    return frame?.forwards ?? true ? .forward(out) : .fill(out)
  }

  /// Takes back what waits for the link: a key frame of a lower layer makes it needless, and would come late behind it. A frame of which
  /// something has left is finished, and so is what waits before a number that has left without its packet.
  ///
  /// - Returns: the first number that is free again; nil where nothing has left yet.
  func withdrawWaiting(at now: Instant) -> UInt16? {
    guard hasBegun else { return nil }
    var first = rewriter.newestLeft &+ 1
    while let (packet, place) = stored(first),
      packet.read.header.timestamp &+ place.shift.timestamp == rewriter.timestamps.newestTimestamp
    {
      first &+= 1
    }
    controller.discard(stream: slot) { token in
      if !token.isRetransmission, sequenceNumber(first, isNewerThan: token.number) { return false }
      dropped.withdrawn &+= 1
      return true
    }
    return first
  }

  /// Takes out frames that wait and of which nothing has left, to judge them anew: the link has become narrow since.
  ///
  /// - Parameter leavingOutAll: whether none is let in.
  /// - Returns: the publisher's numbers of them; nil where none wait.
  func reopenWaiting(leavingOutAll: Bool = false) -> Reopened? {
    guard kind == .video, let layer = selection.current, let number = firstFrameWaiting,
      let origin = rewriter.numbers.origin(of: number), origin.shift.epoch == layer.epoch,
      let frame = layer.stored(origin.source)?.read.header.timestamp,
      gate.decision(frame)?.forwards == true, let numbers = rewriter.reopen(from: number)
    else { return nil }
    gate.reopen(from: frame, leavingOutAll: leavingOutAll)
    keyFrame.isWithdrawn(from: number)
    var reopened = Reopened(next: numbers.first, count: numbers.count)
    controller.discard(stream: slot) { token in
      guard !token.isRetransmission, !sequenceNumber(number, isNewerThan: token.number) else {
        return false
      }
      reopened.packets += 1
      return true
    }
    return reopened
  }

  /// What waited and is judged anew.
  struct Reopened {
    /// The publisher's numbers of it, those that were left out included.
    fileprivate var next: UInt16
    fileprivate var count: UInt16
    /// Packets that were taken out, without those that wait again.
    fileprivate var packets = 0
    var isEmpty: Bool { count == 0 }
  }

  /// A key frame comes while much waits: what does before it would only make it late.
  private func leaveOutWaiting(at now: Instant) {
    guard !gate.isReopened, var needless = reopenWaiting(leavingOutAll: true) else { return }
    while !needless.isEmpty { judgeAgain(&needless, at: now) }
  }

  /// Judges the next frame of those that waited, and has it wait again where it may.
  func judgeAgain(_ waiting: inout Reopened, at now: Instant) {
    guard let layer = selection.current else {
      waiting.count = 0
      return gate.close()
    }
    var frame: UInt32?
    while !waiting.isEmpty {
      let uploaded = layer.uploaded(waiting.next)
      if let uploaded {
        if let frame, frame != uploaded.header.timestamp { return }
        frame = uploaded.header.timestamp
      }
      waiting.next &+= 1
      waiting.count -= 1
      guard let uploaded, case .forward(let number) = judge(uploaded, of: layer, at: now) else {
        continue
      }
      waiting.packets -= 1
      _ = controller.enqueue(
        PacketToken(stream: slot, number: number), size: uploaded.count, priority: .video, at: now)
    }
    dropped.withdrawn &+= UInt64(max(0, waiting.packets))
    gate.close()
  }

  /// The first number of a frame of which nothing has left; nil where none waits.
  private var firstFrameWaiting: UInt16? {
    guard hasBegun, !rewriter.hasFilledAhead else { return nil }
    var number = rewriter.timestamps.newestNumber
    while number != rewriter.numbers.newest {
      number &+= 1
      if let (packet, place) = stored(number),
        packet.read.header.timestamp &+ place.shift.timestamp != rewriter.timestamps.newestTimestamp
      {
        return number
      }
    }
    return nil
  }

  /// Whether a packet is of a higher layer than what is sent now, for which a full link has no room: of a simulcast, behind the key frame
  /// of a lower one; or a temporal one.
  func isNeedless(_ number: UInt16) -> Bool {
    guard share.map({ $0.reason != .satisfied }) ?? false,
      let origin = rewriter.numbers.origin(of: number), let current = selection.current,
      let layer = source.layer(epoch: origin.shift.epoch)
    else { return false }
    return layer.rank > current.rank
      || layer === current
        && layer.uploaded(origin.source)?.info.map { $0.temporalLayer > gate.target } ?? false
  }

  /// Bytes of the kept packet under a number of ours; nil where it isn't kept any more.
  func storedCount(_ number: UInt16) -> Int? {
    guard let origin = rewriter.numbers.origin(of: number) else { return nil }
    return source.layer(epoch: origin.shift.epoch)?.storedCount(origin.source)
  }

  /// The kept packet under a number of ours, and where it goes.
  private func stored(_ number: UInt16) -> (packet: ReadPacket, place: ForwardedStream.Place)? {
    guard let origin = rewriter.numbers.origin(of: number),
      let layer = source.layer(epoch: origin.shift.epoch),
      let packet = layer.stored(origin.source)
    else { return nil }
    return (packet, ForwardedStream.Place(number: number, shift: origin.shift))
  }

  /// Sends a packet on that is lent.
  ///
  /// - Returns: the bytes of the plain packet; nil where it didn't leave.
  func send(_ packet: LentPacket, as number: UInt16, at now: Instant) -> Int? {
    guard let origin = rewriter.numbers.origin(of: number) else { return nil }
    return send(
      packet.read, to: ForwardedStream.Place(number: number, shift: origin.shift), at: now)
  }

  /// Sends a packet that waited, if it is still kept.
  func sendStored(_ number: UInt16, at now: Instant) {
    guard let (packet, place) = stored(number) else {
      dropped.overtaken &+= 1
      return
    }
    _ = send(packet, to: place, at: now)
  }

  private func send(
    _ packet: ReadPacket, to place: ForwardedStream.Place, at now: Instant
  ) -> Int? {
    guard let sent = stream.send(packet, to: place, at: now) else { return nil }
    keyFrame.isSent(place.number, at: now)
    rewriter.sent(
      place.number, packet.read.header.timestamp &+ place.shift.timestamp, frame: sent.frame)
    return sent.count
  }

  /// Sends a kept packet again on the retransmission source (RFC 4588 §4).
  ///
  /// - Parameters:
  ///   - number: the original's, as the subscriber knows it.
  ///   - sending: why.
  ///   - now: the present time.
  /// - Returns: the bytes of the plain packet; nil where it didn't leave.
  func resend(
    _ number: UInt16, as sending: RTPTrackSender.Sending, at now: Instant
  ) -> Int? {
    guard let (packet, place) = stored(number) else {
      dropped.overtaken &+= 1
      return nil
    }
    return stream.resend(packet, to: place, as: sending, at: now)
  }

  /// Sends an empty packet under a number that is kept for one of a frame that was left out.
  func sendFiller(_ number: UInt16, at now: Instant) {
    rewriter.filled(number)
    stream.sendFiller(number, timestamp: rewriter.timestamps.newestTimestamp, at: now)
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

  /// Whether its packets may fill probes.
  var canPad: Bool { rewriter.timestamps.isStarted && stream.canPad }
}
