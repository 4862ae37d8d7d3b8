import SoraDTLS
import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraWire
import Testing

@Suite struct StandInDTLSTests {
  /// Carries a DTLS endpoint's datagrams over the simulated network.
  final class Carrier: SimulatedEndpoint {
    let dtls: any DTLSEndpoint
    var session: DTLSSession?
    var messages: [[UInt8]] = []
    var failure: DTLSError?
    var isClosed = false
    var connectedAt: Instant?
    private unowned let network: SimulatedNetwork
    private let local: TransportAddress
    private let remote: TransportAddress

    init(
      _ dtls: any DTLSEndpoint, _ network: SimulatedNetwork, _ local: TransportAddress,
      _ remote: TransportAddress
    ) {
      self.dtls = dtls
      self.network = network
      self.local = local
      self.remote = remote
    }

    func flush(at now: Instant) {
      while let datagram = dtls.nextTransmit() { network.send(datagram, from: local, to: remote) }
      while let event = dtls.nextEvent() {
        switch event {
        case .connected(let session):
          self.session = session
          connectedAt = now
        case .applicationData(let bytes): messages.append(bytes)
        case .closed: isClosed = true
        case .failed(let error): failure = error
        }
      }
    }

    /// Sends a message; the error, if it was refused.
    func send(_ message: [UInt8], at now: Instant) -> DTLSError? {
      message.withUnsafeBytes { bytes in
        do throws(DTLSError) {
          try dtls.send(bytes, at: now)
          return nil
        } catch {
          return error
        }
      }
    }

    func received(
      _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress,
      on local: TransportAddress, ecn: ECNCodepoint, at now: Instant
    ) {
      // RFC 7983 §7: what a transport hands to DTLS.
      #expect((20...63).contains(bytes[0]))
      dtls.receive(UnsafeRawBufferPointer(bytes), at: now)
      flush(at: now)
    }

    func poll(at now: Instant) {
      dtls.poll(at: now)
      flush(at: now)
    }

    var nextDeadline: Instant? { dtls.nextDeadline }
  }

  /// A client and a server with a link between them.
  struct Association {
    let network: SimulatedNetwork
    let client: Carrier
    let server: Carrier

    init(
      _ conditions: LinkConditions, seed: UInt64 = 1,
      clientFactory: StandInDTLSFactory = StandInDTLSFactory(),
      serverFactory: StandInDTLSFactory = StandInDTLSFactory(),
      clientExpects: UInt64 = 2, serverExpects: UInt64 = 1
    ) throws {
      network = SimulatedNetwork(seed: seed, retention: .everything)
      let a = network.addHost("client", "10.0.0.1")
      let b = network.addHost("server", "10.0.0.2")
      network.link(a, b, conditions)
      let from = TransportAddress(ip: a.addresses[0], port: 1)
      let to = TransportAddress(ip: b.addresses[0], port: 2)
      client = Carrier(
        try clientFactory.makeEndpoint(
          role: .client, certificate: SimulationCertificate.make(1),
          expectedFingerprint: SimulationCertificate.make(clientExpects).fingerprint,
          random: network.random.fork()), network, from, to)
      server = Carrier(
        try serverFactory.makeEndpoint(
          role: .server, certificate: SimulationCertificate.make(2),
          expectedFingerprint: SimulationCertificate.make(serverExpects).fingerprint,
          random: network.random.fork()), network, to, from)
      network.bind(client, to: from)
      network.bind(server, to: to)
      server.dtls.start(at: network.now)
      client.dtls.start(at: network.now)
      client.flush(at: network.now)
    }
  }

  @Test func bothEndsAgreeOnKeysWithinTwoTrips() throws {
    let association = try Association(LinkConditions(delay: .milliseconds(50)))
    association.network.run(for: .seconds(1))
    let client = try #require(association.client.session)
    let server = try #require(association.server.session)
    #expect(client.localKeyingMaterial == server.remoteKeyingMaterial)
    #expect(client.remoteKeyingMaterial == server.localKeyingMaterial)
    #expect(client.localKeyingMaterial != client.remoteKeyingMaterial)
    #expect(client.localKeyingMaterial.key.count == client.profile.keyLength)
    #expect(client.localKeyingMaterial.salt.count == client.profile.saltLength)
    #expect(client.profile == .aeadAES128GCM && server.profile == client.profile)
    #expect(client.remoteCertificate == (try SimulationCertificate.make(2).derBytes))
    #expect(association.client.connectedAt == .zero + .milliseconds(100))
    #expect(association.server.connectedAt == .zero + .milliseconds(150))
  }

