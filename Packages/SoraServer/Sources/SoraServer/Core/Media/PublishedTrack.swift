import SoraMedia
import SoraRTP
import SoraTransport

/// One medium that a connection uploads, in one layer or, with simulcast, in several.
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
  /// The simulcast layers that the publisher is offered, the lowest first; empty without simulcast.
  let offered: SimulcastOffer

  typealias Terms = PublishedLayer.Terms
  private(set) var terms = Terms()
  private(set) var subscriptions: [SubscribedTrack] = []
  /// The lowest first; one without simulcast; none before the publisher's answer.
  private(set) var layers: [PublishedLayer] = []
  /// Of audio: whether the channel's spotlight has it heard.
  var isHeard = true
  private var epochs: UInt8 = 0
  /// When a key frame was asked for last so that somebody can enter a layer.
  private var switchAskedAt: Instant?
  /// What puts the packets of one layer together into frames; nil while nobody takes those.
  private var assembly: TrackAssembly?
  private var assembled: PublishedLayer?

  init(
    codec: SFUCodec, types: SFUPayloadTypes.Assignment, mid: String, publisherID: String,
    trackID: String, offered: SimulcastOffer = SimulcastOffer()
  ) {
    kind = codec.kind
    self.mid = mid
    self.codec = codec
    self.types = types
    self.publisherID = publisherID
    self.trackID = trackID
    self.offered = offered
  }

  /// Takes what the publisher's answer says; once.
  ///
  /// - Parameter rids: those of the offered layers that the publisher has accepted, paused ones among them; empty without simulcast.
  func apply(_ terms: Terms, rids: [String]) {
    self.terms = terms
    layers = offered.layers.enumerated().compactMap { rank, layer in
      guard rids.contains(layer.rid), let rid = RTPExtensionText(layer.rid) else { return nil }
      return makeLayer(rid, rank)
    }
    if layers.isEmpty { layers = [makeLayer()] }
  }

  private func makeLayer(_ rid: RTPExtensionText? = nil, _ rank: Int = 0) -> PublishedLayer {
    PublishedLayer(
      codec, types: types, publisherID: publisherID, terms, rid: rid, rank: rank)
  }

  var isSimulcast: Bool { layers.first?.rid != nil }

  func layer(rid: RTPExtensionText?) -> PublishedLayer? {
    layers.first { $0.rid == rid }
  }

  /// The layer whose present source has this name; nil once there is another.
  func layer(epoch: UInt8) -> PublishedLayer? {
    for layer in layers where layer.epoch == epoch { return layer }
    return nil
  }

  func index(of layer: PublishedLayer) -> Int? { layers.firstIndex { $0 === layer } }

  /// How receivers know the order of frames from its payloads.
  private var pictureFormat: PictureRewriter.Format? {
    switch codec.name {
    case "VP8": .vp8
    case "VP9": .vp9
    default: nil
    }
  }

  var stream: PacketRewriter.Stream {
    PacketRewriter.Stream(kind: kind, clockRate: codec.clockRate, pictures: pictureFormat)
  }

  var statistics: PublishedLayer.Statistics {
    layers.reduce(into: PublishedLayer.Statistics()) { $0.add($1.statistics) }
  }

  // MARK: Layers

  /// A layer has a new source: subscribers carry on where they were.
  func start(_ ssrc: UInt32, of layer: PublishedLayer, at now: Instant) {
    forwardRun(of: layer, at: now)
    // They begin again after 256 sources: what another layer's has is passed over.
    repeat { epochs &+= 1 } while layers.contains { $0 !== layer && $0.epoch == epochs }
    layer.start(ssrc, epoch: epochs)
    if assembled === layer { assembly = nil }
    for subscription in subscriptions { subscription.sourceChanged(of: layer) }
  }

  /// With simulcast: a frame began on a layer. Subscribers of layers that don't come any more move to others.
  func frameCame(on layer: PublishedLayer, at now: Instant) {
    var hasChanged = layer.beginFlowing(at: now)
    for other in layers
    where other !== layer && other.flow.isFlowing && layer.flow.hasOutrun(other.flow) {
      other.stopFlowing()
      hasChanged = true
    }
    guard hasChanged else { return }
    for subscription in subscriptions where subscription.isActive {
      subscription.subscriber.layersChanged(of: subscription, at: now)
    }
  }

  /// The least time between two requests for a key frame so that somebody can enter a layer.
  static let switchInterval = Duration.seconds(1)

  /// Whether a layer's key frame may be asked for so that a subscriber can enter it. Of all layers together that isn't more often
  /// than once a second, unless it is urgent.
  func mayAskForSwitch(isUrgent: Bool, at now: Instant) -> Bool {
    if !isUrgent, let last = switchAskedAt, last != now, now - last < Self.switchInterval {
      return false
    }
    switchAskedAt = now
    return true
  }

  /// Sends a layer's run on, to one subscriber after the other, so that what each of them needs is fetched from memory once.
  func forwardRun(of layer: PublishedLayer, at now: Instant) {
    layer.lendRun { run in
      guard !run.isEmpty else { return }
      for subscription in subscriptions where subscription.isActive && subscription.takes(layer) {
        subscription.subscriber.forward(run, of: layer, on: subscription, at: now)
      }
    }
  }

  // MARK: Frames for who takes them before they are decoded

  /// What puts a layer's packets together, made where there is none; nil where its codec is unknown, and where another layer is
  /// taken. The highest is: it is entered with a key frame.
  func obtainAssembly(of layer: PublishedLayer, _ uploaded: UploadedPacket, at now: Instant)
    -> TrackAssembly?
  {
    if layer !== assembled {
      if let assembled, let present = index(of: assembled), let other = index(of: layer) {
        guard !assembled.flow.isFlowing || other > present && layer.flow.isRipe(at: now) else {
          return nil
        }
        guard layer.startsKeyFrame(uploaded) else {
          layer.requestKeyFrame(interval: Self.switchInterval, at: now)
          return nil
        }
      }
      assembled = layer
      assembly = nil
    }
    if assembly == nil { assembly = TrackAssembly(codec, payloadType: types.media) }
    return assembly
  }

  /// Nobody takes frames any more.
  func dropAssembly() {
    assembly = nil
    assembled = nil
  }

  /// Whether anybody is sent a layer, or waits for it.
  func isUsed(_ layer: PublishedLayer) -> Bool {
    !isSimulcast || assembled === layer || subscriptions.contains { $0.takes(layer) }
  }

  // MARK: Subscribers

  func add(_ subscription: SubscribedTrack) { subscriptions.append(subscription) }

  func remove(_ subscription: SubscribedTrack) { subscriptions.removeAll { $0 === subscription } }

  /// Its publisher is gone. Its subscribers' sections hold the track until they are renegotiated.
  func end() {
    terms.isSending = false
    subscriptions = []
    for layer in layers { layer.end() }
  }
}
