public import SoraDTLS
public import SoraICE
public import SoraMedia
import SoraSRTP

/// One peer's path: ICE finds it, DTLS agrees on keys over it, SRTP protects what goes through it.
///
/// Sans-I/O: bytes and the time go in, datagrams go out through a `DatagramSink`, and `nextDeadline` says when to
/// call `poll` next. An instance is confined to whatever drives it, a network loop or a simulation.
/// All media of a connection share one transport (BUNDLE with rtcp-mux, RFC 8843 and 5761).
public final class PeerTransport {
  /// What a transport is made of.
  public struct Configuration {
    /// Our ICE behaviour; `isLite` for a server with reachable addresses.
    public var ice: ICEAgent.Configuration
    public var certificate: DTLSCertificate
    /// Makes the DTLS endpoint: libssl's, or a stand-in in a simulation.
    public var dtls: any DTLSEndpointFactory
    /// Time from the first working pair in which DTLS has to agree on keys. Without it a server whose client never
    /// speaks would wait for ever: only clients retransmit before the first flight (RFC 6347 §4.2.4).
    public var handshakeTimeout: Duration = .seconds(15)

    public init(
      ice: ICEAgent.Configuration, certificate: DTLSCertificate, dtls: any DTLSEndpointFactory
    ) {
      self.ice = ice
      self.certificate = certificate
      self.dtls = dtls
    }
  }

  /// What the other side's description says of its end.
  public struct RemoteDescription: Equatable, Sendable {
    public var ice: ICEParameters
    public var fingerprint: DTLSFingerprint
    /// The role that we take: active is the client (RFC 5763 §5).
    public var localRole: DTLSRole

    public init(ice: ICEParameters, fingerprint: DTLSFingerprint, localRole: DTLSRole) {
      self.ice = ice
      self.fingerprint = fingerprint
      self.localRole = localRole
    }
  }

  public weak var delegate: (any PeerTransportDelegate)?
  public private(set) var state: PeerTransportState = .new
  public let ice: ICEAgent
  public private(set) var statistics = PeerTransportStatistics()
  /// What the handshake agreed on; nil before it ended.
  public private(set) var session: DTLSSession?

  let configuration: Configuration
  private let random: RandomSource
  private let sink: any DatagramSink
  private var remote: RemoteDescription?
  private var dtls: (any DTLSEndpoint)?
  private var srtp: SRTPSession?
  private var selected: (local: TransportAddress, remote: TransportAddress)?
  /// A DTLS flight that came before ICE selected a pair is kept: losing it would cost a retransmission timeout.
  private var earlyDatagrams: [[UInt8]] = []
  /// When the handshake has failed; nil outside of one.
  private var handshakeBy: Instant?

  private static let maximumEarlyDatagrams = 8
  /// No flight has datagrams beyond a path's MTU; what is larger isn't kept.
  private static let maximumEarlyDatagram = 2048

  public init(configuration: Configuration, random: RandomSource, sink: any DatagramSink) {
    self.configuration = configuration
    self.random = random
    self.sink = sink
    ice = ICEAgent(configuration: configuration.ice, random: random)
  }

  // MARK: Setting up

  /// Adds a host candidate for a bound socket and returns it for the description.
  public func addLocalCandidate(_ address: TransportAddress) -> ICECandidate {
    ice.addLocalCandidate(base: address)
  }

  /// Takes over the other side's description and starts ICE. A second call with the same values does nothing.
  public func start(_ remote: RemoteDescription, at now: Instant) {
    guard self.remote != remote, !isEnded else { return }
    let first = self.remote == nil
    self.remote = remote
    ice.setRemoteParameters(remote.ice)
    if first {
      change(to: .connecting, at: now)
      statistics.started = now
      ice.start(at: now)
    }
    drain(at: now)
  }

  /// Adds a candidate of the other side, from its description or trickled.
  public func addRemoteCandidate(_ candidate: ICECandidate, at now: Instant) {
    guard !isEnded else { return }
    ice.addRemoteCandidate(candidate)
    drain(at: now)
  }

  /// Says that the other side has no more candidates (RFC 8838 §13).
  public func endOfRemoteCandidates(at now: Instant) {
    ice.endOfRemoteCandidates()
    drain(at: now)
  }

  /// Ends the transport: sends close_notify where there is an association, and frees keys.
  public func close(at now: Instant) {
    guard !isEnded else { return }
    if let dtls {
      dtls.close(at: now)
      flushDTLS()
    }
    end(.closed, at: now)
  }

  // MARK: Driving

  /// Takes one datagram from the network (demultiplexed by its first byte, RFC 7983 §7).
  ///
  /// - Parameter bytes: lent for the call, decrypted in place.
  public func receive(
    _ bytes: UnsafeMutableRawBufferPointer, from remote: TransportAddress,
    on local: TransportAddress,
    at now: Instant
  ) {
    guard !isEnded, bytes.count > 0 else { return }
    statistics.datagramsReceived &+= 1
    statistics.bytesReceived &+= UInt64(bytes.count)
    switch bytes[0] {
    case 128...191:
      receiveProtected(bytes, from: remote, at: now)
    case 0...3:
      ice.receive(UnsafeRawBufferPointer(bytes), from: remote, on: local, at: now)
      drain(at: now)
    case 20...63:
      receiveDTLS(UnsafeRawBufferPointer(bytes), at: now)
      drain(at: now)
    default:
      statistics.dropped.unknownProtocol &+= 1
    }
  }

