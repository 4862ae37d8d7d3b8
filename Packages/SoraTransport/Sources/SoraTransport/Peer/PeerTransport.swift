public import SoraDTLS
public import SoraICE
public import SoraMedia
import SoraSRTP
public import SoraWire

/// One peer's path: ICE finds it, DTLS agrees on keys over it, SRTP protects what goes through it.
///
/// Sans-I/O: bytes and the time go in, datagrams go out through a `DatagramSink`, and `nextDeadline` says when to
/// call `poll` next. An instance is confined to whatever drives it, a network loop or a simulation.
/// All media of a connection share one transport (BUNDLE with rtcp-mux, RFC 8843 and 5761).
public final class PeerTransport {
  public weak var delegate: (any PeerTransportDelegate)?
  /// Of the whole path: the connection state that follows from those of ICE and of DTLS, with the error of a failure.
  public var state: PeerTransportState { states.whole }
  /// Of ICE alone (W3C webrtc §5.6.4): `.completed` once neither side has more candidates and nothing is left to check, which the
  /// agent calls so from the nomination on. A failure of DTLS leaves it as it was; `close` closes it.
  public var iceState: ICEConnectionState { states.ice }
  public let ice: ICEAgent
  /// What asks STUN and TURN servers, and carries packets through the latter.
  public var gatherer: ICEGatherer { servers.gatherer }
  public var statistics: PeerTransportStatistics { counters }
  /// Internal, so that the compiler sees every use and need not check each count for overlapping access.
  @safe @exclusivity(unchecked) var counters = PeerTransportStatistics()
  /// Local candidates as they were found, with what they were learnt from.
  public var gathered: [GatheredCandidate] { candidates.gathered }
  /// Opens connections to TURN servers; without it those that want one fail. Held weakly: a driver's own part.
  public weak var streams: (any ICEStreamSink)?
  /// What the handshake agreed on; nil before it ended.
  public var session: DTLSSession? { dtls.session }
  /// Of DTLS alone (W3C webrtc §5.5.1): a failure of ICE leaves it as it was.
  public var dtlsState: DTLSTransportState { dtls.state }
  /// What we show in the handshake.
  public var certificate: DTLSCertificate { dtls.certificate }
  /// What DTLS counted, also after its end; nil before it began.
  public var dtlsStatistics: DTLSStatistics? { dtls.statistics }

  /// How the datagram under way was marked; what `receive` was told.
  public private(set) var receivedECN = ECNCodepoint.notECT
  let sink: any DatagramSink
  let servers: TransportServers
  /// What the other side has described of its end; nil before `start`.
  public private(set) var remote: RemoteDescription?
  private(set) var dtls: DTLSTransport
  @safe @exclusivity(unchecked) private(set) var srtp = SRTPTransport()
  var candidates: LocalCandidates
  let traffic = PathTraffic()
  private var states = PeerTransportStates()
  /// Whether nothing leads back: after `close`, and after errors that no ICE restart mends.
  private(set) var isEnded = false
  /// What `nextDeadline` said; nil where something may have changed it since. Packets of media only move it to later.
  private var knownDeadline: Instant??

  public init(configuration: Configuration, random: RandomSource, sink: any DatagramSink) {
    self.sink = sink
    ice = ICEAgent(configuration: configuration.ice, random: random)
    servers = TransportServers(configuration: configuration.gathering, random: random)
    dtls = DTLSTransport(
      factory: configuration.dtls, certificate: configuration.certificate,
      handshakeTimeout: configuration.handshakeTimeout, random: random)
    candidates = LocalCandidates(policy: configuration.gathering.policy)
  }

  // MARK: Setting up

  /// Adds a host candidate for a bound socket and returns it for the description.
  public func addLocalCandidate(_ address: TransportAddress) -> ICECandidate {
    ice.addLocalCandidate(base: address)
  }

