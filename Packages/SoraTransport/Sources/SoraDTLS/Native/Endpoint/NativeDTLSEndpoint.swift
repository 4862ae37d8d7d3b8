public import SoraMedia
import SoraWire

/// One end of a DTLS 1.3 or 1.2 association.
///
/// Sans-I/O: the same calls at the same instants with the same randomness give the same flights, but for the ECDSA
/// signatures in them, for which libcrypto draws its own. Records are taken in `+Receiving`, flights are sent in `+Sending`, and
/// the messages of each version and role have files of their own.
public final class NativeDTLSEndpoint: DTLSEndpoint {
  /// Which end this is.
  public var role: DTLSRole { statistics.role }

  /// What happened so far.
  public internal(set) var statistics: DTLSStatistics

  let settings: NativeDTLSSettings
  let authentication: Authentication
  let random: RandomSource

  var step = HandshakeStep.idle
  var records = RecordLayer()
  /// Records whose keys may come.
  var locked = LockedRecords()

  /// What the peer's messages are put together from.
  var reassembly = Reassembly()
  /// Records to acknowledge (1.3).
  var acknowledgements = Acknowledgements()
  /// This end's messages: what was sent last may have to be sent again.
  var flights: FlightSender

  var negotiation = Negotiation()
  /// 1.3, once connected.
  var trafficKeys: TrafficKeys?

  private var outgoing: [[UInt8]] = []
  private var events: [DTLSEvent] = []
  private var started: Instant?

  init(
    role: DTLSRole, settings: NativeDTLSSettings, certificate: DTLSCertificate,
    keyKind: SigningKeyKind, expectedFingerprint: DTLSFingerprint?, random: RandomSource
  ) {
    self.settings = settings
    authentication = Authentication(
      certificate: certificate, keyKind: keyKind, expectedFingerprint: expectedFingerprint)
    self.random = random
    flights = FlightSender(
      patience: RetransmissionTimer.Patience(
        first: settings.firstTimeout, longest: settings.longestTimeout,
        limit: settings.retransmissionLimit))
    statistics = DTLSStatistics(role: role)
  }

  // MARK: - DTLSEndpoint

  public func start(at now: Instant) {
    guard step == .idle else { return }
    started = now
    switch role {
    case .server: step = .clientHello
    case .client:
      step = .serverHello
      attempt(at: now) { () throws(HandshakeFailure) in try self.startClient(at: now) }
    }
  }

  public func receive(_ datagram: RawSpan, at now: Instant) {
    // A server's peer may begin before it; a client that hasn't begun can't have an answer.
    if step == .idle, role == .server { start(at: now) }
    guard step != .idle, step != .ended, datagram.byteCount <= Int(UInt16.max) else {
      statistics.dropped.outOfTurn += 1
      return
    }
    process(datagram, at: now)
    // Keys may have opened what came too early. Each round needs another step of the handshake.
    while step != .ended, let held = locked.takeOpenable() {
      for record in held {
        if step == .ended {
          statistics.dropped.outOfTurn += 1
        } else {
          process(record.rawSpan, at: now)
        }
      }
    }
    if step != .ended { afterDatagram(at: now) }
  }

  public func receiveInPlace(_ datagram: inout MutableRawSpan, at now: Instant) -> Range<Int>? {
    guard step == .connected, datagram.byteCount <= Int(UInt16.max) else {
      receive(datagram.bytes, at: now)
      return nil
    }
    switch records.openSingle(&datagram) {
    case .applicationData(let range): return range.isEmpty ? nil : range
    case .record(let record):
      take(record, at: now)
      if step != .ended { afterDatagram(at: now) }
    case .dropped(let reason): count(reason)
    case .other: receive(datagram.bytes, at: now)
    }
    return nil
  }

  public func poll(at now: Instant) {
    guard step != .ended else { return }
    if let due = acknowledgements.deadline, due <= now { sendAcknowledgement(at: now) }
    guard let due = flights.deadline, due <= now else { return }
    timeOut(at: now)
  }

  public var nextDeadline: Instant? {
    step == .ended ? nil : earliest(flights.deadline, acknowledgements.deadline)
  }

  public func nextTransmit() -> [UInt8]? { outgoing.isEmpty ? nil : outgoing.removeFirst() }

  public func nextEvent() -> DTLSEvent? { events.isEmpty ? nil : events.removeFirst() }

  /// Bytes of the largest message that `send` takes.
  public var maximumMessageCount: Int {
    min(datagramLimit - records.overhead(records.writeEpoch), Record.contentLimit)
  }

