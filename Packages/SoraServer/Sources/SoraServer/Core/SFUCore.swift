import SoraICE
public import SoraMedia
import SoraRTP
public import SoraTransport
public import SoraWire

/// A forwarding server without sockets, threads and clocks: signaling messages, datagrams and the time go in; messages,
/// datagrams and the next deadline come out.
///
/// It owns channels and connections. All connections share the sockets at `Configuration.mediaAddresses`: STUN
/// requests find theirs by the user name, everything else by the address it comes from, which authenticated STUN has
/// taught. The same core runs on a network loop and in a simulated network. Confined to what drives it.
public final class SFUCore {
  public let configuration: Configuration
  public weak var delegate: (any SFUCoreDelegate)?
  /// Datagrams that belong to no connection; what connections dropped is in their status.
  public internal(set) var dropped = SFUDropped()
  /// What connections did that are gone.
  private(set) var endedTotals = SFUTotals()

  /// Takes what is published, frame by frame, before it is decoded; packets are put together only where this is set. Called in
  /// the middle of the core's calls, and calls nothing of it.
  public var onPublishedFrame: ((SFUPublisher, EncodedTrackFrame) -> Void)? {
    get { frameTap.handler }
    set { frameTap.handler = newValue }
  }
  /// The channels whose frames are taken; nil for all.
  public var takenChannels: Set<String>? {
    get { frameTap.channels }
    set {
      frameTap.channels = newValue
      for connection in connections
      where frameTap.handler(of: connection.channel.id) == nil {
        for track in connection.uplink.tracks { track.dropAssembly() }
      }
    }
  }

  private(set) var frameTap = PublishedFrameTap()
  let random: RandomSource
  /// What publishers with simulcast are offered where nobody has said otherwise.
  let simulcast: SimulcastOffer
  let sink: any DatagramSink
  private(set) var clients = SignalingClients<SFUConnection>()
  private var deadlines = DeadlineQueue<SFUConnection>()
  /// Layers whose packets of this batch haven't been forwarded.
  private var running: [(track: PublishedTrack, layer: PublishedLayer)] = []
  private(set) var directory = ConnectionDirectory<SFUConnection>()
  private(set) var channels: [SFUChannel] = []
  private let outbox = SFUOutbox()
  /// Set while nobody new is taken.
  var drain: Drain?

  /// - Parameters:
  ///   - configuration: addresses for media, and time limits.
  ///   - random: for identifiers, keys of ICE and sources; the system's in a real server.
  ///   - sink: sends from the configured media addresses.
  public init(configuration: Configuration, random: RandomSource, sink: any DatagramSink) {
    self.configuration = configuration
    simulcast = (try? SimulcastOffer(configuration.simulcastEncodings)) ?? .standard
    self.random = random
    self.sink = sink
  }

  /// Connections in the order of their `connect`.
  var connections: [SFUConnection] { directory.all.filter { !$0.isEnded } }

  // MARK: Signaling

  /// A client has opened its WebSocket. nil where the server is full: close it with 1013.
  ///
  /// - Parameters:
  ///   - network: where it comes from; nil where that isn't known.
  ///   - now: the present time.
  public func accept(from network: ClientNetwork? = nil, at now: Instant) -> SFUPeerID? {
    defer { deliver(at: now) }
    guard drain.map({ $0.location != nil }) ?? true, hasPlace(for: network, at: now) else {
      return nil
    }
    return clients.add(from: network, connectBy: now + configuration.connectTimeout)
  }

  /// Takes a message of a client. Messages of a client that has ended are ignored.
  public func receive(_ message: SFUMessage, from peer: SFUPeerID, at now: Instant) {
    defer { deliver(at: now) }
    guard clients.contains(peer) else { return }
    if let connection = clients.connection(of: peer) {
      connection.receive(message, at: now)
      touch(connection)
      return
    }
    switch message {
    case .connect(let message): admit(message, SFUGrant(), of: peer, at: now)
    case .malformed(let detail): refuse(peer, .refused("INVALID-MESSAGE: \(detail)"), at: now)
    case .disconnect: refuse(peer, .disconnect, at: now)
    default: refuse(peer, .refused("FIRST-MESSAGE: send connect before anything else"), at: now)
    }
  }

