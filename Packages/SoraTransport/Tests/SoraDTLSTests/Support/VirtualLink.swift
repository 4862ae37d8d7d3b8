import SoraDTLS
import SoraMedia

/// Two endpoints joined by a link in virtual time, which delays, loses, doubles and reorders as its seed says.
final class VirtualLink {
  struct Conditions {
    var delay: Duration = .milliseconds(10)
    /// Added to the delay, up to this much.
    var jitter: Duration = .zero
    /// 0...1.
    var loss = 0.0
    var duplication = 0.0
  }

  let client: any DTLSEndpoint
  let server: any DTLSEndpoint
  private(set) var now = Instant(nanoseconds: 1_000_000_000)
  private(set) var clientEvents: [DTLSEvent] = []
  private(set) var serverEvents: [DTLSEvent] = []
  private(set) var largestDatagram = 0
  private(set) var datagramCount = 0
  /// When each end was connected.
  private(set) var clientConnected: Instant?
  private(set) var serverConnected: Instant?
  /// Changes what is under way: the datagram and whether the client sent it; `nil` loses it.
  var tamper: ([UInt8], _ fromClient: Bool) -> [UInt8]? = { datagram, _ in datagram }

  private var conditions: Conditions
  private let random: RandomSource
  private var underWay: [(at: Instant, order: Int, toServer: Bool, datagram: [UInt8])] = []
  private var order = 0

  init(
    client: any DTLSEndpoint, server: any DTLSEndpoint, conditions: Conditions = Conditions(),
    seed: UInt64 = 1
  ) {
    self.client = client
    self.server = server
    self.conditions = conditions
    random = RandomSource(seed: seed)
  }

  func start() {
    server.start(at: now)
    client.start(at: now)
    collect()
  }

  /// Runs until the condition holds, nothing is left to happen, or the time is over.
  func run(
    for limit: Duration = .seconds(60), until condition: (VirtualLink) -> Bool = { _ in false }
  ) {
    collect()
    let end = now + limit
    var steps = 0
    while !condition(self), steps < 100_000 {
      steps += 1
      let arrival = underWay.map(\.at).min()
      let timer = earliest(client.nextDeadline, server.nextDeadline)
      guard let next = earliest(arrival, timer), next <= end else {
        now = end
        return
      }
      now = max(now, next)
      if let arrival, arrival <= now {
        let index = underWay.indices.min {
          (underWay[$0].at, underWay[$0].order) < (underWay[$1].at, underWay[$1].order)
        }
        if let index {
          let item = underWay.remove(at: index)
          item.datagram.withUnsafeBytes {
            if item.toServer { server.receive($0, at: now) } else { client.receive($0, at: now) }
          }
        }
      } else {
        client.poll(at: now)
        server.poll(at: now)
      }
      collect()
    }
  }

  /// Starts, and runs until both are connected or one has failed.
  func connect(for limit: Duration = .seconds(60)) {
    start()
    run(for: limit) { $0.isConnected || $0.clientFailure != nil || $0.serverFailure != nil }
  }

  func collect() {
    while let datagram = client.nextTransmit() { carry(datagram, fromClient: true) }
    while let datagram = server.nextTransmit() { carry(datagram, fromClient: false) }
    while let event = client.nextEvent() {
      if case .connected = event { clientConnected = now }
      clientEvents.append(event)
    }
    while let event = server.nextEvent() {
      if case .connected = event { serverConnected = now }
      serverEvents.append(event)
    }
  }

  private func carry(_ datagram: [UInt8], fromClient: Bool) {
    largestDatagram = max(largestDatagram, datagram.count)
    datagramCount += 1
    guard let datagram = tamper(datagram, fromClient) else { return }
    for copy in 0..<2 {
      if copy == 1, chance() >= conditions.duplication { return }
      if chance() < conditions.loss { continue }
      let extra = Duration.nanoseconds(
        Int64(chance() * Double(conditions.jitter.wholeNanoseconds)))
      order += 1
      underWay.append((now + conditions.delay + extra, order, fromClient, datagram))
    }
  }

  private func chance() -> Double { Double(random.next() >> 11) / Double(1 << 53) }

  var clientSession: DTLSSession? { session(clientEvents) }
  var serverSession: DTLSSession? { session(serverEvents) }
  var clientFailure: DTLSError? { failure(clientEvents) }
  var serverFailure: DTLSError? { failure(serverEvents) }
  var isConnected: Bool { clientSession != nil && serverSession != nil }

  private func session(_ events: [DTLSEvent]) -> DTLSSession? {
    for case .connected(let session) in events { return session }
    return nil
  }

  private func failure(_ events: [DTLSEvent]) -> DTLSError? {
    for case .failed(let error) in events { return error }
    return nil
  }
}

/// A link between two of this project's own endpoints, which expect each other's certificates unless told otherwise.
func makeLink(
  client: NativeDTLSFactory = NativeDTLSFactory(), server: NativeDTLSFactory = NativeDTLSFactory(),
  clientCertificate: DTLSCertificate? = nil, serverCertificate: DTLSCertificate? = nil,
  clientExpects: DTLSFingerprint? = nil, serverExpects: DTLSFingerprint? = nil,
  conditions: VirtualLink.Conditions = VirtualLink.Conditions(), seed: UInt64 = 1
) throws -> VirtualLink {
  let random = RandomSource(seed: seed)
  let clientCertificate = try clientCertificate ?? DTLSCertificate.generate()
  let serverCertificate = try serverCertificate ?? DTLSCertificate.generate()
  return VirtualLink(
    client: try client.makeEndpoint(
      role: .client, certificate: clientCertificate,
      expectedFingerprint: clientExpects ?? serverCertificate.fingerprint, random: random.fork()),
    server: try server.makeEndpoint(
      role: .server, certificate: serverCertificate,
      expectedFingerprint: serverExpects ?? clientCertificate.fingerprint, random: random.fork()),
    conditions: conditions, seed: random.next())
}

/// A factory of one version, and of the suites that are given.
func factory(
  _ versions: DTLSVersion..., suites: [DTLSCipherSuite]? = nil, groups: [DTLSGroup]? = nil,
  mtu: Int = 1200
) -> NativeDTLSFactory {
  var factory = NativeDTLSFactory()
  factory.settings.versions = Set(versions)
  if let suites { factory.settings.cipherSuites = suites }
  if let groups { factory.settings.groups = groups }
  factory.settings.mtu = mtu
  return factory
}