  public func send(
    _ applicationData: RawSpan, at now: Instant
  ) throws(DTLSError) {
    guard applicationData.byteCount > 0 else { return }
    var datagram = [UInt8](
      repeating: 0, count: applicationData.byteCount + records.overhead(records.writeEpoch))
    _ = try datagram.withMutableRawSpan { memory throws(DTLSError) in
      try seal(applicationData, into: &memory)
    }
    outgoing.append(datagram)
    renewKeysIfWorn(at: now)
  }

  public func write(
    _ applicationData: RawSpan, into datagram: inout MutableRawSpan, at now: Instant
  ) throws(DTLSError) -> Int {
    let count = applicationData.byteCount + records.overhead(records.writeEpoch)
    guard applicationData.byteCount > 0, count <= datagram.byteCount else { return 0 }
    var memory = datagram.part(0, count)
    try seal(applicationData, into: &memory)
    renewKeysIfWorn(at: now)
    return count
  }

  /// Writes a record of data into memory that holds just it.
  private func seal(
    _ applicationData: RawSpan, into memory: inout MutableRawSpan
  ) throws(DTLSError) {
    guard step == .connected else { throw .notConnected }
    guard applicationData.byteCount <= maximumMessageCount else {
      throw .messageTooLarge(count: applicationData.byteCount, limit: maximumMessageCount)
    }
    do throws(HandshakeFailure) {
      _ = try records.write(
        ContentType.applicationData, epoch: records.writeEpoch, applicationData, into: &memory)
    } catch {
      throw .library(reason: error.reason)
    }
  }

  public func close(at now: Instant) {
    guard step != .ended else { return }
    if step != .idle { sendAlert(.closeNotify, isFatal: false) }
    finish(.closed)
  }

  // MARK: - What the other files share

  /// Decides what protected records look like, once it is agreed on.
  var version: DTLSVersion? {
    get { records.version }
    set { records.version = newValue }
  }

  /// Bytes of the largest datagram.
  var datagramLimit: Int { min(max(settings.mtu, 256), Record.contentLimit) }

  func emit(_ event: DTLSEvent) { events.append(event) }

  func transmit(_ datagram: [UInt8]) { outgoing.append(datagram) }

  /// Does something that ends the association where it fails.
  func attempt(at now: Instant, _ body: () throws(HandshakeFailure) -> Void) {
    do throws(HandshakeFailure) { try body() } catch { fail(error) }
  }

  /// Ends the association, tells the peer why, and the owner.
  func fail(_ failure: HandshakeFailure) {
    guard step != .ended else { return }
    sendAlert(failure.alert, isFatal: true)
    finish(.failed(failure.error ?? .alertSent(failure.alert, reason: failure.reason)))
  }

  /// Ends the association: secrets go, and nothing but the event and the unsent datagrams is left.
  func finish(_ event: DTLSEvent) {
    guard step != .ended else { return }
    step = .ended
    flights.forget()
    acknowledgements = Acknowledgements()
    statistics.dropped.withoutKeys += locked.count
    locked = LockedRecords()
    negotiation = Negotiation()
    trafficKeys = nil
    reassembly = Reassembly()
    let version = version
    records = RecordLayer()
    records.version = version
    emit(event)
  }

  /// Hands out the keys: the handshake is done, and the peer's certificate is the expected one.
  func connect(at now: Instant) throws(HandshakeFailure) {
    guard let suite = negotiation.suite, let profile = negotiation.profile,
      let peer = negotiation.peer, let version
    else { throw .library("a handshake ended too early") }
    // RFC 5764 §4.2: client key, server key, client salt, server salt.
    let key = profile.keyLength
    let salt = profile.saltLength
    let block = try exportKeys("EXTRACTOR-dtls_srtp", count: 2 * (key + salt))
    func material(_ owner: Int) -> SRTPKeyingMaterial {
      let keyStart = owner * key
      let saltStart = 2 * key + owner * salt
      return SRTPKeyingMaterial(
        key: block.array(keyStart..<(keyStart + key)),
        salt: block.array(saltStart..<(saltStart + salt)))
    }
    step = .connected
    negotiation = Negotiation()
    let session = DTLSSession(
      profile: profile,
      localKeyingMaterial: material(role == .client ? 0 : 1),
      remoteKeyingMaterial: material(role == .client ? 1 : 0),
      tlsVersion: version.rawValue, cipherSuite: suite.name, remoteCertificate: peer.der)
    statistics.connected(session, after: started.map { now - $0 })
    emit(.connected(session))
  }

  private func exportKeys(_ label: String, count: Int) throws(HandshakeFailure) -> Secret {
    if let master = negotiation.master { return master.export(label, count: count) }
    guard let secrets = negotiation.secrets else { throw .library("no keys to export from") }
    return try secrets.export(label, count: count)
  }
}
