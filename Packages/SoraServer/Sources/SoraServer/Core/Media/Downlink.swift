import SoraCongestion
import SoraMedia
import SoraRTP
import SoraTransport

/// What a client is sent: its subscriptions, and the share of its link that each gets. Confined to its core.
final class Downlink {
  /// Time between two splits of the link.
  private static let allocationInterval = Duration.milliseconds(200)
  /// An estimate below this share of the one that was split is split at once.
  private static let fall = 0.8
  /// A subscriber whose link has no room for even the lowest layer gets a key frame this often.
  private static let starvedKeyFrameInterval = Duration.seconds(3)
  /// A subscriber that left frames out gets the key frame that ends it this often at most.
  private static let keyFrameInterval = Duration.seconds(1)
  /// What may wait when a key frame is asked for: it should find the link free.
  private static let freeBacklog = Duration.milliseconds(60)
  /// Bit rates of publishers waver, and key frames come on top: the path is probed for so much more than the streams take.
  private static let headroom = 1.5
  private static let leastMaximum = Bitrate.megabits(1)
  /// How long what the path was seen to take is of use when less is wanted of it.
  private static let memory = Duration.seconds(30)
  /// What a link is believed to take of which nothing is known.
  private static let startRate = Bitrate.megabits(1)
  /// Publishers pace what they send already, so where there is room frames stay together. On a link that is full little may go at
  /// once: its queue holds less than a key frame.
  private static let freePacing = 8.0
  private static let fullPacing = 1.05

  let controller: SendController
  /// Which layers of simulcasts the client asks for.
  var wishes = LayerWishes(nil)
  /// What it asks for by the channel's spotlight; nil where it doesn't use that.
  var spotlight: SpotlightWishes?
  /// What the client isn't forwarded.
  var filters = ForwardingFilters()
  private(set) var subscriptions: [SubscribedTrack] = []
  private var bySSRC: [UInt32: SubscribedTrack] = [:]
  /// By the slots that tokens name; a slot is never used twice.
  @safe @exclusivity(unchecked) private var slots: [SubscribedTrack?] = []
  private var allocator = BandwidthAllocator()
  /// What the latest split was of and what came of it: their memory serves the next.
  private var streams: [BandwidthAllocator.Stream] = []
  private var shares: [BandwidthAllocator.Share] = []
  private var nextAllocation: Instant?
  /// The estimate that was split last.
  private var split: Bitrate?
  /// The highest estimate by which something of what waits was let in.
  private var admitted: Bitrate?
  private var maximum: Bitrate
  /// When so much was wanted last; nil before it was.
  private var maximumWanted: Instant?

  init() {
    let estimator = BandwidthEstimator.Configuration(
      start: Self.startRate, minimum: .kilobits(50), maximum: .megabits(8),
      leastQueue: .milliseconds(60))
    maximum = estimator.maximum
    controller = SendController(
      configuration: SendController.Configuration(
        estimator: estimator, pacer: Pacer.Configuration(factor: Self.freePacing),
        pacesBeforeFeedback: false))
  }

  // MARK: Subscriptions

  /// The slot of the next subscription.
  var nextSlot: Int { slots.count }

  func add(_ subscription: SubscribedTrack) {
    subscriptions.append(subscription)
    bySSRC[subscription.ssrc] = subscription
    slots.append(subscription)
  }

  func remove(_ subscription: SubscribedTrack) {
    subscriptions.removeAll { $0 === subscription }
    bySSRC[subscription.ssrc] = nil
    slots[subscription.slot] = nil
    allocator.forget(subscription.slot)
    controller.forget(stream: subscription.slot)
    controller.forget(ssrc: subscription.ssrc)
    if let rtx = subscription.sender.parameters.rtx { controller.forget(ssrc: rtx.ssrc) }
  }

  func subscription(ssrc: UInt32) -> SubscribedTrack? { bySSRC[ssrc] }

  /// A sender is gone, whether anything of it was sent on or not: what was asked for of it counts no more.
  func forget(_ sender: String) {
    wishes.forget(sender)
    spotlight?.forget(sender)
  }

  // MARK: Forwarding