  /// Notes keys of a client's message that mean nothing here; of nobody without a connection.
  public func ignored(_ keys: [String], from peer: SFUPeerID, at now: Instant) {
    defer { deliver(at: now) }
    clients.connection(of: peer)?.ignored(keys)
  }

  /// What a client has connected with; nil where it hasn't.
  func request(of peer: SFUPeerID) -> SFUConnectRequest? { clients.connection(of: peer)?.request }

  /// The name of a client's connection; nil where it has none.
  public func connectionID(of peer: SFUPeerID) -> String? {
    clients.connection(of: peer)?.connectionID
  }

  /// Takes a `connect` that somebody else decides about. The client isn't waited for from now on: `admit` or `refuse` must follow.
  ///
  /// - Returns: nil where there is nothing to decide: the client has gone, or was refused.
  public func examine(
    _ message: ConnectMessage, of peer: SFUPeerID, at now: Instant
  ) -> SFUApplicant? {
    defer { deliver(at: now) }
    guard clients.contains(peer) else { return nil }
    guard clients.connection(of: peer) == nil else {
      receive(.connect(message), from: peer, at: now)
      return nil
    }
    do throws(SFUObjection) {
      _ = try SFUConnectRequest(message)
    } catch {
      refuse(peer, .refused(error.reason), at: now)
      return nil
    }
    guard drain == nil else {
      sendElsewhere(peer, at: now)
      return nil
    }
    clients.heard(peer)
    return SFUApplicant(
      peer: peer, connectionID: makeIdentifier(), connect: message,
      counters: channel(message.channelID)?.counters ?? SFUCounters(),
      usesDataChannels: configuration.usesDataChannels)
  }

  /// Connects a client that was let in, to what it asks for and the grant leaves of that.
  public func admit(
    _ message: ConnectMessage, _ grant: SFUGrant, of peer: SFUPeerID, at now: Instant
  ) {
    defer { deliver(at: now) }
    guard isUnconnected(peer) else { return }
    guard drain == nil else { return sendElsewhere(peer, at: now) }
    do throws(SFUObjection) {
      let request = try SFUConnectRequest(message, grant)
      try makeRoom(in: request.channelID, for: clients.network(of: peer), at: now)
      connect(request, of: peer, at: now)
    } catch {
      refuse(peer, .refused(error.reason), at: now)
    }
  }

  /// Whether it is a client that has no connection.
  func isUnconnected(_ peer: SFUPeerID) -> Bool {
    clients.contains(peer) && clients.connection(of: peer) == nil
  }

  /// Turns away a client that was not let in.
  public func refuse(_ peer: SFUPeerID, reason: String, at now: Instant) {
    defer { deliver(at: now) }
    guard isUnconnected(peer) else { return }
    refuse(peer, .refused(reason), at: now)
  }

  /// A client's WebSocket is gone; that ends its connection, unless it has switched to data channels and asked to outlive that.
  public func signalingLost(_ peer: SFUPeerID, at now: Instant) {
    defer { deliver(at: now) }
    guard let connection = clients.connection(of: peer) else { return clients.remove(peer) }
    guard !connection.signaling.webSocketLost() else { return }
    end(connection, .lost("WEBSOCKET-CLOSED"), reason: "WEBSOCKET-CLOSED", at: now)
  }

  /// Forgets the clients without a connection.
  ///
  /// - Returns: who they were.
  func removeUnconnected() -> [SFUPeerID] {
    let peers = clients.unconnected
    for peer in peers { clients.remove(peer) }
    return peers
  }

  // MARK: Datagrams and time

