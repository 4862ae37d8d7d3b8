import Logging
import SoraClock
import SoraCluster
import SoraDTLS
import SoraICE
import SoraMedia
import SoraRTP
import SoraSignaling
import SoraTransport
import SoraWire

/// The core on a network loop: its sockets, its timer, and its clients' WebSockets. Confined to the loop.
final class ServerEngine: DatagramHandler, SFUCoreDelegate {
  let core: SFUCore
  let loop: NetworkLoop
  private let sockets: UDPSocketSet
  private var timer: LoopTimer?
  private var webSockets: [SFUPeerID: WebSocketConnection] = [:]
  /// Of who came by an HTTP request.
  var sessions = HTTPSessions()
  private let events: AsyncStream<SFUEvent>.Continuation
  private let reports: EventWebhook?
  private let logger: Logger
  let iceServers: OfferedICEServers
  /// nil where nothing is recorded.
  private(set) var recordings: ServerRecordings?
  private var pendingDrain: PendingDrain?
  /// nil without one, and until it has been joined.
  var cluster: Cluster?

  init(
    configuration: ServerConfiguration, addresses: [IPAddress], certificate: DTLSCertificate,
    loop: NetworkLoop, events: AsyncStream<SFUEvent>.Continuation, reports: EventWebhook?
  ) throws {
    self.loop = loop
    self.reports = reports
    self.events = events
    logger = configuration.logger
    sockets = UDPSocketSet()
    let relay = HandlerRelay()
    try sockets.open(
      addresses, port: configuration.mediaPort, for: "media", on: loop, handler: relay,
      logger: logger)
    let mediaAddresses = sockets.sockets.map(\.localAddress)
    iceServers = try OfferedICEServers(
      configuration, media: mediaAddresses.map(\.ip), loop: loop)
    let now = SystemClock.now
    var core = SFUCore.Configuration(
      certificate: certificate, dtls: try configuration.dtls.makeFactory(),
      wallClock: WallClock(unixNanoseconds: SystemClock.realtimeNanoseconds, at: now),
      mediaAddresses: mediaAddresses)
    core.pingInterval = configuration.pingInterval
    core.offersFeedbackBySource = configuration.offersFeedbackBySource
    core.pongTimeout = configuration.pongTimeout
    core.connectTimeout = configuration.connectTimeout
    core.mediaTimeout = configuration.mediaTimeout
    core.usesDataChannels = configuration.dataChannelSignaling
    core.spotlight = configuration.spotlight
    core.keepsClientStatistics = configuration.apiPort != nil
    core.maximumConnections = configuration.access.maximumConnections
    core.maximumPeers =
      min(configuration.access.maximumConnections, .max - Self.mostGuests) + Self.mostGuests
    core.maximumChannelConnections = configuration.access.maximumChannelConnections ?? .max
    core.maximumNetworkConnections = configuration.access.maximumAddressConnections ?? .max
    if let turn = iceServers.turn { core.turnTransport = { turn.transport(ofRelay: $0) } }
    self.core = SFUCore(configuration: core, random: .system(), sink: sockets)
    self.core.delegate = self
    relay.engine = self
    timer = loop.makeTimer { [weak self] now in
      self?.core.poll(at: now)
      self?.schedule()
    }
  }

  /// Clients that aren't connected yet, beyond those that may be.
  private static let mostGuests = 200

  var mediaAddresses: [TransportAddress] { sockets.sockets.map(\.localAddress) }
  /// The relay that offers name; nil where the server has none.
  var turn: TURNService? { iceServers.turn }

  /// Records what is published from now on, or what the API asks for.
  func record(with recordings: ServerRecordings) {
    self.recordings = recordings
    core.takenChannels = recordings.recordsEverything ? nil : []
    core.onPublishedFrame = { recordings.take($1, of: $0) }
  }

  /// What the API asked for has begun or ended.
  func recordingChanged(
    _ event: SFURecordingEvent, _ started: ServerRecordings.Started,
    _ recordings: ServerRecordings
  ) {
    core.takenChannels = recordings.channels
    core.tell(event, started.recording, at: loop.now)
    schedule()
  }

  func requestKeyFrame(connectionID: String) {
    core.requestKeyFrame(connectionID: connectionID, at: loop.now)
    schedule()
  }