  /// Takes over the other side's description and starts ICE. A second call with the same values does nothing.
  public func start(_ remote: RemoteDescription, at now: Instant) {
    guard self.remote != remote || ice.remoteParameters != remote.ice, !isEnded else { return }
    let first = self.remote == nil
    self.remote = remote
    let generation = ice.localParameters
    ice.setRemoteParameters(remote.ice)
    if ice.localParameters != generation { servers.askAgain(for: ice, at: now) }
    // Peer-reflexive candidates that came before the description stay, and want to be let through.
    for candidate in ice.remoteCandidates { servers.permit(candidate, at: now) }
    advance(to: now)
    if first {
      // Gathering may have failed already.
      if state == .new { change(to: .connecting, at: now) }
      counters.started = now
      ice.start(at: now)
    }
    drain(at: now)
  }

  /// Ends the transport: sends close_notify where there is an association, and frees keys.
  public func close(at now: Instant) {
    guard !isEnded else { return }
    dtls.close(at: now)
    flushDTLS()
    end(.closed, at: now)
  }

  // MARK: Driving

  /// Takes one datagram from the network (demultiplexed by its first byte, RFC 7983 §7).
  ///
  /// - Parameters:
  ///   - bytes: lent for the call, decrypted in place.
  ///   - remote: the address that it came from.
  ///   - local: the address that it came to.
  ///   - ecn: how it was marked.
  ///   - now: the present time.
  public func receive(
    _ bytes: UnsafeMutableRawBufferPointer, from remote: TransportAddress,
    on local: TransportAddress, ecn: ECNCodepoint = .notECT,
    at now: Instant
  ) {
    guard takes(bytes.count, ecn, at: now) else { return }
    if !servers.isEmpty {
      switch unsafe gatherer.receive(bytes, from: remote, on: local, at: now) {
      case .notMine: break
      case .handled: return drain(at: now)
      case .relayed(let payload, let peer, let relay):
        return unsafe demultiplex(
          UnsafeMutableRawBufferPointer(rebasing: bytes[payload]), from: peer, on: relay, at: now)
      }
    }
    unsafe demultiplex(bytes, from: remote, on: local, at: now)
  }

  /// Takes a STUN request that its owner has parsed to find out whose it is. It is the peer's: servers send none.
  ///
  /// - Parameters:
  ///   - request: what `bytes` say.
  ///   - bytes: the datagram, lent for the call.
  ///   - remote: the address that it came from.
  ///   - local: the address that it came to.
  ///   - now: the present time.
  public func receive(
    _ request: STUNMessage, parsedFrom bytes: RawSpan, from remote: TransportAddress,
    on local: TransportAddress, at now: Instant
  ) {
    guard takes(bytes.byteCount, .notECT, at: now) else { return }
    ice.receive(request, parsedFrom: bytes, from: remote, on: local, at: now)
    drain(at: now)
  }

  /// Counts a datagram. False once the transport has ended.
  private func takes(_ count: Int, _ ecn: ECNCodepoint, at now: Instant) -> Bool {
    advance(to: now)
    receivedECN = ecn
    counters.datagramsReceived &+= 1
    counters.bytesReceived &+= UInt64(count)
    if isEnded { counters.dropped.afterEnd &+= 1 }
    return !isEnded
  }

  /// Gives bytes of the peer's to whom they are for.
  func demultiplex(
    _ bytes: UnsafeMutableRawBufferPointer, from remote: TransportAddress,
    on local: TransportAddress, at now: Instant
  ) {
    guard !isEnded else {
      counters.dropped.afterEnd &+= 1
      return
    }
    guard bytes.count > 0 else {
      counters.dropped.empty &+= 1
      return
    }
    switch unsafe bytes[0] {
    case 128...191:
      countReceived(bytes.count, from: remote, on: local)
      if srtp.session == nil, unsafe keepEarly(bytes, from: remote) { return }
      unsafe receiveProtected(bytes, at: now)
    case 0...3:
      unsafe ice.receive(UnsafeRawBufferPointer(bytes), from: remote, on: local, at: now)
      drain(at: now)
    case 20...63:
      // A peer that has chosen a pair has been checked by then. Anybody else's hello could take the place of its own.
      guard ice.knows(remote) else {
        counters.dropped.unknownSource &+= 1
        return
      }
      countReceived(bytes.count, from: remote, on: local)
      unsafe bytes.withMutableRawSpan { receiveRecords(&$0, at: now) }
    case 64...79: counters.dropped.unknownRelay &+= 1
    default: counters.dropped.unknownProtocol &+= 1
    }
  }