  /// Takes one datagram of the sockets. The memory is lent for the call and decrypted in place. `ecn` says how it was marked.
  public func received(
    _ bytes: UnsafeMutableRawBufferPointer, from remote: TransportAddress,
    on local: TransportAddress, ecn: ECNCodepoint = .notECT, at now: Instant
  ) {
    guard bytes.count > 0 else {
      dropped.unknownProtocol += 1
      return
    }
    // RFC 7983 §7.
    if unsafe bytes[0] <= 3 {
      unsafe receiveSTUN(bytes, from: remote, on: local, at: now)
    } else if let connection = directory.connection(at: remote) {
      unsafe connection.transport.receive(bytes, from: remote, on: local, ecn: ecn, at: now)
      touch(connection)
    } else {
      dropped.unknownAddress += 1
    }
    if !outbox.isEmpty { deliver(at: now) }
  }

  /// Forwards what has come since the last time. Behind datagrams that came together; `poll` does it, too.
  public func batchEnded(at now: Instant) {
    guard !running.isEmpty else { return }
    for (track, layer) in running { track.forwardRun(of: layer, at: now) }
    running.removeAll(keepingCapacity: true)
    if !outbox.isEmpty { deliver(at: now) }
  }

  /// Lets timers run.
  public func poll(at now: Instant) {
    defer { deliver(at: now) }
    batchEnded(at: now)
    while let peer = clients.late(at: now) {
      refuse(peer, .refused("CONNECT-TIMEOUT: no connect came in time"), at: now)
    }
    // What one sets off at another, such as a request for a key frame, is due at once: a few rounds settle it.
    for _ in 0..<Self.pollRounds {
      settleDeadlines()
      guard deadlines.nextDeadline.map({ $0 <= now }) == true else { return }
      while let connection = deadlines.popDue(at: now) {
        connection.poll(at: now)
        touch(connection)
      }
    }
  }

  private static let pollRounds = 4

  /// When `poll` wants to be called next.
  public var nextDeadline: Instant? {
    settleDeadlines()
    guard running.isEmpty else { return .zero }
    return earliest(clients.nextDeadline, deadlines.nextDeadline)
  }

  /// A connection's deadline may have changed.
  func touch(_ connection: SFUConnection) { deadlines.touch(connection) }

  /// It may have come nearer, to this, and hasn't changed otherwise.
  func bringForward(_ connection: SFUConnection, to deadline: Instant?) {
    deadlines.bringForward(connection, to: deadline)
  }

  /// That of a layer's publisher may have.
  func touch(publisherOf layer: PublishedLayer) {
    if let publisher = directory.connection(id: layer.publisherID) { touch(publisher) }
  }

  /// A layer has something to forward: with what else comes in this batch.
  func forward(_ layer: PublishedLayer, of track: PublishedTrack, at now: Instant) {
    if layer.isRunFull { return track.forwardRun(of: layer, at: now) }
    if layer.isRunNew { running.append((track, layer)) }
  }

  private func settleDeadlines() {
    while let connection = deadlines.takeTouched() {
      deadlines.set(connection.nextDeadline, of: connection)
    }
  }

  /// A new name, as connections and sessions have it.
  func makeIdentifier() -> String { SFUIdentifier.make(random) }

  func channel(_ id: String) -> SFUChannel? { channels.first { $0.id == id } }

  // MARK: Finding the connection

