import SoraClock
import SoraDTLS
import SoraDataChannel
import SoraICE
import SoraMedia
import SoraRTP
import SoraSDP
import SoraTransport

/// The media and data channels of a client on real sockets: packets of known sizes, in layers where those are offered, and what comes of
/// others. Confined to its loop.
final class ListeningMedia: DatagramHandler {
  /// Bytes of a packet's payload: of audio, and of each layer of video.
  static let audioSize = 50
  static let videoSizes = [100, 200, 300]
  private static let interval = Duration.milliseconds(40)

  private let loop: NetworkLoop
  private let sockets = UDPSocketSet()
  private let certificate: DTLSCertificate
  private let transport: PeerTransport
  private let data: DataTransport
  private var timer: LoopTimer?
  private var offer: SessionDescription?
  private var mids: [MediaKind: String] = [:]
  private var offers: UInt64 = 0
  private var sent: UInt16 = 0
  private var nextPackets: Instant?
  /// Sources that were described: whose they are, and what.
  private var sources: [UInt32: Source] = [:]
  private var counts: [Source: Int] = [:]
  private var channels: [String: DataChannelID] = [:]

  private struct Source: Hashable {
    var kind: String
    var stream: String
  }

  init(_ certificate: DTLSCertificate, on loop: NetworkLoop) throws {
    self.loop = loop
    self.certificate = certificate
    transport = PeerTransport(
      configuration: PeerTransport.Configuration(
        ice: ICEAgent.Configuration(isControlling: true), certificate: certificate,
        dtls: try DTLSImplementation.standard.makeFactory()),
      random: .system(), sink: sockets)
    data = DataTransport(
      configuration: DataChannelConfiguration(), random: .system(), transport: transport)
    transport.delegate = self
    data.delegate = self
    let socket = try loop.openUDP(TransportAddress(ip: .loopbackV4, port: 0), handler: self)
    sockets.insert(socket)
    _ = transport.addLocalCandidate(socket.localAddress)
    timer = loop.makeTimer { [weak self] now in self?.poll(at: now) }
  }

  /// Packets that came of a connection's audio or video.
  func received(_ kind: MediaKind, of connectionID: String) -> Int {
    counts[Source(kind: kind.rawValue, stream: connectionID)] ?? 0
  }

  /// Answers a description of the server.
  ///
  /// - Parameter mids: the sections that the client sends on, where it is the first one.
  func answer(_ text: String, mids: [MediaKind: String]) throws -> String {
    let description = try SessionDescription(parsing: text)
    for media in description.media where media.port != 0 {
      guard let stream = media.msids.first?.stream, let ssrc = media.sources.first?.ssrc else {
        continue
      }
      sources[ssrc] = Source(kind: media.kind, stream: stream)
    }
    offers += 1
    let (answer, remote) = ScriptedAnswer(
      ice: transport.ice.localParameters, fingerprint: certificate.fingerprint, version: offers
    ).answer(description)
    defer { schedule() }
    guard offer == nil, let remote else { return answer.text }
    offer = description
    self.mids = mids
    transport.start(remote, at: loop.now)
    if description.media.contains(where: { $0.sctpPort != nil }) {
      data.negotiated(
        DataTransport.Remote(isClient: true, port: 5000, maximumMessageSize: 0), at: loop.now)
    }
    for candidate in description.media.flatMap(\.candidates) {
      transport.addRemoteCandidate(try ICECandidate(parsing: candidate), at: loop.now)
    }
    transport.endOfRemoteCandidates(at: loop.now)
    nextPackets = loop.now + Self.interval
    return answer.text
  }

  /// Says something on a data channel.
  ///
  /// - Returns: whether there is one of that label.
  func say(_ text: String, on label: String) -> Bool {
    guard let id = channels[label] else { return false }
    defer { schedule() }
    return (try? data.send(Array(text.utf8).span.bytes, isText: true, on: id, at: loop.now)) != nil
  }

  func close() {
    transport.close(at: loop.now)
    timer?.cancel()
    timer = nil
    sockets.close()
  }

  private func poll(at now: Instant) {
    transport.poll(at: now)
    data.poll(at: now)
    if let due = nextPackets, due <= now {
      nextPackets = now + Self.interval
      if transport.isWritable { sendAll() }
    }
    schedule()
  }

  private func schedule() {
    timer?.deadline = earliest(earliest(transport.nextDeadline, data.nextDeadline), nextPackets)
  }

  private func sendAll() {
    if let mid = mids[.audio] { send(.audio, on: mid, ssrc: 3333, count: Self.audioSize) }
    if let mid = mids[.video], let media = offer?.media.first(where: { $0.mid == mid }) {
      let rids = media.simulcast?.receive.compactMap(\.first?.rid) ?? []
      for (index, size) in Self.videoSizes.prefix(max(1, rids.count)).enumerated() {
        send(
          .video, on: mid, ssrc: 1111 + UInt32(index), count: size,
          rid: rids.isEmpty ? nil : rids[index])
      }
    }
    sent &+= 1
  }

  private func send(
    _ kind: MediaKind, on mid: String, ssrc: UInt32, count: Int, rid: String? = nil
  ) {
    guard let media = offer?.media.first(where: { $0.mid == mid }), let codec = media.codecs.first
    else { return }
    let map = RTPHeaderExtensionMap(media.extensions.map { (id: Int($0.id), uri: $0.uri) })
    var values = RTPHeaderExtensions()
    values.mid = RTPExtensionText(mid)
    values.rid = rid.flatMap { RTPExtensionText($0) }
    var header = RTPHeader(
      payloadType: codec.payloadType, sequenceNumber: sent,
      timestamp: UInt32(sent) &* (kind == .video ? 3600 : 1920), ssrc: ssrc, marker: true)
    header.payloadCount = count
    // Of VP8 a key frame each: whoever is sent it needs nothing from before.
    let id = [0x80 | UInt8(sent >> 8 & 0x7F), UInt8(sent & 255)]
    let head: [UInt8] = [0x90, 0xE0] + id + [id[1], 0, 0x10, 0, 0, 0x9D, 1, 0x2A, 64, 0, 64, 0]
    transport.sendRTP(capacity: 100 + count) { buffer in
      var writer = RTPPacketWriter(into: buffer)
      guard (try? writer.writeHeader(header, extensions: values, map: map)) != nil else { return 0 }
      for index in 0..<count { writer.free[index] = index < head.count ? head[index] : 0 }
      writer.advance(by: count)
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

extension ListeningMedia: PeerTransportDelegate {
  func transport(
    _ transport: PeerTransport, receivedRTP packet: UnsafeMutableRawBufferPointer, at now: Instant
  ) {
    guard let header = try? RTPHeader(parsing: UnsafeRawBufferPointer(packet)),
      let source = sources[header.ssrc]
    else { return }
    counts[source, default: 0] += 1
  }

  func transport(
    _ transport: PeerTransport, receivedRTCP packet: UnsafeRawBufferPointer, at now: Instant
  ) {}

  func transport(
    _ transport: PeerTransport, receivedData message: RawSpan, at now: Instant
  ) -> Bool { data.receive(message, at: now) }

  func transport(
    _ transport: PeerTransport, changedTo state: PeerTransportState, at now: Instant
  ) {
    if state == .connected { data.transportChanged(at: now) }
  }

  func transport(_ transport: PeerTransport, needsAddressOf candidate: ICECandidate) {}
}

extension ListeningMedia: DataTransportDelegate {
  func data(_ data: DataTransport, event: DataChannelEvent, at now: Instant) {
    if case .announced(let id, let parameters, _) = event { channels[parameters.label] = id }
  }
}