  /// Sends a publisher's audio on: it doesn't wait.
  func forward(
    _ packet: LentPacket, of layer: PublishedLayer, on subscription: SubscribedTrack,
    at now: Instant
  ) {
    switch subscription.judge(packet.uploaded, of: layer, at: now) {
    case .leaveOut: return
    case .fill(let number): subscription.sendFiller(number, at: now)
    case .forward(let number):
      if let count = subscription.send(packet, as: number, at: now) {
        controller.sentUnpaced(count, at: now)
      }
    }
  }

  /// Sends a publisher's kept packets on, or has them wait for the link.
  func forward(
    _ run: Span<UploadedPacket>, of layer: PublishedLayer, on subscription: SubscribedTrack,
    at now: Instant
  ) {
    var isQueued = false
    for index in run.indices {
      // What of the frame before may leave has left when the next one is decided.
      if isQueued, subscription.decides(run[index]) {
        controller.drain(self, at: now)
        isQueued = false
      }
      switch subscription.judge(run[index], of: layer, at: now) {
      case .leaveOut: continue
      case .fill(let number): subscription.sendFiller(number, at: now)
      case .forward(let number):
        let token = PacketToken(stream: subscription.slot, number: number)
        if controller.enqueue(token, size: run[index].count, priority: .video, at: now) {
          isQueued = true
        }
      }
    }
    if isQueued { controller.drain(self, at: now) }
  }

  /// The stored packet under a number of a subscription's.
  func stored(
    _ number: UInt16, of sender: RTPTrackSender
  ) -> (token: PacketToken, size: Int)? {
    guard let subscription = bySSRC[sender.ssrc], !subscription.isNeedless(number),
      let count = subscription.storedCount(number)
    else { return nil }
    return (
      PacketToken(stream: subscription.slot, number: number, isRetransmission: true), count
    )
  }

  // MARK: Splitting the link

  /// Lets timers run.
  func poll(at now: Instant, requestKeyFrame: (PublishedLayer, Duration) -> Void) {
    controller.poll(at: now)
    if let due = nextAllocation, due <= now || hasFallen {
      nextAllocation = hasVideo ? now + Self.allocationInterval : nil
      allocate(at: now)
      requestKeyFrames(requestKeyFrame)
      for subscription in subscriptions where subscription.source.isSimulcast {
        if let layer = choose(subscription, .receiver, at: now) {
          requestKeyFrame(layer, PublishedTrack.switchInterval)
        }
      }
    } else if nextAllocation == nil, hasVideo {
      nextAllocation = now + Self.allocationInterval
    }
    controller.drain(self, at: now)
  }

  /// Something is known anew of what the link takes.
  func bandwidthChanged(at now: Instant) {
    if hasNarrowed() { judgeWaitingAgain(at: now) }
    controller.drain(self, at: now)
  }

  /// Notes what the link takes.
  ///
  /// - Returns: whether that is so much less than when what waits was let in that it is to be judged anew.
  private func hasNarrowed() -> Bool {
    guard let estimate = controller.knownEstimate else { return false }
    guard controller.backlog > FrameGate.longestLayerBacklog, let admitted else {
      admitted = estimate
      return false
    }
    self.admitted = max(admitted, estimate)
    return estimate < admitted * Self.fall
  }

  /// Judges anew what waits: all of what was let in when the link took more would come late.
  private func judgeWaitingAgain(at now: Instant) {
    admitted = nil
    allocate(at: now)
    judgeAgain(subscriptions, at: now)
    // Who is to wait for a key frame gets it the sooner without the rest.
    judgeAgain(subscriptions.filter { $0.wait != nil }, at: now)
  }

  private func judgeAgain(_ subscriptions: [SubscribedTrack], at now: Instant) {
    var waiting = subscriptions.compactMap { subscription in
      subscription.reopenWaiting().map { (subscription, $0) }
    }
    // A frame of each in turn, so that none is let in at another's cost.
    while !waiting.isEmpty {
      for index in waiting.indices {
        waiting[index].0.judgeAgain(&waiting[index].1, at: now)
      }
      waiting.removeAll { $0.1.isEmpty }
    }
  }

  private var hasVideo: Bool {
    subscriptions.contains { $0.kind == .video && $0.isActive && $0.source.terms.isSending }
  }

  var nextDeadline: Instant? {
    guard !hasFallen else { return .zero }
    return earliest(controller.nextDeadline, nextAllocation ?? (hasVideo ? .zero : nil))
  }

