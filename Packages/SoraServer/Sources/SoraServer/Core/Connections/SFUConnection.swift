import SoraICE
import SoraMedia
import SoraRTP
import SoraTransport

/// One client of a channel: its transport, what it uploads, and what it is sent.
///
/// Confined to its core.
final class SFUConnection {
  let peer: SFUPeerID
  /// Rises from connection to connection of a core.
  let order: UInt64
  let request: SFUConnectRequest
  let channel: SFUChannel
  let connectionID: String
  let clientID: String
  let bundleID: String
  unowned let core: SFUCore
  let transport: PeerTransport
  /// Where its authenticated requests came from.
  var addresses: [TransportAddress] = []
  /// When media could flow first; nil before.
  private(set) var connectedAt: Instant?
  private(set) var isEnded = false

  let uplink = Uplink()
  let downlink = Downlink()
  let rtcp: RTCPEngine
  /// Its place in the core's queue of deadlines; negative outside of it.
  var deadlineIndex = -1
  /// Whether its deadline may have changed since the queue was told.
  var isTouched = false

  // Negotiation
  var sections: [SFUSection] = []
  var payloadTypes = SFUPayloadTypes()
  var opus: SFUCodec
  var descriptionVersion: UInt64 = 0
  let sessionNumber: UInt64
  /// When the answer to the offer that is under way has to be there; nil with none under way.
  var answerBy: Instant?
  var hasAnswered = false
  /// Something changed while an offer was under way.
  var needsOffer = false
  /// Tracks whose section the client has rejected: not offered again.
  var refusedTracks: Set<String> = []

  /// Messages that couldn't be used, by reason.
  var dropped = SFUDropped()

  // Timers
  private let mediaBy: Instant
  private var nextPing: Instant?
  private var pings = 0
  private var lastPong = Instant.zero

  init(
    _ request: SFUConnectRequest, peer: SFUPeerID, order: UInt64, channel: SFUChannel,
    core: SFUCore, at now: Instant
  ) {
    self.peer = peer
    self.order = order
    self.request = request
    self.channel = channel
    self.core = core
    let random = core.random
    connectionID = SFUIdentifier.make(random)
    clientID = request.clientID ?? connectionID
    bundleID = request.bundleID ?? connectionID
    // RFC 9429 §5.2.1: 63 bits with the top bits clear.
    sessionNumber = random.next() >> 2
    opus = SFUCodec.opus(request.audio ?? AudioOptions())
    mediaBy = now + core.configuration.mediaTimeout
    transport = PeerTransport(
      configuration: PeerTransport.Configuration(
        ice: ICEAgent.Configuration(isControlling: false, isLite: true),
        certificate: core.configuration.certificate, dtls: core.configuration.dtls),
      random: random, sink: core.sink)
    rtcp = RTCPEngine(
      cname: channel.sessionID, controller: downlink.controller, random: random, output: transport)
    rtcp.delegate = self
    transport.delegate = self
    for address in core.configuration.mediaAddresses { _ = transport.addLocalCandidate(address) }
    makeUploadSections()
  }

  var isConnected: Bool { connectedAt != nil && !isEnded }

  var notificationPeer: SFUNotification.Peer {
    SFUNotification.Peer(
      connectionID: connectionID, clientID: clientID, bundleID: bundleID,
      metadata: request.notifyMetadata)
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
    case .pong: lastPong = now
    case .disconnect(let reason):
      core.end(self, .disconnect, reason: reason ?? "TYPE-DISCONNECT", at: now)
    case .connect:
      end(.refused("INVALID-MESSAGE: this connection has connected already"), at: now)
    case .malformed(let detail): end(.refused("INVALID-MESSAGE: \(detail)"), at: now)
    case .other: dropped.unexpectedMessage += 1
    }
  }

  func end(_ close: SFUClose, at now: Instant) {
    core.end(self, close, reason: close.reason, at: now)
  }

  /// Lets go of everything. Only from the core.
  func finish(at now: Instant) {
    isEnded = true
    for subscription in downlink.subscriptions { detach(subscription) }
    uplink.end()
    transport.close(at: now)
  }

  // MARK: Time

  func poll(at now: Instant) {
    guard !isEnded else { return }
    if let deadline = transport.nextDeadline, deadline <= now { transport.poll(at: now) }
    guard !isEnded else { return }
    if transport.isWritable { pollMedia(at: now) }
    guard !isEnded else { return }
    if let answerBy, answerBy <= now {
      return end(.refused("ANSWER-TIMEOUT: no answer came in time"), at: now)
    }
    guard isConnected else {
      if mediaBy <= now {
        end(.refused("MEDIA-TIMEOUT: no media connection came about in time"), at: now)
      }
      return
    }
    guard let due = nextPing, due <= now else { return }
    if now - lastPong >= core.configuration.pongTimeout {
      return end(.lost("PONG-TIMEOUT"), at: now)
    }
    nextPing = now + core.configuration.pingInterval
    pings += 1
    let every = core.configuration.pingsPerStatistics
    core.emit(.ping(statistics: every > 0 && pings % every == 0), to: peer)
  }

  var nextDeadline: Instant? {
    guard !isEnded else { return nil }
    var deadline = earliest(transport.nextDeadline, answerBy)
    deadline = earliest(deadline, isConnected ? nextPing : mediaBy)
    if transport.isWritable { deadline = earliest(deadline, mediaDeadline) }
    return deadline
  }

  private func connected(at now: Instant) {
    guard !isConnected else { return }
    connectedAt = now
    lastPong = now
    nextPing = now + core.configuration.pingInterval
    for subscription in downlink.subscriptions where subscription.isActive {
      requestKeyFrame(of: subscription.source, at: now)
    }
    core.joined(self, at: now)
  }
}

extension SFUConnection: PeerTransportDelegate {
  func transport(
    _ transport: PeerTransport, receivedRTP packet: UnsafeMutableRawBufferPointer, at now: Instant
  ) {
    guard
      let (track, uploaded) = unsafe uplink.receive(
        UnsafeRawBufferPointer(packet), noting: rtcp, at: now)
    else { return }
    for subscription in track.subscriptions where subscription.isActive {
      subscription.subscriber.forward(uploaded, on: subscription, at: now)
    }
    if track.receiver?.takeLoss() == .keyFrameNeeded { requestKeyFrame(of: track, at: now) }
  }

  func transport(
    _ transport: PeerTransport, receivedRTCP packet: UnsafeRawBufferPointer, at now: Instant
  ) {
    unsafe rtcp.receive(packet, at: now)
  }

  func transport(
    _ transport: PeerTransport, changedTo state: PeerTransportState, at now: Instant
  ) {
    guard !isEnded else { return }
    switch state {
    case .connected: connected(at: now)
    // A client that says goodbye on the media path has nothing else to say on the signaling path.
    case .failed(.closedByPeer): end(SFUClose(code: 1000, reason: "CLOSED-BY-PEER"), at: now)
    case .failed(let error): end(.lost("MEDIA-CONNECTION-LOST: \(error)"), at: now)
    default: break
    }
  }

  // A lite agent answers wherever checks come from: names need no addresses.
  func transport(_ transport: PeerTransport, needsAddressOf candidate: ICECandidate) {}
}