  private func receiveSTUN(
    _ bytes: UnsafeMutableRawBufferPointer, from remote: TransportAddress,
    on local: TransportAddress, at now: Instant
  ) {
    guard let message = unsafe try? STUNMessage(parsing: bytes.bytes) else {
      dropped.malformedSTUN += 1
      return
    }
    guard message.messageClass == .request else {
      // Responses to our own requests name nobody.
      guard let connection = directory.connection(at: remote) else {
        dropped.unknownAddress += 1
        return
      }
      touch(connection)
      return unsafe connection.transport.receive(bytes, from: remote, on: local, at: now)
    }
    guard let name = message.username else {
      dropped.malformedSTUN += 1
      return
    }
    let user = String(decoding: name.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)
    guard let connection = directory.connection(user: user) else {
      dropped.unknownUser += 1
      return
    }
    let accepted = connection.transport.ice.statistics.requestsReceived
    unsafe connection.transport.receive(
      message, parsedFrom: bytes.bytes, from: remote, on: local, at: now)
    touch(connection)
    // Counted once the message integrity has held.
    if connection.transport.ice.statistics.requestsReceived > accepted, !connection.isEnded {
      directory.learn(remote, of: connection)
    }
  }

  // MARK: Coming and going

  private func connect(_ request: SFUConnectRequest, of peer: SFUPeerID, at now: Instant) {
    let connection = enter(request, nil, of: peer, at: now)
    connection.sendOffer(at: now)
    touch(connection)
  }

  /// Makes the connection of a client.
  ///
  /// - Parameter offer: the client's own; nil where the server is to offer.
  func enter(
    _ request: SFUConnectRequest, _ offer: SFUClientOffer?, of peer: SFUPeerID, at now: Instant
  ) -> SFUConnection {
    let channel: SFUChannel
    if let known = self.channel(request.channelID) {
      channel = known
    } else {
      channel = SFUChannel(
        id: request.channelID, sessionID: SFUIdentifier.make(random), createdAt: now)
      channels.append(channel)
    }
    let connection = SFUConnection(
      request, offer, peer: peer, mark: deadlines.makeMark(), channel: channel, core: self, at: now)
    clients.connect(peer, connection)
    directory.insert(
      connection, id: connection.connectionID,
      user: connection.transport.ice.localParameters.ufrag)
    channel.members.append(connection)
    openSpotlight(in: channel, for: request)
    return connection
  }

  /// The connection of an id that is in its channel still.
  func connection(id: String) -> SFUConnection? {
    directory.connection(id: id).flatMap { $0.isEnded ? nil : $0 }
  }

  /// ICE has started over: requests come under another name.
  func renamed(_ connection: SFUConnection) {
    directory.add(connection.transport.ice.localParameters.ufrag, of: connection)
  }

  func refuse(_ peer: SFUPeerID, _ close: SFUClose, at now: Instant) {
    clients.remove(peer)
    emit(.close(close), to: peer)
    emit(.refused(peer, reason: close.reason))
    endedTotals.refusals += 1
  }

  /// A connection's media can flow: others hear of it, and get its tracks.
  func joined(_ connection: SFUConnection, at now: Instant) {
    let channel = connection.channel
    emit(
      .joined(
        channelID: channel.id, connectionID: connection.connectionID, role: connection.request.role)
    )
    endedTotals.connections += 1
    reportStart(of: channel)
    report(.created, of: connection, at: now)
    synchronize(channel, at: now)
    let others = others(of: connection)
    let base = notification(.created, of: connection, at: now)
    var own = base
    own.others = others.map(\.identity.peer)
    // Others get the list too, from the newcomer's point of view, as Sora sends one message to everybody.
    tell(.notify(own), to: [connection] + others, at: now)
  }

  /// The members of a connection's channel who hear of it.
  func others(of connection: SFUConnection) -> [SFUConnection] {
    connection.channel.members.filter {
      $0 !== connection && $0.isConnected && $0.bundleID != connection.bundleID
    }
  }

  /// Tells each of them the same.
  func tell(_ output: SFUOutput, to members: [SFUConnection], at now: Instant) {
    for member in members {
      member.tell(output, at: now)
      touch(member)
    }
  }

  /// Has every member offered what there is now.
  private func synchronize(_ channel: SFUChannel, at now: Instant) {
    for member in channel.members {
      member.synchronize(at: now)
      touch(member)
    }
  }

