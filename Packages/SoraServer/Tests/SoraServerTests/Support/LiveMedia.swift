import SoraClock
import SoraDTLS
import SoraICE
import SoraMedia
import SoraRTP
import SoraSDP
import SoraTransport

/// The media of a client on real sockets: a transport on a UDP socket of its own, and some packets per second. Confined to its loop.
final class LiveMedia: DatagramHandler {
  private static let interval = Duration.milliseconds(200)

  private let loop: NetworkLoop
  private let sockets = UDPSocketSet()
  private let certificate: DTLSCertificate
  private let transport: PeerTransport
  private var timer: LoopTimer?
  private var offer: SessionDescription?
  private var mids: [MediaKind: String] = [:]
  private var offers: UInt64 = 0
  private var sent: UInt16 = 0
  private var nextPackets: Instant?
  /// Packets that came.
  private(set) var received = 0

  init(_ certificate: DTLSCertificate, on loop: NetworkLoop) throws {
    self.loop = loop
    self.certificate = certificate
    transport = PeerTransport(
      configuration: PeerTransport.Configuration(
        ice: ICEAgent.Configuration(isControlling: true), certificate: certificate,
        dtls: try DTLSImplementation.standard.makeFactory()),
      random: .system(), sink: sockets)
    transport.delegate = self
    let socket = try loop.openUDP(TransportAddress(ip: .loopbackV4, port: 0), handler: self)
    sockets.insert(socket)
    _ = transport.addLocalCandidate(socket.localAddress)
    timer = loop.makeTimer { [weak self] now in self?.poll(at: now) }
  }

  var isConnected: Bool { transport.state == .connected }

  /// Answers a description of the server.
  ///
  /// - Parameter mids: the sections that the client sends on, where it is the first one.
  func answer(_ text: String, mids: [MediaKind: String]) throws -> String {
    let description = try SessionDescription(parsing: text)
    offers += 1
    let (answer, remote) = ScriptedAnswer(
      ice: transport.ice.localParameters, fingerprint: certificate.fingerprint, version: offers
    ).answer(description)
    defer { schedule() }
    guard offer == nil, let remote else { return answer.text }
    offer = description
    self.mids = mids
    transport.start(remote, at: loop.now)
    for candidate in description.media.flatMap(\.candidates) {
      transport.addRemoteCandidate(try ICECandidate(parsing: candidate), at: loop.now)
    }
    transport.endOfRemoteCandidates(at: loop.now)
    nextPackets = loop.now + Self.interval
    return answer.text
  }

  /// Falls silent and lets go of its socket.
  func close(saying: Bool) {
    if saying { transport.close(at: loop.now) }
    timer?.cancel()
    timer = nil
    sockets.close()
  }

  private func poll(at now: Instant) {
    transport.poll(at: now)
    if let due = nextPackets, due <= now {
      nextPackets = now + Self.interval
      for (kind, mid) in mids where transport.isWritable { send(kind, on: mid) }
      sent &+= 1
    }
    schedule()
  }

  private func schedule() { timer?.deadline = earliest(transport.nextDeadline, nextPackets) }

  private func send(_ kind: MediaKind, on mid: String) {
    guard let media = offer?.media.first(where: { $0.mid == mid }), let codec = media.codecs.first
    else { return }
    let map = RTPHeaderExtensionMap(media.extensions.map { (id: Int($0.id), uri: $0.uri) })
    var values = RTPHeaderExtensions()
    values.mid = RTPExtensionText(mid)
    values.transportSequenceNumber = sent
    var header = RTPHeader(
      payloadType: codec.payloadType, sequenceNumber: sent,
      timestamp: UInt32(sent) &* (kind == .video ? 18_000 : 9_600),
      ssrc: kind == .video ? 1111 : 3333, marker: true)
    let payload = OfferingClient.payload(kind, sent)
    header.payloadCount = payload.count
    transport.sendRTP(capacity: 400) { buffer in
      var writer = RTPPacketWriter(into: buffer)
      guard (try? writer.writeHeader(header, extensions: values, map: map)) != nil else { return 0 }
      for (index, byte) in payload.enumerated() { writer.free[index] = byte }
      writer.advance(by: payload.count)
      return writer.count
    }
  }

  // MARK: DatagramHandler

  func received(
    _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress, on socket: UDPSocket,
    at now: Instant
  ) {
    transport.receive(bytes, from: source, on: socket.localAddress, at: now)
  }

  func batchEnded(at now: Instant) { schedule() }
}

extension LiveMedia: PeerTransportDelegate {
  func transport(
    _ transport: PeerTransport, receivedRTP packet: UnsafeMutableRawBufferPointer, at now: Instant
  ) { received += 1 }

  func transport(
    _ transport: PeerTransport, receivedRTCP packet: UnsafeRawBufferPointer, at now: Instant
  ) {}

  func transport(
    _ transport: PeerTransport, changedTo state: PeerTransportState, at now: Instant
  ) {}

  func transport(_ transport: PeerTransport, needsAddressOf candidate: ICECandidate) {}
}
