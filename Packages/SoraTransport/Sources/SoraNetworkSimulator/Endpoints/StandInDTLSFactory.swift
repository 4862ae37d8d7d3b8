public import SoraDTLS
public import SoraMedia
import SoraWire

/// Makes DTLS endpoints for simulations: a handshake that only looks like one.
///
/// **Insecure, by design.** Shares cross the wire in clear, keys are mixed from them without cryptography, nothing is
/// signed, and application data isn't encrypted. It is there because libssl's handshake reads the machine's clock and
/// draws its own randomness, so it can run neither in virtual time nor twice the same. What a transport sees is
/// true to DTLS: flights that get lost and are sent again on the injected time, datagrams of DTLS's content types and
/// of about its sizes, certificates checked against fingerprints, a choice of SRTP profile, alerts, and keys that both ends
/// agree on. Both ends have to be stand-ins.
///
/// The client sends its hello, the server answers with its own, the client ends with a "finished". For logs that are the
/// same in every run use certificates from `SimulationCertificate`.
public struct StandInDTLSFactory: DTLSEndpointFactory, Sendable {
  /// The SRTP profiles that endpoints offer and accept; a server takes the first of its own that the client has too.
  public var profiles: [SRTPProfile]
  /// Time before a flight is sent again; doubles each time (RFC 6347 §4.2.4.1, which starts at a second; WebRTC
  /// implementations start sooner).
  public var retransmissionTimeout: Duration
  /// Times that a flight is sent before the handshake fails with `DTLSError.timedOut`.
  public var attempts: Int

  public init(
    profiles: [SRTPProfile] = [.aeadAES128GCM, .aeadAES256GCM, .aes128CMSHA1_80],
    retransmissionTimeout: Duration = .milliseconds(100), attempts: Int = 9
  ) {
    self.profiles = profiles
    self.retransmissionTimeout = retransmissionTimeout
    self.attempts = attempts
  }

  /// Makes one end. `random` decides its share of the keys.
  public func makeEndpoint(
    role: DTLSRole, certificate: DTLSCertificate, expectedFingerprint: DTLSFingerprint?,
    random: RandomSource
  ) throws(DTLSError) -> any DTLSEndpoint {
    StandInDTLSEndpoint(
      role: role, certificate: certificate.derBytes, expectedFingerprint: expectedFingerprint,
      share: random.bytes(StandInDTLSEndpoint.shareLength), factory: self)
  }
}

/// One end of a stand-in association.
final class StandInDTLSEndpoint: DTLSEndpoint {
  static let shareLength = 32
  private static let messageLimit = 1_150

  private enum State { case idle, handshaking, connected, ended }

  private(set) var statistics: DTLSStatistics
  private var role: DTLSRole { statistics.role }
  private var started: Instant?
  private let certificate: [UInt8]
  private let expectedFingerprint: DTLSFingerprint?
  private let share: [UInt8]
  private let factory: StandInDTLSFactory
  private var state = State.idle
  private var outgoing: [[UInt8]] = []
  private var events: [DTLSEvent] = []
  private var recordNumber: UInt64 = 0
  /// The flight that is sent again until it is answered.
  private var flight: (type: StandInRecord.Message, body: [UInt8])?
  private var sent = 0
  private var deadline: Instant?
  private var session: DTLSSession?

  init(
    role: DTLSRole, certificate: [UInt8], expectedFingerprint: DTLSFingerprint?, share: [UInt8],
    factory: StandInDTLSFactory
  ) {
    statistics = DTLSStatistics(role: role)
    self.certificate = certificate
    self.expectedFingerprint = expectedFingerprint
    self.share = share
    self.factory = factory
  }

  func start(at now: Instant) {
    guard state == .idle else { return }
    state = .handshaking
    started = now
    guard role == .client else { return }
    let hello = StandInHello(
      share: share, profiles: factory.profiles, certificate: certificate)
    flight = (.clientHello, hello.encoded)
    sendFlight(at: now)
  }

  func receive(_ datagram: RawSpan, at now: Instant) {
    // A server that wasn't started yet is started by what comes, like libssl's.
    if state == .idle, role == .server { start(at: now) }
    guard state != .ended, state != .idle else {
      statistics.dropped.outOfTurn += 1
      return
    }
    guard let record = StandInRecord(parsing: datagram) else {
      statistics.dropped.malformed += 1
      return
    }
    switch record.message {
    case .clientHello: receivedClientHello(record.body, at: now)
    case .serverHello: receivedServerHello(record.body, at: now)
    case .finished: receivedFinished(record.body, at: now)
    case .data where state == .connected: events.append(.applicationData(record.body))
    case .data: statistics.dropped.unexpected += 1
    case .alert: receivedAlert(record.body)
    }
  }