  /// Lets timers run: ICE checks and consent, DTLS retransmissions.
  public func poll(at now: Instant) {
    advance(to: now)
    guard !isEnded else { return }
    if let deadline = gatherer.nextDeadline, deadline <= now { gatherer.poll(at: now) }
    servers.noteRelay(in: ice, at: now)
    if let deadline = ice.nextDeadline, deadline <= now { ice.poll(at: now) }
    if let deadline = retransmissionDeadline, deadline <= now { dtls.poll(at: now) }
    drain(at: now)
    if !isEnded, let deadline = dtls.handshakeDeadline, deadline <= now {
      fail(.dtls(.timedOut), at: now)
    }
  }

  /// When `poll` wants to be called next.
  public var nextDeadline: Instant? {
    if isEnded { return nil }
    // Servers' packets move deadlines, too.
    if let knownDeadline, servers.isEmpty { return knownDeadline }
    let own = earliest(dtls.handshakeDeadline, gatherer.nextDeadline)
    let deadline = earliest(own, earliest(ice.nextDeadline, retransmissionDeadline))
    knownDeadline = .some(deadline)
    return deadline
  }

  /// Has `nextDeadline` asked of the parts anew.
  private func deadlineMayHaveChanged() { knownDeadline = nil }

  /// Nothing is sent again, and no patience lost, where there is no way.
  private var retransmissionDeadline: Instant? {
    traffic.path == nil ? nil : dtls.retransmissionDeadline
  }

  // MARK: Receiving