  /// Lets timers run: ICE checks and consent, DTLS retransmissions.
  public func poll(at now: Instant) {
    guard !isEnded else { return }
    if let deadline = ice.nextDeadline, deadline <= now { ice.poll(at: now) }
    if let dtls, let deadline = dtls.nextDeadline, deadline <= now { dtls.poll(at: now) }
    drain(at: now)
    if !isEnded, let handshakeBy, handshakeBy <= now { fail(.dtls(.timedOut), at: now) }
  }

  /// When `poll` wants to be called next.
  public var nextDeadline: Instant? {
    isEnded ? nil : earliest(handshakeBy, earliest(ice.nextDeadline, dtls?.nextDeadline))
  }

  // MARK: Sending

  /// Whether protected packets can be sent now.
  public var isWritable: Bool { srtp != nil && selected != nil }

  /// Protects a plain RTP packet straight into the datagram that carries it.
  ///
  /// - Returns: whether it was handed to the sink.
  @discardableResult
  public func sendRTP(_ packet: UnsafeRawBufferPointer) -> Bool {
    guard let srtp, let selected else {
      statistics.dropped.notConnected &+= 1
      return false
    }
    var sent = false
    sink.send(
      from: selected.local, to: selected.remote, capacity: packet.count + Self.protectionOverhead
    ) { slot in
      guard let count = try? srtp.protectRTP(from: packet, into: slot) else {
        statistics.dropped.protectionFailed &+= 1
        return 0
      }
      sent = true
      statistics.countSent(count)
      return count
    }
    return sent
  }

  /// Lends the datagram's own memory to write a plain RTP packet into, then protects it in place.
  ///
  /// - Parameters:
  ///   - capacity: bytes that the plain packet needs at most.
  ///   - write: returns the plain packet's size; 0 sends nothing.
  @discardableResult
  public func sendRTP(capacity: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int) -> Bool {
    sendInPlace(capacity: capacity, write) { srtp, slot, count throws(SRTPError) in
      try srtp.protectRTP(slot, count: count)
    }
  }

  /// Like `sendRTP(capacity:_:)`, for a compound RTCP packet.
  @discardableResult
  public func sendRTCP(capacity: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int) -> Bool {
    sendInPlace(capacity: capacity, write) { srtp, slot, count throws(SRTPError) in
      try srtp.protectRTCP(slot, count: count)
    }
  }

  /// Bytes that SRTP and SRTCP add at most: a 16-byte tag, a 4-byte index (RFC 7714 §9), and slack for alignment.
  static let protectionOverhead = 32

  private func sendInPlace(
    capacity: Int, _ write: (UnsafeMutableRawBufferPointer) -> Int,
    protect: (SRTPSession, UnsafeMutableRawBufferPointer, Int) throws(SRTPError) -> Int
  ) -> Bool {
    guard let srtp, let selected else {
      statistics.dropped.notConnected &+= 1
      return false
    }
    var sent = false
    sink.send(
      from: selected.local, to: selected.remote, capacity: capacity + Self.protectionOverhead
    ) { slot in
      let room = UnsafeMutableRawBufferPointer(
        rebasing: slot.prefix(max(0, slot.count - Self.protectionOverhead)))
      let plain = write(room)
      guard plain > 0 else { return 0 }
      do throws(SRTPError) {
        let count = try protect(srtp, slot, plain)
        sent = true
        statistics.countSent(count)
        return count
      } catch {
        statistics.dropped.protectionFailed &+= 1
        return 0
      }
    }
    return sent
  }

  // MARK: Receiving

  private func receiveProtected(
    _ bytes: UnsafeMutableRawBufferPointer, from remote: TransportAddress, at now: Instant
  ) {
    guard let srtp else {
      statistics.dropped.beforeKeys &+= 1
      return
    }
    guard bytes.count >= 12 else {
      statistics.dropped.malformed &+= 1
      return
    }
    // RFC 5761 §4: payload types 64-95 in the second byte are RTCP's packet types 192-223.
    let isRTCP = (192...223).contains(bytes[1])
    do throws(SRTPError) {
      let count =
        isRTCP
        ? try srtp.unprotectRTCP(bytes, count: bytes.count)
        : try srtp.unprotectRTP(bytes, count: bytes.count)
      ice.noteTraffic(at: now)
      let plain = UnsafeMutableRawBufferPointer(rebasing: bytes[..<count])
      if isRTCP {
        delegate?.transport(self, receivedRTCP: UnsafeRawBufferPointer(plain), at: now)
      } else {
        delegate?.transport(self, receivedRTP: plain, at: now)
      }
    } catch {
      switch error {
      case .replayed: statistics.dropped.replayed &+= 1
      case .authenticationFailed: statistics.dropped.unauthenticated &+= 1
      default: statistics.dropped.malformed &+= 1
      }
    }
  }

