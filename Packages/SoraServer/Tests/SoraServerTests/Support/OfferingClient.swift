import SoraDTLS
import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraRTP
import SoraSDP
import SoraServer
import SoraTransport
import SoraWire
import Testing

/// A client that brings its own offer, as publishers by WHIP and players by WHEP do.
final class OfferingClient: SimulatedEndpoint {
  struct Packet: Equatable {
    var sequenceNumber: UInt16
    var timestamp: UInt32
    var payloadType: UInt8
    var payload: [UInt8]
    var mid: String?
    /// The dependency descriptor; nil where there is none.
    var descriptor: [UInt8]?
  }

  let network: SimulatedNetwork
  let server: TestServer
  let address: TransportAddress
  private(set) var transport: PeerTransport!
  private let certificate: DTLSCertificate
  private var nextTransportNumber: UInt16 = 0
  private(set) var answer: SessionDescription?
  private(set) var made: SFUOfferAnswer?
  /// By source.
  private(set) var received: [UInt32: [Packet]] = [:]
  private(set) var keyFrameRequests: [UInt32] = []
  private(set) var reports: [RTCPSenderInfo] = []
  /// What the server believes that its link takes, where it says so (REMB): bits per second.
  private(set) var estimates: [UInt64] = []
  /// Other feedback on congestion, transport-wide and by source.
  private(set) var feedbacks = (transportWide: 0, bySource: 0)

  init(_ number: Int, _ server: TestServer) throws {
    self.server = server
    network = server.network
    let host = network.addHost("offering \(number)", addresses: [IPAddress("10.0.2.\(number)")!])
    _ = network.link(host, server.host, LinkConditions(delay: .milliseconds(10)))
    address = TransportAddress(ip: host.addresses[0], port: 5000)
    certificate = try SimulationCertificate.make(UInt64(200 + number))
    transport = PeerTransport(
      configuration: PeerTransport.Configuration(
        ice: ICEAgent.Configuration(isControlling: true), certificate: certificate,
        dtls: StandInDTLSFactory()),
      random: network.random.fork(), sink: network)
    transport.delegate = self
    _ = transport.addLocalCandidate(address)
    network.bind(self, to: address)
  }

  /// An offer with the client's own credentials.
  func offer(_ text: String) -> String {
    let ice = transport.ice.localParameters
    return text.replacing("UFRAG", with: ice.ufrag).replacing("PASSWORD", with: ice.password)
      .replacing("FINGERPRINT", with: certificate.fingerprint.description)
  }

  /// Has its offer answered.
  ///
  /// - Parameter text: an offer with `UFRAG`, `PASSWORD` and `FINGERPRINT` where its own go.
  @discardableResult
  func post(
    _ text: String, to purpose: SFUClientOffer.Purpose, channel: String = "room",
    _ grant: SFUGrant = SFUGrant()
  ) throws -> SessionDescription {
    let offer = try SFUClientOffer(parsing: offer(text), to: purpose)
    let connect = offer.connect(channelID: channel, accessToken: nil, client: nil)
    let applicant = try server.core.open(connect, at: network.now)
    let made = try server.core.answer(offer, of: applicant, grant, at: network.now)
    let answer = try SessionDescription(parsing: made.sdp)
    try answer.validate()
    self.made = made
    self.answer = answer
    let media = try #require(answer.media.first { $0.port != 0 })
    try start(media, media.candidates)
    return answer
  }