  private func receiveProtected(_ bytes: UnsafeMutableRawBufferPointer, at now: Instant) {
    guard let srtp = srtp.session else {
      counters.dropped.beforeKeys &+= 1
      return
    }
    guard bytes.count >= 12 else {
      counters.dropped.malformed &+= 1
      return
    }
    // RFC 5761 §4: payload types 64-95 in the second byte are RTCP's packet types 192-223.
    let isRTCP = unsafe (192...223).contains(bytes[1])
    do throws(SRTPError) {
      let count =
        unsafe isRTCP
        ? try srtp.unprotectRTCP(bytes, count: bytes.count)
        : try srtp.unprotectRTP(bytes, count: bytes.count)
      noteTraffic(at: now)
      let plain = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[..<count])
      if isRTCP {
        unsafe delegate?.transport(self, receivedRTCP: UnsafeRawBufferPointer(plain), at: now)
      } else {
        if counters.firstPacketReceived == nil { counters.firstPacketReceived = now }
        unsafe delegate?.transport(self, receivedRTP: plain, at: now)
      }
    } catch {
      counters.dropped.countUnprotection(error)
    }
  }

  private func noteTraffic(at now: Instant) {
    // A path that is heard of again has its silence watched again.
    if ice.state == .disconnected { deadlineMayHaveChanged() }
    ice.noteTraffic(at: now)
  }

  private func receiveRecords(_ bytes: inout MutableRawSpan, at now: Instant) {
    switch dtls.receive(&bytes, at: now) {
    case .message(let range):
      // The one case that comes thousands of times a second; nothing else can have changed.
      receivedData(bytes.bytes.extracting(range), at: now)
    case .taken: drain(at: now)
    case .dropped:
      counters.dropped.beforeKeys &+= 1
      drain(at: now)
    }
  }

  private func receivedData(_ message: RawSpan, at now: Instant) {
    noteTraffic(at: now)
    if delegate?.transport(self, receivedData: message, at: now) != true {
      counters.dropped.applicationData &+= 1
    }
  }

  /// Of a stranger, and before a handshake begins, nothing is kept.
  private func keepEarly(
    _ bytes: UnsafeMutableRawBufferPointer, from remote: TransportAddress
  ) -> Bool {
    dtls.isBegun && ice.knows(remote) && (unsafe srtp.keep(bytes.bytes))
  }

  private func receiveEarlyPackets(at now: Instant) {
    for var packet in srtp.takeEarly() {
      unsafe packet.withUnsafeMutableBytes { unsafe receiveProtected($0, at: now) }
    }
  }

  // MARK: Moving on

  /// Carries what ICE and DTLS produced to the network and to each other until both are quiet.
  func drain(at now: Instant) {
    deadlineMayHaveChanged()
    // The delegate may have asked meanwhile.
    defer { deadlineMayHaveChanged() }
    drainGatherer(at: now)
    while !isEnded, let event = ice.nextEvent() { handle(event, at: now) }
    if traffic.path != nil, ice.selectedPair == nil { pathLost(at: now) }
    traffic.pairsMayHaveChanged(in: ice, over: sink)
    while !isEnded, let event = dtls.nextEvent() { handle(event, at: now) }
    // A channel that a selected pair asked for goes before what is sent on it.
    sendGatherer(at: now)
    servers.noteRelay(in: ice, at: now)
    while let transmit = ice.nextTransmit() {
      send(transmit.bytes, on: path(from: transmit.local, to: transmit.remote))
    }
    flushDTLS()
    // The end of gathering, of the peer's candidates or of a check may be what completes the search.
    if !isEnded { updateICEState(at: now) }
  }

  func flushDTLS() {
    deadlineMayHaveChanged()
    guard let path = traffic.path else { return }
    while let datagram = dtls.nextTransmit() {
      unsafe carry(on: path, capacity: datagram.count) { slot in
        unsafe slot.copyBytes(from: datagram)
        countSent(datagram.count)
        return datagram.count
      }
    }
  }

  private func handle(_ event: ICEEvent, at now: Instant) {
    switch event {
    case .selectedPair(let local, let remote):
      if counters.pairSelected == nil { counters.pairSelected = now }
      let path = path(from: local, to: remote)
      traffic.select(path, in: ice, over: sink)
      if path.relay != nil { gatherer.bindChannel(local, to: remote, at: now) }
      if let pair = ice.selectedPair { delegate?.transport(self, selected: pair, at: now) }
      startDTLS(at: now)
      dtls.pathFound(at: now)
    case .stateChanged(let agentState):
      switch agentState {
      case .checking:
        // Only a restart leads here from there.
        if case .failed = state { change(to: .connecting, at: now) }
      case .failed: fail(noPairError, at: now)
      case .disconnected where state == .connected: change(to: .disconnected, at: now)
      case .connected, .completed:
        if state == .disconnected || state == .connecting && srtp.session != nil {
          change(to: .connected, at: now)
        }
      default: break
      }
      if !isEnded { updateICEState(hasRestarted: agentState == .checking, at: now) }
    case .selectedPairSilent: servers.verifyRelays(at: now)
    case .consentLost: fail(.consentLost, at: now)
    case .unresolvedCandidate(let candidate):
      delegate?.transport(self, needsAddressOf: candidate)
    }
  }

  private func startDTLS(at now: Instant) {
    guard !dtls.isBegun, let remote else { return }
    do throws(DTLSError) {
      try dtls.begin(as: remote.localRole, expecting: remote.fingerprint, at: now)
      delegate?.transport(self, dtlsChangedTo: .connecting, at: now)
    } catch {
      fail(.dtls(error), at: now)
    }
  }

  private func handle(_ event: DTLSEvent, at now: Instant) {
    switch event {
    case .connected(let session):
      do throws(SRTPError) {
        try srtp.start(with: session)
        dtls.connected(session)
        counters.secured = now
        // What is sent upon the change stays behind the last flight.
        flushDTLS()
        delegate?.transport(self, dtlsChangedTo: .connected, at: now)
        // Where ICE has failed meanwhile, the keys wait for the restart that leads out of it.
        if state == .connecting { change(to: .connected, at: now) }
        // The path may have gone silent while the handshake ran; nothing would tell a second time.
        if state == .connected, ice.state == .disconnected { change(to: .disconnected, at: now) }
        receiveEarlyPackets(at: now)
      } catch {
        fail(.srtp(error), at: now)
      }
    case .applicationData(let message): receivedData(message.rawSpan, at: now)
    case .closed: fail(.closedByPeer, at: now)
    case .failed(let error): fail(.dtls(error), at: now)
    }
  }

  func fail(_ error: PeerTransportError, at now: Instant) {
    guard !isEnded else { return }
    if error.isRecoverable {
      if case .failed = state { return }
      // Servers are still asked, and DTLS and SRTP keep what they agreed on, for the restart that may come.
      ice.giveUp(at: now)
      forgetPath()
      change(to: .failed(error), at: now)
      return
    }
    flushDTLS()
    end(.failed(error), at: now)
  }

  /// The path of before a restart has gone silent for good, and no other is found yet: nothing may be sent (RFC 7675 §5.2).
  private func pathLost(at now: Instant) {
    forgetPath()
    if state == .connected { change(to: .disconnected, at: now) }
  }

  private func forgetPath() {
    deadlineMayHaveChanged()
    dtls.pathLost()
    traffic.forgetPath(over: sink)
  }

  private func end(_ state: PeerTransportState, at now: Instant) {
    isEnded = true
    // Nobody hears of a part's end before the whole's is true.
    let iceEnd = states.end(as: state)
    forgetPath()
    if let iceEnd { delegate?.transport(self, iceChangedTo: iceEnd, at: now) }
    let dtlsEnd: DTLSTransportState =
      switch state {
      case .failed(.dtls), .failed(.srtp): .failed
      default: .closed
      }
    let unused = dtls.end(as: dtlsEnd)
    delegate?.transport(self, dtlsChangedTo: dtlsEnd, at: now)
    delegate?.transport(self, changedTo: state, at: now)
    ice.close(at: now)
    gatherer.close(at: now)
    sendGatherer(at: now)
    counters.dropped.beforeKeys &+= unused + srtp.end()
  }

  /// Tells ICE's state where it is another than before.
  private func updateICEState(hasRestarted: Bool = false, at now: Instant) {
    guard let state = states.follow(ice, hasRestarted: hasRestarted) else { return }
    delegate?.transport(self, iceChangedTo: state, at: now)
  }

  private func change(to state: PeerTransportState, at now: Instant) {
    guard states.change(to: state) else { return }
    updateICEState(at: now)
    delegate?.transport(self, changedTo: state, at: now)
  }
}

