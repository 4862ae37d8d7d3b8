import SoraDataChannel
import SoraICE
import SoraMedia
import SoraRTP
import SoraTransport

/// One client of a channel: its transport, what it uploads, and what it is sent.
///
/// Confined to its core.
final class SFUConnection: DeadlineQueued, TrackSubscriber {
  let request: SFUConnectRequest
  let channel: SFUChannel
  var identity: ConnectionIdentity
  unowned let core: SFUCore
  let transport: PeerTransport
  private var life: ConnectionLife

  let uplink = Uplink()
  let downlink = Downlink()
  let rtcp: RTCPEngine
  let signaling: ClientSignaling
  /// The note of the core's queue of deadlines.
  var deadlineMark: DeadlineMark

  var sections: SFUSections
  var exchange: OfferExchange
  /// What the client said of itself last.
  private(set) var reports = ClientReports()
  /// Messages that couldn't be used, by reason.
  var dropped = SFUDropped()

  /// - Parameters:
  ///   - offer: the client's own; nil where the server offers.
  ///   - mark: of the core's queue of deadlines.
  init(
    _ request: SFUConnectRequest, _ offer: SFUClientOffer?, peer: SFUPeerID, mark: DeadlineMark,
    channel: SFUChannel, core: SFUCore, at now: Instant
  ) {
    self.request = request
    self.channel = channel
    self.core = core
    let random = core.random
    deadlineMark = mark
    life = ConnectionLife(
      mediaBy: now + core.configuration.mediaTimeout, lifetime: request.grant.lifetime)
    let connectionID = request.grant.connectionID ?? SFUIdentifier.make(random)
    identity = ConnectionIdentity(
      SFUNotification.Peer(
        connectionID: connectionID, clientID: request.clientID ?? connectionID,
        bundleID: request.bundleID ?? connectionID, metadata: request.notifyMetadata,
        authnMetadata: request.grant.authnMetadata, authzMetadata: request.grant.authzMetadata))
    // RFC 9429 §5.2.1: 63 bits with the top bits clear.
    exchange = OfferExchange(sessionNumber: random.next() >> 2)
    sections = SFUSections(opus: SFUCodec.opus(request.audio ?? AudioOptions()))
    transport = PeerTransport(
      configuration: PeerTransport.Configuration(
        ice: ICEAgent.Configuration(isControlling: false, isLite: true),
        certificate: core.configuration.certificate, dtls: core.configuration.dtls),
      random: random, sink: core.sink)
    rtcp = RTCPEngine(
      cname: channel.sessionID, controller: downlink.controller, random: random, output: transport)
    let data =
      offer == nil && request.dataChannelSignaling ?? core.configuration.usesDataChannels
      ? DataTransport(
        configuration: core.configuration.data, random: random, transport: transport) : nil
    downlink.filters = request.filters
    downlink.spotlight = request.spotlightRids(core.configuration.spotlight.rids)
      .map { SpotlightWishes($0) }
    // What shall be seen of a spotlight has fields of its own.
    downlink.wishes = LayerWishes(
      downlink.spotlight == nil ? request.simulcastRequestRid ?? request.simulcastRid : nil)
    signaling = ClientSignaling(
      peer: peer, hasWebSocket: offer == nil,
      channels: data.map {
        ClientChannels(
          request.labels.map(ClientChannel.init) + request.messaging, core.configuration.data,
          data: $0)
      },
      ignoresWebSocket: request.ignoreDisconnectWebSocket ?? false,
      keepalive: SFUKeepalive(
        interval: core.configuration.pingInterval, timeout: core.configuration.pongTimeout,
        pingsPerStatistics: core.configuration.pingsPerStatistics))
    rtcp.delegate = self
    data?.delegate = self
    transport.delegate = self
    for address in core.configuration.mediaAddresses { _ = transport.addLocalCandidate(address) }
    if let offer { take(offer) } else { makeUploadSections() }
  }

  var connectionID: String { identity.peer.connectionID }
  var clientID: String { identity.peer.clientID }
  var bundleID: String { identity.peer.bundleID }