  /// Whether the link takes so much less than when it was split that a lower layer's key frame is to be asked for at once. Layers of one
  /// stream are left out without one, and can wait: an estimate that falls for a moment needn't cost them.
  private var hasFallen: Bool {
    guard nextAllocation != nil, let split, let estimate = controller.knownEstimate else {
      return false
    }
    return estimate < split * Self.fall
      && subscriptions.contains { $0.kind == .video && $0.source.isSimulcast }
  }

  /// Splits the link among what is wanted of it now.
  func allocate(at now: Instant) {
    guard let estimate = controller.knownEstimate else { return }
    split = estimate
    var wanted = Bitrate.zero
    streams.removeAll(keepingCapacity: true)
    for subscription in subscriptions
    where subscription.isActive && subscription.wish != .none && !subscription.isMuted {
      let rates = subscription.rates(at: now)
      wanted = wanted + (rates.last ?? .zero)
      streams.append(
        BandwidthAllocator.Stream(
          id: subscription.slot, kind: subscription.kind,
          demand: subscription.kind == .audio
            ? .range(minimum: .zero, maximum: rates.last ?? .zero) : .layers(rates)))
    }
    noteWanted(wanted, at: now)
    allocator.allocate(
      controller.available(at: now), among: streams, at: now, into: &shares)
    let isFull = shares.contains { $0.reason != .satisfied }
    controller.setPacingFactor(isFull ? Self.fullPacing : Self.freePacing)
    // Where layers are left out, a bound by what is sent would keep it from being seen that there is room for one more.
    controller.setUseful(isFull ? nil : shares.reduce(.zero) { $0 + $1.rate })
    for share in shares {
      guard let subscription = slots[share.id], subscription.kind == .video else { continue }
      subscription.apply(share)
    }
  }

  /// Aims at the layer of a simulcast that is best now.
  ///
  /// - Returns: the layer that a key frame is to be asked of; nil where none is.
  func choose(
    _ subscription: SubscribedTrack, _ trigger: LayerTrigger, at now: Instant
  ) -> PublishedLayer? {
    guard subscription.isActive else { return nil }
    return subscription.choose(affordable: Self.startRate, trigger, at: now)
  }

  /// Has subscribers begin anew that are sent nothing until a key frame comes. Those on their way to another layer wait for its.
  private func requestKeyFrames(_ request: (PublishedLayer, Duration) -> Void) {
    for subscription in subscriptions where subscription.isActive {
      guard let wait = subscription.wait, let layer = subscription.selection.current,
        subscription.selection.next == nil, controller.backlog < Self.freeBacklog
      else { continue }
      let isStarved = wait == .full && subscription.share?.reason == .starved
      request(layer, isStarved ? Self.starvedKeyFrameInterval : Self.keyFrameInterval)
    }
  }

  /// Beyond what the streams take the path isn't probed; small changes are let go, and so is less for a while: who goes down to a low
  /// layer and up again shouldn't wait for the estimate.
  private func noteWanted(_ wanted: Bitrate, at now: Instant) {
    let useful = max(Self.leastMaximum, wanted * Self.headroom)
    let isLess = useful < maximum * 0.6
    if !isLess { maximumWanted = now }
    let isForgotten = maximumWanted.map { now - $0 > Self.memory } ?? true
    guard useful > maximum * 1.2 || isLess && isForgotten else { return }
    maximum = useful
    maximumWanted = now
    controller.setMaximum(useful, at: now)
  }
}

extension Downlink: PacedPacketSource {
  var canPad: Bool { subscriptions.contains { $0.isActive && $0.kind == .video && $0.canPad } }

  func send(_ token: PacketToken, at now: Instant) {
    guard token.stream < slots.count, let subscription = slots[token.stream] else { return }
    if token.isRetransmission {
      _ = subscription.resend(token.number, as: .retransmission, at: now)
    } else {
      subscription.sendStored(token.number, at: now)
    }
  }

  func sendPadding(at now: Instant) -> Int? {
    for subscription in subscriptions {
      guard let number = subscription.paddingNumber() else { continue }
      return subscription.resend(number, as: .padding, at: now)
    }
    return nil
  }
}