  // MARK: What the API asks for

  func change(
    _ change: SFUFilterChange, channelID: String, connectionID: String?
  ) -> SFUFilterOutcome {
    defer { schedule() }
    return core.change(change, channelID: channelID, connectionID: connectionID, at: loop.now)
  }

  func change(_ change: SFUSpotlightChange, channelID: String) -> SFUSpotlightOutcome {
    defer { schedule() }
    return core.change(change, channelID: channelID, at: loop.now)
  }

  func requestSimulcastRid(
    _ rid: SignalingRid, channelID: String, receiver: String, sender: String?
  ) -> Bool {
    defer { schedule() }
    return core.requestSimulcastRid(
      rid, channelID: channelID, receiver: receiver, sender: sender, at: loop.now)
  }

  func push(_ data: JSONValue, to selection: SFUSelection) -> Int {
    defer { schedule() }
    return core.push(data, to: selection, at: loop.now)
  }

  func endSession(channelID: String, sessionID: String?) -> String? {
    guard let session = core.sessions.first(where: { $0.channelID == channelID }),
      (sessionID ?? session.sessionID) == session.sessionID
    else { return nil }
    _ = disconnect(SFUSelection(channelID: channelID))
    return session.sessionID
  }

  func metrics(_ access: AccessMetrics) -> ServerMetrics {
    let connections = core.counters
    return ServerMetrics(
      connected: connections.connected, connecting: connections.connecting,
      channels: core.channelIDs.count, totals: core.totals, access: access)
  }

  func disconnect(_ selection: SFUSelection, reason: String? = nil) -> Int {
    defer { schedule() }
    return core.disconnect(selection, reason: reason, at: loop.now)
  }

  // MARK: Signaling

  /// A WebSocket has opened; nil when the server is full.
  func accept(_ webSocket: WebSocketConnection) -> SFUPeerID? {
    defer { schedule() }
    guard
      let peer = core.accept(from: webSocket.remoteIP.flatMap { ClientNetwork($0) }, at: loop.now)
    else {
      let isDraining = core.isDraining
      webSocket.close(
        code: isDraining ? .goingAway : .tryAgainLater,
        reason: isDraining ? "SERVER-SHUTDOWN" : "SERVER-FULL")
      return nil
    }
    webSockets[peer] = webSocket
    return peer
  }

  func receive(_ message: SFUMessage, from peer: SFUPeerID) {
    core.receive(message, from: peer, at: loop.now)
    schedule()
  }

  func ignored(_ keys: [String], from peer: SFUPeerID) {
    core.ignored(keys, from: peer, at: loop.now)
  }

  func connectionID(of peer: SFUPeerID) -> String? { core.connectionID(of: peer) }

  func examine(_ message: ConnectMessage, of peer: SFUPeerID) -> SFUApplicant? {
    defer { schedule() }
    return core.examine(message, of: peer, at: loop.now)
  }

  func admit(_ message: ConnectMessage, _ grant: SFUGrant, of peer: SFUPeerID) {
    core.admit(message, grant, of: peer, at: loop.now)
    schedule()
  }

  func refuse(_ peer: SFUPeerID, reason: String) {
    core.refuse(peer, reason: reason, at: loop.now)
    schedule()
  }

  /// Does with a client what the cluster has decided.
  func place(
    _ peer: SFUPeerID, _ message: ConnectMessage, _ grant: SFUGrant, _ decision: ClusterDecision
  ) {
    switch decision {
    case .here:
      admit(message, grant, of: peer)
      cluster?.settle(
        message.channelID, isOccupied: core.sessionID(channelID: message.channelID) != nil)
    case .elsewhere(let url): core.redirect(peer, to: url, at: loop.now)
    case .unavailable:
      core.putOff(peer, reason: "CLUSTER-UNAVAILABLE: come again", at: loop.now)
    }
    schedule()
  }

  /// Another node has the channel.
  func giveUp(channelID: String) {
    core.giveUp(channelID: channelID, at: loop.now)
    schedule()
  }

  func signalingLost(_ peer: SFUPeerID) {
    webSockets[peer] = nil
    core.signalingLost(peer, at: loop.now)
    schedule()
  }