  var isConnected: Bool { life.isConnected }
  /// Whether it has left its channel.
  var isEnded: Bool { life.isEnded }
  /// Whether it has left its channel, and its transport is still there.
  var isLeaving: Bool { life.isLeaving }
  /// When media could flow first; nil before.
  var connectedAt: Instant? { life.connectedAt }

  /// Whether a selection has it.
  func isIn(_ selection: SFUSelection) -> Bool {
    selection.channelID == channel.id && (selection.clientID ?? clientID) == clientID
      && (selection.connectionID ?? connectionID) == connectionID
      && (selection.role ?? request.role) == request.role
  }

  /// Whether the client wants to receive this kind at all.
  func receives(_ kind: MediaKind) -> Bool {
    guard request.role.receives else { return false }
    return kind == .audio ? request.audio != nil : request.video != nil
  }

  // MARK: Messages

  func receive(_ message: SFUMessage, at now: Instant) {
    switch message {
    case .answer(let sdp), .reAnswer(let sdp): receiveAnswer(sdp, at: now)
    case .candidate(let text):
      if let candidate = try? ICECandidate(parsing: text) {
        transport.addRemoteCandidate(candidate, at: now)
      } else if !text.isEmpty {
        dropped.malformedCandidate += 1
      }
    case .pong: signaling.heard(at: now)
    case .statistics(let reports):
      signaling.heard(at: now)
      if core.configuration.keepsClientStatistics, !self.reports.take(reports, at: now) {
        dropped.statisticsTooLarge += 1
      }
    case .disconnect(let reason):
      core.end(self, .disconnect, reason: reason ?? "TYPE-DISCONNECT", at: now)
    case .connect:
      end(.refused("INVALID-MESSAGE: this connection has connected already"), at: now)
    case .malformed(let detail): end(.refused("INVALID-MESSAGE: \(detail)"), at: now)
    case .other(let type):
      dropped.unexpectedMessage += 1
      tellIgnored("the message \(type)")
    }
  }

  /// Keys of a message of the client's mean nothing here.
  func ignored(_ keys: [String]) {
    for key in keys {
      dropped.unknownKey += 1
      tellIgnored("the key \(key)")
    }
  }

  /// Whoever debugs a client needs the first of them, and nobody a flood.
  private func tellIgnored(_ what: String) {
    guard dropped.unexpectedMessage + dropped.unknownKey <= 10 else { return }
    core.emit(
      .ignored(
        channelID: channel.id, connectionID: connectionID, what: String(what.prefix(100))))
  }

  func end(_ close: SFUClose, at now: Instant) {
    core.end(self, close, reason: close.reason, at: now)
  }

  /// Lets go of all media, and closes data channels where there are any. Only from the core.
  ///
  /// - Parameter afterClose: whether the client has been told by `close` on a data channel, and ends by itself.
  /// - Returns: whether there is nothing to wait for: else `core.release` has to follow.
  func leave(afterClose: Bool, at now: Instant) -> Bool {
    for subscription in downlink.subscriptions { detach(subscription) }
    uplink.end()
    guard let channels = signaling.channels, channels.areOpen, transport.isWritable else {
      life.end()
      return true
    }
    life.leave(until: now + Self.longestGoodbye)
    channels.closeAll(at: afterClose ? now + Self.lastMoment : now)
    return false
  }

  /// Clients wait for up to five seconds until all channels are closed.
  private static let longestGoodbye = Duration.seconds(3)

  /// All channels are closed: what was sent last has a moment to arrive, and the client one to go by itself.
  func channelsClosed(at now: Instant) {
    if life.hasten(to: now + Self.lastMoment) { core.touch(self) }
  }

  /// sora_sdk 2025.4.0 crashes where its channels close while it takes `close`.
  private static let lastMoment = Duration.milliseconds(200)

  /// Ends the transport, with what it carries. Only from the core.
  func finish(at now: Instant) {
    life.end()
    signaling.channels?.end(at: now)
    transport.close(at: now)
  }

  // MARK: Time