  func poll(at now: Instant) {
    guard let due = deadline, due <= now, state == .handshaking else { return }
    if sent >= factory.attempts {
      end(.failed(.timedOut))
    } else {
      sendFlight(at: now)
    }
  }

  var nextDeadline: Instant? { deadline }

  func nextTransmit() -> [UInt8]? { outgoing.isEmpty ? nil : outgoing.removeFirst() }

  func nextEvent() -> DTLSEvent? { events.isEmpty ? nil : events.removeFirst() }

  var maximumMessageCount: Int { Self.messageLimit }

  func send(_ applicationData: RawSpan, at now: Instant) throws(DTLSError) {
    guard state == .connected else { throw .notConnected }
    guard applicationData.byteCount <= Self.messageLimit else {
      throw .messageTooLarge(count: applicationData.byteCount, limit: Self.messageLimit)
    }
    transmit(.data, [UInt8](copying: applicationData))
  }

  func close(at now: Instant) {
    guard state != .ended else { return }
    if state != .idle { transmit(.alert, [DTLSAlert.closeNotify.rawValue]) }
    end(.closed)
  }

  // MARK: Handshake

  private func receivedClientHello(_ body: [UInt8], at now: Instant) {
    guard role == .server else { return }
    // Sent again: our answer was lost.
    if let flight, state == .handshaking || state == .connected {
      statistics.retransmissions += 1
      transmit(flight.type, flight.body)
      return
    }
    guard state == .handshaking, let hello = StandInHello(parsing: body) else { return }
    guard isExpected(hello.certificate) else { return }
    guard let profile = factory.profiles.first(where: { hello.profiles.contains($0) }) else {
      refuse(.handshakeFailure, .noCommonSRTPProfile)
      return
    }
    let answer = StandInHello(share: share, profiles: [profile], certificate: certificate)
    session = makeSession(
      profile, clientShare: hello.share, serverShare: share, peer: hello.certificate)
    flight = (.serverHello, answer.encoded)
    sendFlight(at: now)
  }

  private func receivedServerHello(_ body: [UInt8], at now: Instant) {
    guard role == .client else { return }
    if state == .connected, let flight {
      // Sent again: our "finished" was lost.
      statistics.retransmissions += 1
      transmit(flight.type, flight.body)
      return
    }
    guard state == .handshaking, let hello = StandInHello(parsing: body) else { return }
    guard isExpected(hello.certificate) else { return }
    guard let profile = hello.profiles.first, factory.profiles.contains(profile) else {
      refuse(.handshakeFailure, .noCommonSRTPProfile)
      return
    }
    let session = makeSession(
      profile, clientShare: share, serverShare: hello.share, peer: hello.certificate)
    flight = (.finished, StandInKeys.mix(share, hello.share, label: 9, count: 12))
    transmit(.finished, flight?.body ?? [])
    connect(session, at: now)
  }

  private func receivedFinished(_ body: [UInt8], at now: Instant) {
    // A real one proves the handshake, this one only ends it.
    guard role == .server, state == .handshaking, body.count == 12, let session else { return }
    connect(session, at: now)
  }

  private func receivedAlert(_ body: [UInt8]) {
    guard let code = body.first else { return }
    let alert = DTLSAlert(rawValue: code)
    end(alert == .closeNotify ? .closed : .failed(.alertReceived(alert)))
  }

  private func connect(_ session: DTLSSession, at now: Instant) {
    state = .connected
    deadline = nil
    statistics.connected(session, after: started.map { now - $0 })
    events.append(.connected(session))
  }

  /// Compares the peer's certificate with the signaled fingerprint; ends the association where they differ.
  private func isExpected(_ der: [UInt8]) -> Bool {
    guard let expected = expectedFingerprint else { return true }
    do throws(DTLSError) {
      let actual = try DTLSFingerprint(of: der, algorithm: expected.algorithm)
      if actual == expected { return true }
      refuse(.badCertificate, .fingerprintMismatch(expected: expected, actual: actual))
    } catch {
      refuse(.badCertificate, error)
    }
    return false
  }

  private func refuse(_ alert: DTLSAlert, _ error: DTLSError) {
    transmit(.alert, [alert.rawValue])
    end(.failed(error))
  }

  private func end(_ event: DTLSEvent) {
    state = .ended
    deadline = nil
    flight = nil
    events.append(event)
  }

  // MARK: Sending