  @Test(arguments: 1...20)
  func lostFlightsAreSentAgain(seed: UInt64) throws {
    let association = try Association(
      LinkConditions(delay: .milliseconds(30), loss: 0.3, duplication: 0.1), seed: seed)
    let isConnected = association.network.run(
      until: { association.client.session != nil && association.server.session != nil },
      within: .seconds(30))
    #expect(isConnected)
  }

  @Test func aDeadPathEndsInATimeout() throws {
    let association = try Association(LinkConditions(isUp: false))
    association.network.run(for: .seconds(120))
    #expect(association.client.failure == .timedOut)
    #expect(association.client.nextDeadline == nil)
  }

  @Test func aWrongFingerprintFailsBothEnds() throws {
    let wrongServer = try Association(LinkConditions(), clientExpects: 3)
    wrongServer.network.run(for: .seconds(1))
    guard case .fingerprintMismatch = wrongServer.client.failure else {
      Issue.record("\(String(describing: wrongServer.client.failure))")
      return
    }
    #expect(wrongServer.server.failure == .alertReceived(.badCertificate))
    #expect(wrongServer.client.session == nil)

    let wrongClient = try Association(LinkConditions(), serverExpects: 3)
    wrongClient.network.run(for: .seconds(1))
    #expect(wrongClient.client.failure == .alertReceived(.badCertificate))
    #expect(wrongClient.server.session == nil)
  }

  @Test func profilesAreNegotiated() throws {
    let some = try Association(
      LinkConditions(),
      clientFactory: StandInDTLSFactory(profiles: [.aes128CMSHA1_80, .aeadAES256GCM]),
      serverFactory: StandInDTLSFactory(profiles: [.aeadAES256GCM, .aes128CMSHA1_80]))
    some.network.run(for: .seconds(1))
    #expect(some.client.session?.profile == .aeadAES256GCM)
    let none = try Association(
      LinkConditions(), clientFactory: StandInDTLSFactory(profiles: [.aes128CMSHA1_80]),
      serverFactory: StandInDTLSFactory(profiles: [.aeadAES256GCM]))
    none.network.run(for: .seconds(1))
    #expect(none.server.failure == .noCommonSRTPProfile)
    #expect(none.client.failure == .alertReceived(.handshakeFailure))
  }

  @Test func dataAndClosingCross() throws {
    let association = try Association(LinkConditions(delay: .milliseconds(5)))
    let (network, client, server) = (association.network, association.client, association.server)
    #expect(client.send([1], at: network.now) == .notConnected)
    network.run(for: .seconds(1))
    #expect(client.send([1, 2, 3], at: network.now) == nil)
    #expect(client.send(Array(repeating: 0, count: 2_000), at: network.now) != nil)
    client.flush(at: network.now)
    network.run(for: .seconds(1))
    #expect(server.messages == [[1, 2, 3]])
    client.dtls.close(at: network.now)
    client.flush(at: network.now)
    network.run(for: .seconds(1))
    #expect(client.isClosed && server.isClosed)
  }

  @Test func handshakesOfOneSeedAreTheSame() throws {
    func text(_ seed: UInt64) throws -> String {
      let association = try Association(
        LinkConditions(delay: .milliseconds(30), loss: 0.3), seed: seed)
      association.network.run(for: .seconds(30))
      return association.network.log.text
    }
    let isSame = try text(5) == text(5)
    #expect(isSame)
    let differs = try text(5) != text(6)
    #expect(differs)
  }

  @Test func nonsenseIsDropped() throws {
    var random = RandomSource(seed: 3)
    let association = try Association(LinkConditions())
    association.network.run(for: .seconds(1))
    let other = try Association(LinkConditions(isUp: false), seed: 9)
    let template = try StandInDTLSFactory().makeEndpoint(
      role: .client, certificate: SimulationCertificate.make(1), expectedFingerprint: nil,
      random: random)
    template.start(at: .zero)
    let hello = try #require(template.nextTransmit())
    for round in 0..<10_000 {
      var bytes = round.isMultiple(of: 2) ? random.bytes(Int(random.next() % 200)) : hello
      if !bytes.isEmpty {
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8(
            truncatingIfNeeded: random.next())
        }
        if round.isMultiple(of: 3) {
          bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random))
        }
      }
      bytes.withUnsafeBytes {
        association.server.dtls.receive($0, at: .zero)
        other.server.dtls.receive($0, at: .zero)
      }
      while association.server.dtls.nextTransmit() != nil {}
      while other.server.dtls.nextTransmit() != nil {}
    }
  }
}