  private func start(_ media: some SDPAttributeContainer, _ candidates: [String]) throws {
    let present =
      try transport.remote?.fingerprint
      ?? DTLSFingerprint(
        parsing: #require(media.fingerprints.first).description)
    transport.start(
      PeerTransport.RemoteDescription(
        ice: try ICEParameters(
          ufrag: #require(media.iceUfrag), password: #require(media.icePassword), isLite: true),
        fingerprint: present, localRole: .client), at: network.now)
    for candidate in candidates {
      transport.addRemoteCandidate(try ICECandidate(parsing: candidate), at: network.now)
    }
    transport.endOfRemoteCandidates(at: network.now)
    network.deadlinesChanged()
  }

  /// Starts ICE over, and takes what the server says to it.
  func restart() throws -> SFUFragmentOutcome? {
    transport.restartICE(at: network.now)
    let ice = transport.ice.localParameters
    let fragment = try SDPFragment(
      parsing: """
        a=ice-ufrag:\(ice.ufrag)
        a=ice-pwd:\(ice.password)
        m=audio 9 UDP/TLS/RTP/SAVPF 0
        a=mid:0
        a=\(transport.ice.localCandidates[0].sdp)
        a=end-of-candidates

        """)
    let outcome = try server.core.receive(
      fragment, connectionID: #require(made).connectionID, at: network.now)
    if case .restarted(let answer, _)? = outcome {
      try start(answer, answer.allCandidates)
    }
    return outcome
  }

  /// The connection as the server has it.
  var status: SFUConnectionStatus? {
    server.core.status.first { $0.connectionID == made?.connectionID }
  }

  /// Sends one packet on the section of a kind, with a payload that tells its number; a frame a packet.
  func send(
    _ kind: MediaKind, sequence: UInt16, rid: String? = nil, isKeyFrame: Bool = true,
    ssrc: UInt32? = nil
  ) throws {
    let media = try #require(answer?.media.first { $0.kind == kind.rawValue })
    let codec = try #require(media.codecs.first)
    let map = RTPHeaderExtensionMap(media.extensions.map { (id: Int($0.id), uri: $0.uri) })
    var values = RTPHeaderExtensions()
    values.transportSequenceNumber = nextTransportNumber
    nextTransportNumber &+= 1
    values.mid = media.mid.flatMap { RTPExtensionText($0) }
    values.rid = rid.flatMap { RTPExtensionText($0) }
    var header = RTPHeader(
      payloadType: codec.payloadType, sequenceNumber: sequence,
      timestamp: UInt32(sequence) &* (kind == .video ? 3000 : 960),
      ssrc: ssrc ?? (kind == .video ? 1111 : 3333), marker: true)
    let payload = Self.payload(kind, sequence, isKeyFrame: isKeyFrame)
    header.payloadCount = payload.count
    var packet = [UInt8](repeating: 0, count: 100 + payload.count)
    let count = packet.withUnsafeMutableBytes { buffer -> Int in
      var writer = RTPPacketWriter(into: buffer)
      try? writer.writeHeader(header, extensions: values, map: map)
      for (index, byte) in payload.enumerated() { writer.free[index] = byte }
      writer.advance(by: payload.count)
      return writer.count
    }
    _ = packet[..<count].withUnsafeBytes { transport.sendRTP($0) }
  }

  /// VP8 without picture ids (RFC 7741 §4.2, RFC 6386 §9.1), or anything.
  static func payload(_ kind: MediaKind, _ sequence: UInt16, isKeyFrame: Bool = true) -> [UInt8] {
    let head: [UInt8] =
      kind == .audio
      ? [] : [0x10, isKeyFrame ? 0x10 : 0x11, 0, 0, 0x9D, 0x01, 0x2A, 0x40, 0x01, 0xF0, 0]
    return head + [UInt8(sequence >> 8), UInt8(truncatingIfNeeded: sequence)]
      + [UInt8](repeating: 7, count: 100)
  }

  /// What came on the section of a kind.
  func packets(_ kind: MediaKind, _ index: Int = 0) -> [Packet] {
    let sections = (answer?.media ?? []).filter { $0.kind == kind.rawValue }
    guard index < sections.count, let ssrc = sections[index].sources.first?.ssrc else { return [] }
    return received[ssrc] ?? []
  }

  // MARK: SimulatedEndpoint

  func received(
    _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress,
    on local: TransportAddress, ecn: ECNCodepoint, at now: Instant
  ) {
    transport.receive(bytes, from: source, on: local, at: now)
  }

  func poll(at now: Instant) { transport.poll(at: now) }

  var nextDeadline: Instant? { transport.nextDeadline }
}

extension OfferingClient: PeerTransportDelegate {
  func transport(
    _ transport: PeerTransport, receivedRTP packet: UnsafeMutableRawBufferPointer, at now: Instant
  ) {
    let bytes = UnsafeRawBufferPointer(packet)
    guard let header = try? RTPHeader(parsing: bytes) else {
      Issue.record("an RTP packet can't be read")
      return
    }
    let map = RTPHeaderExtensionMap(
      (answer?.media ?? []).flatMap(\.extensions).map { (id: Int($0.id), uri: $0.uri) })
    let values = RTPHeaderExtensions(of: header, in: bytes, map: map)
    let descriptor = map.dependencyDescriptor.flatMap { header.extensionRange(id: $0, in: bytes) }
    received[header.ssrc, default: []].append(
      Packet(
        sequenceNumber: header.sequenceNumber, timestamp: header.timestamp,
        payloadType: header.payloadType, payload: Array(header.payload(in: bytes)),
        mid: values.mid?.description, descriptor: descriptor.map { Array(bytes[$0]) }))
  }

  func transport(
    _ transport: PeerTransport, receivedRTCP packet: UnsafeRawBufferPointer, at now: Instant
  ) {
    var reader = RTCPReader(packet)
    while let packet = try? reader.next() {
      switch packet {
      case .pictureLossIndication(_, let media): keyFrameRequests.append(media)
      case .senderReport(let info, _): reports.append(info)
      case .receiverEstimate(let estimate):
        estimates.append(estimate.bitsPerSecond)
      case .transportFeedback: feedbacks.transportWide += 1
      case .congestionFeedback: feedbacks.bySource += 1
      default: break
      }
    }
  }

  func transport(
    _ transport: PeerTransport, changedTo state: PeerTransportState, at now: Instant
  ) {}

  func transport(_ transport: PeerTransport, needsAddressOf candidate: ICECandidate) {}
}