  /// Ends a connection, whatever state it is in.
  ///
  /// - Parameter close: what to tell the client; nil where it can't be told any more.
  func end(_ connection: SFUConnection, _ close: SFUClose?, reason: String, at now: Instant) {
    guard !connection.isEnded else { return }
    connection.add(to: &endedTotals)
    let wasConnected = connection.isConnected
    let channel = connection.channel
    let remoteAddress = connection.transport.ice.selectedPair?.remote
    let isTold = connection.tellEnd(close, at: now)
    let isGone = connection.leave(afterClose: isTold, at: now)
    clients.remove(connection.signaling.peer)
    channel.members.removeAll { $0 === connection }
    channel.spotlight?.remove(connection.connectionID)
    for member in channel.members { member.downlink.forget(connection.connectionID) }
    if isGone { release(connection, at: now) } else { touch(connection) }
    limitGoodbyes(at: now)
    synchronize(channel, at: now)
    if wasConnected {
      var message = notification(.destroyed, of: connection, at: now)
      message.remoteAddress = remoteAddress
      tell(.notify(message), to: others(of: connection), at: now)
    }
    emit(
      .left(
        channelID: channel.id, connectionID: connection.connectionID, role: connection.request.role,
        reason: reason))
    if wasConnected { report(.destroyed, of: connection, reason: reason, at: now) }
    if channel.members.isEmpty {
      channels.removeAll { $0 === channel }
      reportEnd(of: channel, at: now)
    }
  }

  /// Lets go of a connection that has ended.
  func release(_ connection: SFUConnection, at now: Instant) {
    connection.finish(at: now)
    directory.remove(connection, id: connection.connectionID)
    deadlines.set(nil, of: connection)
  }

  func notification(
    _ kind: SFUNotification.Kind, of connection: SFUConnection, at now: Instant
  ) -> SFUNotification {
    SFUNotification(
      kind: kind, peer: connection.identity.peer, role: connection.request.role,
      sessionID: connection.channel.sessionID, audio: connection.request.audio != nil,
      video: connection.request.video != nil,
      minutes: Int(now.nanoseconds(since: connection.connectedAt ?? now) / 60_000_000_000),
      counters: connection.channel.counters,
      remoteAddress: connection.transport.ice.selectedPair?.remote, others: [],
      unixNanoseconds: unixNanoseconds(at: now))
  }

  // MARK: Delivering

  func emit(_ output: SFUOutput, to peer: SFUPeerID) { outbox.append(.output(output, peer)) }

  func emit(_ event: SFUEvent) { outbox.append(.event(event)) }

  func emit(_ report: SFUReport) { outbox.append(.report(report)) }

  /// An output as its client gets it; nil for `close`. Within the delegate's calls, what goes to many is written once.
  package func written(_ output: SFUOutput) -> WrittenMessage? {
    outbox.written(output) {
      SignalingMessage($0, turnTransport: configuration.turnTransport)
    }
  }

  /// Hands out what was collected, once the core is at rest, so that a delegate may call the core.
  func deliver(at now: Instant) {
    outbox.deliver { item in
      switch item {
      case .output(let output, let peer): delegate?.core(self, sends: output, to: peer, at: now)
      case .event(let event): delegate?.core(self, event: event, at: now)
      case .report(let report): delegate?.core(self, reports: report, at: now)
      }
    }
  }
}

/// Takes what comes out of an `SFUCore`. Called at the end of the core's calls, never in the middle of them.
public protocol SFUCoreDelegate: AnyObject {
  func core(_ core: SFUCore, sends output: SFUOutput, to peer: SFUPeerID, at now: Instant)
  func core(_ core: SFUCore, event: SFUEvent, at now: Instant)
  /// What somebody outside may want to hear of. Needn't be there.
  func core(_ core: SFUCore, reports report: SFUReport, at now: Instant)
}

extension SFUCoreDelegate {
  public func core(_ core: SFUCore, reports report: SFUReport, at now: Instant) {}
}
