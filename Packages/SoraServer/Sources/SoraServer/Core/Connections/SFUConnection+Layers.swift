import SoraMedia
import SoraRTP
import SoraSignalingMessages

// Layers of simulcasts that this client is sent.
extension SFUConnection {
  func layersChanged(of subscription: SubscribedTrack, at now: Instant) {
    choose(subscription, .sender, at: now)
  }

  private func choose(
    _ subscription: SubscribedTrack, _ trigger: LayerTrigger, at now: Instant
  ) {
    guard !isEnded else { return }
    if let layer = downlink.choose(subscription, trigger, at: now) {
      requestKeyFrame(of: layer, interval: PublishedTrack.switchInterval, at: now)
    }
    core.touch(self)
  }

  /// The client is to be sent another layer, of one sender or of all.
  func request(_ rid: SignalingRid, of sender: String?, at now: Instant) {
    downlink.wishes.set(rid, of: sender)
    choose(of: sender, at: now)
  }

  /// Aims anew at the layers that are asked for, of one sender or of all.
  func choose(of sender: String?, at now: Instant) {
    let changed = downlink.subscriptions.filter {
      $0.source.isSimulcast && (sender ?? $0.source.publisherID) == $0.source.publisherID
    }
    guard !changed.isEmpty else { return }
    for subscription in changed { subscription.wish = wish(of: subscription.source) }
    // What it had of the link was for what was asked for before.
    downlink.allocate(at: now)
    for subscription in changed { choose(subscription, .receiver, at: now) }
  }

  /// Says `simulcast.switched` to the client: not of the first layer, which is none's successor.
  func layerSwitched(
    of subscription: SubscribedTrack, from previous: PublishedLayer?, at now: Instant
  ) {
    let (source, selection) = (subscription.source, subscription.selection)
    guard previous != nil || subscription.hasBegun else { return }
    let wish = wishedRid(of: source.publisherID)
    let isHigher = (selection.current?.rank ?? -1) > (previous?.rank ?? -1)
    let event = NotifyMessage(eventType: NotifyEventType.simulcastSwitched) {
      $0.timestamp = core.timestamp(at: now)
      $0.senderConnectionID = source.publisherID
      $0.priority = isHigher ? "higher" : "lower"
      $0.trigger = selection.trigger == .sender ? "sender" : "receiver"
      $0.rpcRids = downlink.wishes.hasChanged ? [wish?.rawValue].compactMap(\.self) : []
      $0.autoRids = source.layers.filter(\.flow.isFlowing).compactMap(\.rid?.description)
      $0.requestRid = wish?.rawValue
      $0.currentRid = selection.current?.rid?.description ?? SignalingRid.none.rawValue
      $0.previousRid = previous?.rid?.description ?? SignalingRid.none.rawValue
    }
    tell(.event(event), at: now)
  }
}