  private func sendFlight(at now: Instant) {
    guard let flight else { return }
    if sent > 0 { statistics.retransmissions += 1 }
    transmit(flight.type, flight.body)
    let timeout = min(factory.retransmissionTimeout * (1 << min(sent, 6)), .seconds(60))
    sent += 1
    deadline = now + timeout
  }

  private func transmit(_ message: StandInRecord.Message, _ body: [UInt8]) {
    outgoing.append(StandInRecord.encode(message, number: recordNumber, body: body))
    recordNumber += 1
  }

  private func makeSession(
    _ profile: SRTPProfile, clientShare: [UInt8], serverShare: [UInt8], peer: [UInt8]
  ) -> DTLSSession {
    func material(_ label: UInt64) -> SRTPKeyingMaterial {
      SRTPKeyingMaterial(
        key: StandInKeys.mix(clientShare, serverShare, label: label, count: profile.keyLength),
        salt: StandInKeys.mix(
          clientShare, serverShare, label: label + 1, count: profile.saltLength))
    }
    let client = material(1)
    let server = material(3)
    return DTLSSession(
      profile: profile, localKeyingMaterial: role == .client ? client : server,
      remoteKeyingMaterial: role == .client ? server : client, tlsVersion: 0xFEFD,
      cipherSuite: "SIMULATION_WITHOUT_SECURITY", remoteCertificate: peer)
  }
}

/// A record with the header of DTLS 1.2 (RFC 6347 §4.1) and one message; nothing in it is protected.
struct StandInRecord {
  enum Message: UInt8 {
    case clientHello = 1
    case serverHello = 2
    case finished = 20
    case alert = 0xF0
    case data = 0xF1

    var contentType: UInt8 {
      switch self {
      case .alert: 21
      case .data: 23
      default: 22
      }
    }
  }

  var message: Message
  var body: [UInt8]

  /// Content type, version, epoch and number, length, message: 14 bytes.
  static let headerLength = 14

  init?(parsing bytes: RawSpan) {
    guard bytes.byteCount >= Self.headerLength, bytes.u16(1) == 0xFEFD,
      let message = Message(rawValue: bytes.u8(13)), bytes.u8(0) == message.contentType
    else { return nil }
    guard Int(bytes.u16(11)) == bytes.byteCount - 13 else { return nil }
    self.message = message
    body = [UInt8](copying: bytes.part(from: Self.headerLength))
  }

  static func encode(_ message: Message, number: UInt64, body: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = [message.contentType, 0xFE, 0xFD]
    for shift in stride(from: 56, through: 0, by: -8) {
      bytes.append(UInt8(truncatingIfNeeded: number >> UInt64(shift)))
    }
    let length = body.count + 1
    bytes += [UInt8(truncatingIfNeeded: length >> 8), UInt8(truncatingIfNeeded: length)]
    bytes.append(message.rawValue)
    return bytes + body
  }
}

/// What either end says first.
struct StandInHello {
  var share: [UInt8]
  var profiles: [SRTPProfile]
  var certificate: [UInt8]

  init(share: [UInt8], profiles: [SRTPProfile], certificate: [UInt8]) {
    self.share = share
    self.profiles = profiles
    self.certificate = certificate
  }

  init?(parsing body: [UInt8]) {
    let shareLength = StandInDTLSEndpoint.shareLength
    guard body.count > shareLength + 1 else { return nil }
    share = Array(body[..<shareLength])
    let count = Int(body[shareLength])
    let end = shareLength + 1 + 2 * count
    guard body.count > end else { return nil }
    profiles = (0..<count).compactMap {
      let position = shareLength + 1 + 2 * $0
      return SRTPProfile(rawValue: UInt16(body[position]) << 8 | UInt16(body[position + 1]))
    }
    certificate = Array(body[end...])
  }

  var encoded: [UInt8] {
    var bytes = share
    bytes.append(UInt8(truncatingIfNeeded: profiles.count))
    for profile in profiles {
      bytes.append(UInt8(truncatingIfNeeded: profile.rawValue >> 8))
      bytes.append(UInt8(truncatingIfNeeded: profile.rawValue))
    }
    return bytes + certificate
  }
}

/// Keys from two shares that everybody saw. Not cryptography.
enum StandInKeys {
  static func mix(_ client: [UInt8], _ server: [UInt8], label: UInt64, count: Int) -> [UInt8] {
    var seed: UInt64 = 0x50_52_41_5F_53_49_4D ^ label
    for byte in client + server {
      seed = (seed ^ UInt64(byte)) &* 0x0000_0100_0000_01B3
    }
    var random = SimulationRandom(seed: seed)
    return (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) }
  }
}
