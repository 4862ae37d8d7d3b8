import SoraDTLS
import SoraMedia

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Two endpoints joined by a network that may drop, duplicate or change datagrams.
///
/// libssl's timers run on the wall clock, so this reads one too: `now` is real time since the pair was made.
final class HandshakePair {
  let client: any DTLSEndpoint
  let server: any DTLSEndpoint
  var clientEvents: [DTLSEvent] = []
  var serverEvents: [DTLSEvent] = []
  var largestDatagram = 0
  var datagramCount = 0

  /// Whether the datagram of this number (counted over both directions) arrives.
  var delivers: (Int) -> Bool = { _ in true }

  private let clock = ContinuousClock()
  private let origin: ContinuousClock.Instant

  init(client: any DTLSEndpoint, server: any DTLSEndpoint) {
    self.client = client
    self.server = server
    origin = clock.now
  }

  var now: Instant { .zero + (clock.now - origin) }

  func start() {
    server.start(at: now)
    client.start(at: now)
    exchange()
  }

  /// Carries datagrams until none is left.
  func exchange() {
    var moved = true
    while moved {
      moved = false
      while let datagram = client.nextTransmit() {
        moved = true
        if deliver(datagram) { datagram.withUnsafeBytes { server.receive($0, at: now) } }
      }
      while let datagram = server.nextTransmit() {
        moved = true
        if deliver(datagram) { datagram.withUnsafeBytes { client.receive($0, at: now) } }
      }
    }
    while let event = client.nextEvent() { clientEvents.append(event) }
    while let event = server.nextEvent() { serverEvents.append(event) }
  }

  /// Runs both timers as they fall due until `condition` holds, or until no timer is left, or `limit` has passed.
  func run(limit: Duration = .seconds(20), until condition: (HandshakePair) -> Bool) {
    exchange()
    let end = now + limit
    while !condition(self), now < end {
      guard let due = earliest(client.nextDeadline, server.nextDeadline), due < end else { return }
      while now < due { sched_yield() }
      client.poll(at: now)
      server.poll(at: now)
      exchange()
    }
  }

  var clientSession: DTLSSession? { session(clientEvents) }
  var serverSession: DTLSSession? { session(serverEvents) }
  var clientFailure: DTLSError? { failure(clientEvents) }
  var serverFailure: DTLSError? { failure(serverEvents) }
  var isConnected: Bool { clientSession != nil && serverSession != nil }

  private func deliver(_ datagram: [UInt8]) -> Bool {
    largestDatagram = max(largestDatagram, datagram.count)
    datagramCount += 1
    return delivers(datagramCount - 1)
  }

  private func session(_ events: [DTLSEvent]) -> DTLSSession? {
    for case .connected(let session) in events { return session }
    return nil
  }

  private func failure(_ events: [DTLSEvent]) -> DTLSError? {
    for case .failed(let error) in events { return error }
    return nil
  }
}

/// A pair whose ends expect each other's certificates, unless told otherwise.
func makePair(
  clientProfiles: [SRTPProfile] = [.aeadAES128GCM, .aeadAES256GCM, .aes128CMSHA1_80],
  serverProfiles: [SRTPProfile] = [.aeadAES128GCM, .aeadAES256GCM, .aes128CMSHA1_80],
  clientExpects: DTLSFingerprint? = nil, serverExpects: DTLSFingerprint? = nil
) throws -> HandshakePair {
  let random = RandomSource(seed: 1)
  let clientCertificate = try DTLSCertificate.generate()
  let serverCertificate = try DTLSCertificate.generate()
  return HandshakePair(
    client: try OpenSSLDTLSFactory(profiles: clientProfiles).makeEndpoint(
      role: .client, certificate: clientCertificate,
      expectedFingerprint: clientExpects ?? serverCertificate.fingerprint, random: random),
    server: try OpenSSLDTLSFactory(profiles: serverProfiles).makeEndpoint(
      role: .server, certificate: serverCertificate,
      expectedFingerprint: serverExpects ?? clientCertificate.fingerprint, random: random))
}

extension DTLSEndpoint {
  func send(_ bytes: [UInt8], at now: Instant) throws(DTLSError) {
    let status = bytes.withUnsafeBytes { data in
      Result<Void, DTLSError> { () throws(DTLSError) in try send(data, at: now) }
    }
    try status.get()
  }
}