  func poll(at now: Instant) {
    if life.isOver { return }
    if let deadline = transport.nextDeadline, deadline <= now { transport.poll(at: now) }
    signaling.channels?.poll(at: now)
    if life.hasLeft(at: now) { return core.release(self, at: now) }
    guard !isEnded else { return }
    if transport.isWritable { pollMedia(at: now) }
    guard !isEnded else { return }
    if let answerBy = exchange.answerBy, answerBy <= now {
      return end(.refused("ANSWER-TIMEOUT: no answer came in time"), at: now)
    }
    if isConnected {
      for due in signaling.poll(at: now) {
        switch due {
        case .ping(let statistics): tell(.ping(statistics: statistics), at: now)
        case .statistics: tell(.requestStatistics, at: now)
        case .lost: end(.lost("PONG-TIMEOUT"), at: now)
        }
      }
    }
    // A minute may end with the last moment for a pong: of who is lost, nothing more becomes due.
    // A copy is polled: each packet asks whether it has ended, and overlapping access to `life` would be looked for there.
    var life = life
    let due = life.poll(at: now)
    self.life = life
    switch due {
    case .mediaMissing:
      end(.refused("MEDIA-TIMEOUT: no media connection came about in time"), at: now)
    case .span(.minute): core.updated(self, at: now)
    case .span(.over): end(SFUClose(code: 1000, reason: "LIFETIME-EXPIRED"), at: now)
    case nil: break
    }
  }

  var nextDeadline: Instant? {
    guard !life.isOver else { return nil }
    var deadline = earliest(transport.nextDeadline, signaling.channels?.nextDeadline)
    deadline = earliest(deadline, life.nextDeadline)
    guard !isEnded else { return deadline }
    deadline = earliest(deadline, exchange.answerBy)
    if isConnected { deadline = earliest(deadline, signaling.nextDeadline) }
    if transport.isWritable { deadline = earliest(deadline, mediaDeadline) }
    return deadline
  }

  private func connected(at now: Instant) {
    var life = life
    guard life.connect(at: now) else { return }
    self.life = life
    signaling.start(at: now)
    for subscription in downlink.subscriptions where subscription.isActive {
      begin(subscription, at: now)
    }
    core.joined(self, at: now)
  }
}

extension SFUConnection: PeerTransportDelegate {
  func transport(
    _ transport: PeerTransport, receivedRTP packet: UnsafeMutableRawBufferPointer, at now: Instant
  ) {
    guard !isEnded,
      let (track, layer, lent) = unsafe uplink.receive(
        UnsafeRawBufferPointer(packet), noting: rtcp, ecn: transport.receivedECN, at: now)
    else { return }
    if track.kind == .video {
      core.forward(layer, of: track, at: now)
    } else {
      speak(lent.uploaded.values.audioLevel, on: track, at: now)
      for subscription in track.subscriptions where subscription.isActive {
        subscription.subscriber.forward(lent, of: layer, on: subscription, at: now)
      }
    }
    assemble(lent, of: layer, track, at: now)
    if layer.receiver?.takeLoss() == .keyFrameNeeded { repair(layer, of: track, at: now) }
  }

  func transport(
    _ transport: PeerTransport, receivedData message: RawSpan, at now: Instant
  ) -> Bool {
    signaling.channels?.receive(message, at: now) ?? false
  }

  func transport(
    _ transport: PeerTransport, receivedRTCP packet: UnsafeRawBufferPointer, at now: Instant
  ) {
    if !isEnded { unsafe rtcp.receive(packet, at: now) }
  }

  func transport(
    _ transport: PeerTransport, changedTo state: PeerTransportState, at now: Instant
  ) {
    guard !isEnded else {
      // The client has nothing more to hear.
      if case .failed = state, isLeaving { core.release(self, at: now) }
      return
    }
    switch state {
    case .connected:
      signaling.channels?.transportChanged(at: now)
      connected(at: now)
    // A client that says goodbye on the media path has nothing else to say on the signaling path.
    case .failed(.closedByPeer): end(SFUClose(code: 1000, reason: "CLOSED-BY-PEER"), at: now)
    case .failed(let error): end(.lost("MEDIA-CONNECTION-LOST: \(error)"), at: now)
    default: break
    }
  }

  // A lite agent answers wherever checks come from: names need no addresses.
  func transport(_ transport: PeerTransport, needsAddressOf candidate: ICECandidate) {}
}