  private func receiveDTLS(_ bytes: UnsafeRawBufferPointer, at now: Instant) {
    if let dtls {
      dtls.receive(bytes, at: now)
    } else if earlyDatagrams.count < Self.maximumEarlyDatagrams,
      bytes.count <= Self.maximumEarlyDatagram
    {
      earlyDatagrams.append(Array(bytes))
    } else {
      statistics.dropped.beforeKeys &+= 1
    }
  }

  // MARK: Moving on

  /// Carries what ICE and DTLS produced to the network and to each other until both are quiet.
  private func drain(at now: Instant) {
    while !isEnded, let event = ice.nextEvent() { handle(event, at: now) }
    while !isEnded, let event = dtls?.nextEvent() { handle(event, at: now) }
    while let transmit = ice.nextTransmit() {
      send(transmit.bytes, from: transmit.local, to: transmit.remote)
    }
    flushDTLS()
  }

  private func flushDTLS() {
    guard let dtls, let selected else { return }
    while let datagram = dtls.nextTransmit() {
      send(datagram, from: selected.local, to: selected.remote)
    }
  }

  private func send(_ bytes: [UInt8], from local: TransportAddress, to remote: TransportAddress) {
    sink.send(from: local, to: remote, capacity: bytes.count) { slot in
      slot.copyBytes(from: bytes)
      statistics.countSent(bytes.count)
      return bytes.count
    }
  }

  private func handle(_ event: ICEEvent, at now: Instant) {
    switch event {
    case .selectedPair(let local, let remote):
      if selected == nil { statistics.pairSelected = now }
      selected = (local, remote)
      startDTLS(at: now)
    case .stateChanged(let iceState):
      switch iceState {
      case .failed:
        fail(
          .noCandidatePair(
            localCandidates: ice.localCandidates.count, remoteCandidates: ice.remoteCandidateCount),
          at: now)
      case .disconnected where state == .connected: change(to: .disconnected, at: now)
      case .connected, .completed:
        if state == .disconnected { change(to: .connected, at: now) }
      default: break
      }
    case .consentLost: fail(.consentLost, at: now)
    case .unresolvedCandidate(let candidate):
      delegate?.transport(self, needsAddressOf: candidate)
    }
  }

  private func startDTLS(at now: Instant) {
    guard dtls == nil, let remote else { return }
    do throws(DTLSError) {
      let endpoint = try configuration.dtls.makeEndpoint(
        role: remote.localRole, certificate: configuration.certificate,
        expectedFingerprint: remote.fingerprint, random: random)
      dtls = endpoint
      handshakeBy = now + configuration.handshakeTimeout
      endpoint.start(at: now)
      for datagram in earlyDatagrams {
        datagram.withUnsafeBytes { endpoint.receive($0, at: now) }
      }
      earlyDatagrams = []
    } catch {
      fail(.dtls(error), at: now)
    }
  }

  private func handle(_ event: DTLSEvent, at now: Instant) {
    switch event {
    case .connected(let session):
      do throws(SRTPError) {
        srtp = try SRTPSession(session)
        self.session = session
        statistics.secured = now
        handshakeBy = nil
        change(to: .connected, at: now)
        // The path may have gone silent while the handshake ran; nothing would tell a second time.
        if state == .connected, ice.state == .disconnected { change(to: .disconnected, at: now) }
      } catch {
        fail(.srtp(error), at: now)
      }
    case .applicationData: statistics.dropped.unknownProtocol &+= 1
    case .closed: fail(.closedByPeer, at: now)
    case .failed(let error): fail(.dtls(error), at: now)
    }
  }

  private var isEnded: Bool {
    switch state {
    case .failed, .closed: true
    default: false
    }
  }

  private func fail(_ error: PeerTransportError, at now: Instant) {
    guard !isEnded else { return }
    flushDTLS()
    end(.failed(error), at: now)
  }

  private func end(_ state: PeerTransportState, at now: Instant) {
    handshakeBy = nil
    change(to: state, at: now)
    // An agent that failed keeps its state for statistics; any other would go on asking and answering.
    if ice.state != .failed { ice.close(at: now) }
    dtls = nil
    srtp = nil
    selected = nil
    earlyDatagrams = []
  }

  private func change(to state: PeerTransportState, at now: Instant) {
    guard self.state != state else { return }
    self.state = state
    delegate?.transport(self, changedTo: state, at: now)
  }
}

extension SRTPSession {
  /// The session that a handshake's keys make (RFC 5764 §4.2).
  fileprivate convenience init(_ session: DTLSSession) throws(SRTPError) {
    try self.init(
      profile: session.profile,
      local: session.localKeyingMaterial, remote: session.remoteKeyingMaterial)
  }
}