/// What arrives at a peer's transport. Called on the loop that drives it, inside `receive` or `poll`.
public protocol PeerTransportDelegate: AnyObject {
  /// One RTP packet, decrypted in place. The memory is lent for the call; its first bytes are the header.
  func transport(
    _ transport: PeerTransport, receivedRTP packet: UnsafeMutableRawBufferPointer, at now: Instant)
  /// One compound RTCP packet, decrypted in place. The memory is lent for the call.
  func transport(
    _ transport: PeerTransport, receivedRTCP packet: UnsafeRawBufferPointer, at now: Instant)
  /// One message inside of DTLS (RFC 8261: a packet of SCTP). The memory is lent for the call. Returns whether anybody takes it.
  func transport(
    _ transport: PeerTransport, receivedData message: RawSpan, at now: Instant
  ) -> Bool
  /// The state changed. `.closed`, and `.failed` with an error that isn't recoverable, come once and last.
  func transport(
    _ transport: PeerTransport, changedTo state: PeerTransportState, at now: Instant)
  /// The state of ICE changed; before the change of the whole path that follows from it.
  func transport(
    _ transport: PeerTransport, iceChangedTo state: ICEConnectionState, at now: Instant)
  /// The state of DTLS changed; before the change of the whole path that follows from it.
  func transport(
    _ transport: PeerTransport, dtlsChangedTo state: DTLSTransportState, at now: Instant)
  /// Packets go over this pair of candidates from now on.
  func transport(_ transport: PeerTransport, selected pair: ICEPair, at now: Instant)
  /// The remote side named a candidate by host name; resolve it outside and add it again with an address.
  func transport(_ transport: PeerTransport, needsAddressOf candidate: ICECandidate)
  /// A local candidate was found: on a socket of ours, or at the server with `url`. Signal it.
  func transport(
    _ transport: PeerTransport, gathered candidate: ICECandidate, from url: ICEServerURL?,
    at now: Instant)
  /// No more local candidates come, unless interfaces change.
  func transportGatheringEnded(_ transport: PeerTransport, at now: Instant)
  /// A STUN or TURN server was given by name; resolve it outside and call `resolved`.
  func transport(_ transport: PeerTransport, needsAddressesOf name: String)
}