  /// Takes nobody any more.
  ///
  /// - Returns: what ends when the last connection has gone, at the latest after the limit.
  func drain(_ settings: ServerConfiguration.Drain) -> AsyncStream<Void> {
    endDrain()
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    let timer = loop.makeTimer { [weak self] _ in self?.endDrain() }
    timer.deadline = loop.now + settings.limit
    pendingDrain = PendingDrain(waiter: continuation, timer: timer)
    core.drain(to: settings.redirectURL, at: loop.now)
    logger.notice(
      "draining",
      metadata: [
        "connections": "\(core.status.count)", "limit": "\(settings.limit)",
        "redirects": "\(settings.redirectURL != nil)",
      ])
    endDrainWhereEmpty()
    schedule()
    return stream
  }

  private func endDrainWhereEmpty() {
    if pendingDrain != nil, core.status.isEmpty { endDrain() }
  }

  private func endDrain() {
    pendingDrain?.end()
    pendingDrain = nil
  }

  func shutdown() {
    endDrain()
    core.shutdown(at: loop.now)
    timer?.cancel()
    timer = nil
    sockets.close()
    events.finish()
  }

  func core(_ core: SFUCore, sends output: SFUOutput, to peer: SFUPeerID, at now: Instant) {
    guard let webSocket = webSockets[peer] else { return }
    switch output {
    case .close(let close):
      webSocket.close(code: WebSocketCloseCode(rawValue: close.code), reason: close.reason)
      webSockets[peer] = nil
    case .offer(let offer):
      var offer = offer
      iceServers.fill(
        &offer, for: core.request(of: peer), authority: webSocket.request?.headers["host"])
      webSocket.send(.offer(offer))
    default:
      if let message = core.written(output) { webSocket.send(text: message.text) }
    }
  }

  func core(_ core: SFUCore, event: SFUEvent, at now: Instant) {
    events.yield(event)
    if case .left(_, let connection, _, _) = event { sessions.end(connectionID: connection) }
    if let recordings, case .left(let channel, let connection, _, _) = event {
      recordings.end(connectionID: connection, channelID: channel)
      if !core.channelIDs.contains(channel) { recordings.endSession(channelID: channel) }
    }
    if let cluster, case .left(let channel, _, _, _) = event,
      core.sessionID(channelID: channel) == nil
    {
      cluster.emptied(channel)
    }
    endDrainWhereEmpty()
    switch event {
    case .joined(let channel, let connection, let role):
      logger.info(
        "joined",
        metadata: [
          "channel_id": "\(channel)", "connection_id": "\(connection)", "role": "\(role)",
        ])
    case .left(let channel, let connection, _, let reason):
      logger.info(
        "left",
        metadata: [
          "channel_id": "\(channel)", "connection_id": "\(connection)", "reason": "\(reason)",
        ])
    case .refused(let peer, let reason):
      logger.info("refused", metadata: ["peer": "\(peer.value)", "reason": "\(reason)"])
    case .ignored(let channel, let connection, let what):
      logger.info(
        "ignored",
        metadata: [
          "channel_id": "\(channel)", "connection_id": "\(connection)", "what": "\(what)",
        ])
    }
  }

  func core(_ core: SFUCore, reports report: SFUReport, at now: Instant) { reports?.send(report) }

  // MARK: Datagrams and time

  func received(
    _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress, on socket: UDPSocket,
    at now: Instant
  ) {
    unsafe core.received(
      bytes, from: source, on: socket.localAddress, ecn: socket.receivedECN, at: now)
  }

  func batchEnded(at now: Instant) {
    core.batchEnded(at: now)
    schedule()
  }

  func schedule() { timer?.deadline = core.nextDeadline }
}

/// Somebody waits for the last connection to go, for a while.
private struct PendingDrain {
  let waiter: AsyncStream<Void>.Continuation
  /// Runs out where connections stay.
  let timer: LoopTimer

  func end() {
    waiter.finish()
    timer.cancel()
  }
}

/// Stands between the sockets, which are opened first, and the engine that needs their addresses to be made.
private final class HandlerRelay: DatagramHandler {
  weak var engine: ServerEngine?

  func received(
    _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress, on socket: UDPSocket,
    at now: Instant
  ) {
    unsafe engine?.received(bytes, from: source, on: socket, at: now)
  }

  func batchEnded(at now: Instant) { engine?.batchEnded(at: now) }
}
