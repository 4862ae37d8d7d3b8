import SoraDTLS
import SoraICE
import SoraMedia
import SoraRTP
import SoraSDP
import SoraServer
import SoraTransport

/// A client with a socket of its own that answers every offer: publishes frames of empty packets, or counts what comes and
/// sends the feedback that a server's estimate lives on.
final class BenchClient: DatagramHandler, PeerTransportDelegate, @unchecked Sendable {
  // @unchecked: confined to its loop, but for `peer`, which is the server's.
  let loop: NetworkLoop
  var peer: SFUPeerID?
  private(set) var packetsReceived = 0
  private(set) var packetsSent = 0
  private let server: BenchServer
  private let certificate: DTLSCertificate
  private let transport: PeerTransport
  private let sockets = UDPSocketSet()
  private var timer: LoopTimer?

  private var extensions = RTPHeaderExtensionMap([])
  private var payloadType: UInt8 = 0
  private var mid: String?
  private var answers = 0
  private let feedback = TransportFeedbackGenerator()
  private var report = Report()
  private var publishing: Publishing?

  /// What a receiver report says, every second: from the first on the server's packets needn't name their section.
  private struct Report {
    var ssrc: UInt32?
    var highestNumber: UInt16 = 0
    var next = Instant.zero
  }

  /// What is sent: `packets` every `interval`.
  private struct Publishing {
    var packets: Int
    var payloadCount: Int
    var interval: Duration
    var next: Instant
    var timestamp: UInt32 = 0
    var sequenceNumber: UInt16 = 0
    var transportNumber: UInt16 = 0
    var wantsKeyFrame = true
    var packet = [UInt8](repeating: 0, count: 1500)
  }

  init(
    on loop: NetworkLoop, of server: BenchServer, certificate: DTLSCertificate,
    dtls: any DTLSEndpointFactory, random: RandomSource
  ) {
    self.loop = loop
    self.server = server
    self.certificate = certificate
    transport = PeerTransport(
      configuration: PeerTransport.Configuration(
        ice: ICEAgent.Configuration(isControlling: true), certificate: certificate, dtls: dtls),
      random: random, sink: sockets)
    transport.delegate = self
  }

  /// On the loop.
  func connect(_ role: SFURole, channel: String) {
    do {
      let socket = try loop.openUDP(TransportAddress(ip: .loopbackV4, port: 0), handler: self)
      sockets.insert(socket)
      _ = transport.addLocalCandidate(socket.localAddress)
    } catch { fail("a client can't open its socket: \(error)") }
    timer = loop.makeTimer { [weak self] now in self?.advance(to: now) }
    var request = ConnectMessage(role: role, channelID: channel)
    request.audio = .disabled
    request.video = .options(VideoOptions { $0.codecType = "VP8" })
    server.connect(self, request)
  }

  /// On the loop: from now on sends `packets` of `size` bytes, with their headers, every `interval`.
  func publish(packets: Int, size: Int, every interval: Duration) {
    publishing = Publishing(
      packets: packets, payloadCount: size - 40, interval: interval, next: loop.now)
    schedule()
  }

  /// On the loop: leaves without a word, as the server is asked about no client's end.
  func vanish() {
    timer?.cancel()
    timer = nil
    sockets.close()
    transport.delegate = nil
  }

  // MARK: Signaling

  /// On the loop.
  func handle(_ output: SFUOutput) {
    switch output {
    case .offer(let offer):
      mid = offer.mid?["video"]
      answer(offer.sdp, isFirst: true)
    case .reOffer(let sdp): answer(sdp, isFirst: false)
    case .ping: server.receive(.pong, from: self)
    case .notify, .event, .push, .switched, .redirect, .requestStatistics, .close: break
    }
    schedule()
  }

  private func answer(_ text: String, isFirst: Bool) {
    guard let offer = try? SessionDescription(parsing: text) else {
      fail("an offer can't be read: \(text)")
    }
    let pairs = offer.media.flatMap { $0.extensions.map { (id: Int($0.id), uri: $0.uri) } }
    extensions = RTPHeaderExtensionMap(pairs)
    if let own = offer.media.first(where: { $0.mid == mid }), let codec = own.codecs.first {
      payloadType = codec.payloadType
    }
    answers += 1
    var answer = SessionDescription(origin: SDPOrigin(sessionID: "1", version: UInt64(answers)))
    for media in offer.media { answer.media.append(section(for: media)) }
    answer.bundle = answer.media.filter { $0.port != 0 }.compactMap(\.mid)
    server.receive(isFirst ? .answer(sdp: answer.text) : .reAnswer(sdp: answer.text), from: self)
    guard isFirst, let media = offer.media.first(where: { $0.port != 0 }) else { return }
    start(media)
  }

  private func section(for media: MediaDescription) -> MediaDescription {
    var section = MediaDescription(kind: media.kind, formats: media.formats)
    section.mid = media.mid
    section.port = media.port == 0 ? 0 : 9
    section.direction = media.port == 0 ? .inactive : media.direction.reversed
    section.extensions = media.extensions
    for codec in media.codecs { section.append(codec) }
    guard media.port != 0 else { return section }
    section.iceUfrag = transport.ice.localParameters.ufrag
    section.icePassword = transport.ice.localParameters.password
    section.fingerprints = [
      SDPFingerprint(
        algorithm: certificate.fingerprint.algorithm, bytes: certificate.fingerprint.bytes)
    ]
    section.setup = .active
    section.rtcpMux = true
    return section
  }

  private func start(_ media: MediaDescription) {
    guard let ufrag = media.iceUfrag, let password = media.icePassword,
      let parameters = try? ICEParameters(ufrag: ufrag, password: password, isLite: true),
      let fingerprint = media.fingerprints.first.flatMap({
        try? DTLSFingerprint(parsing: $0.description)
      })
    else { fail("an offer has no transport") }
    transport.start(
      PeerTransport.RemoteDescription(
        ice: parameters, fingerprint: fingerprint, localRole: .client), at: loop.now)
    for candidate in media.candidates.compactMap({ try? ICECandidate(parsing: $0) }) {
      transport.addRemoteCandidate(candidate, at: loop.now)
    }
    transport.endOfRemoteCandidates(at: loop.now)
  }

  // MARK: Media

  private func advance(to now: Instant) {
    transport.poll(at: now)
    if feedback.isDue(at: now) { sendFeedback(at: now) }
    if let publishing, publishing.next <= now { sendFrame(at: now) }
    schedule()
  }

  private func schedule() {
    timer?.deadline = earliest(
      earliest(transport.nextDeadline, feedback.nextDeadline), publishing?.next)
  }

  private func sendFrame(at now: Instant) {
    guard var frame = publishing else { return }
    publishing = nil
    for index in 0..<frame.packets {
      var header = RTPHeader(
        payloadType: payloadType, sequenceNumber: frame.sequenceNumber, timestamp: frame.timestamp,
        ssrc: 1111, marker: index == frame.packets - 1)
      header.payloadCount = frame.payloadCount
      var values = RTPHeaderExtensions()
      values.mid = mid.flatMap { RTPExtensionText($0) }
      values.transportSequenceNumber = frame.transportNumber
      values.absSendTime = 0
      let isKeyFrame = frame.wantsKeyFrame
      let count = frame.packet.withUnsafeMutableBytes { buffer -> Int in
        var writer = RTPPacketWriter(into: buffer)
        guard (try? writer.writeHeader(header, extensions: values, map: extensions)) != nil else {
          return 0
        }
        // RFC 7741 §4.2 and §4.3: the descriptor, and in a frame's first packet its header; P is 0 in key frames.
        writer.free[0] = index == 0 ? 0x10 : 0
        if index == 0 {
          let start: [UInt8] = [isKeyFrame ? 0x10 : 0x11, 0, 0, 0x9D, 0x01, 0x2A, 128, 2, 104, 1]
          for (offset, byte) in start.enumerated() { writer.free[1 + offset] = byte }
        }
        writer.advance(by: frame.payloadCount)
        return writer.count
      }
      precondition(count > 0, "a packet can't be written")
      if frame.packet[..<count].withUnsafeBytes({ transport.sendRTP($0) }) { packetsSent += 1 }
      frame.sequenceNumber &+= 1
      frame.transportNumber &+= 1
    }
    frame.wantsKeyFrame = false
    frame.timestamp &+= UInt32(frame.interval.inSeconds * 90_000)
    frame.next = max(frame.next + frame.interval, now)
    publishing = frame
  }

  private func sendFeedback(at now: Instant) {
    var hasMore = true
    while hasMore {
      hasMore = false
      let isSent = transport.sendRTCP(capacity: 1200) { buffer in
        var writer = RTCPWriter(into: buffer)
        writeReport(into: &writer, at: now)
        hasMore = (try? feedback.write(into: &writer, sender: 1, at: now)) ?? false
        return writer.count
      }
      if !isSent { return feedback.postpone(at: now) }
    }
  }

  private func writeReport(into writer: inout RTCPWriter, at now: Instant) {
    guard let ssrc = report.ssrc, now >= report.next else { return }
    report.next = now + .seconds(1)
    let block = RTCPReportBlock(
      ssrc: ssrc, fractionLost: 0, cumulativeLost: 0,
      extendedHighestSequence: UInt32(report.highestNumber), jitter: 0, lastSenderReport: 0,
      delaySinceLastSenderReport: 0)
    try? writer.receiverReport(sender: 1, blocks: [block])
  }

  // MARK: PeerTransportDelegate

  func transport(
    _ transport: PeerTransport, receivedRTP packet: UnsafeMutableRawBufferPointer, at now: Instant
  ) {
    let bytes = UnsafeRawBufferPointer(packet)
    guard let header = try? RTPHeader(parsing: bytes) else { return }
    packetsReceived += 1
    if report.ssrc == nil { report.ssrc = header.ssrc }
    report.highestNumber = header.sequenceNumber
    let values = RTPHeaderExtensions(of: header, in: bytes, map: extensions)
    if let number = values.transportSequenceNumber {
      feedback.received(sequenceNumber: number, ssrc: header.ssrc, at: now)
    }
  }

  func transport(
    _ transport: PeerTransport, receivedRTCP packet: UnsafeRawBufferPointer, at now: Instant
  ) {
    var reader = RTCPReader(packet)
    while let message = try? reader.next() {
      switch message {
      case .pictureLossIndication, .fullIntraRequest: publishing?.wantsKeyFrame = true
      default: break
      }
    }
  }

  func transport(
    _ transport: PeerTransport, changedTo state: PeerTransportState, at now: Instant
  ) {}

  func transport(_ transport: PeerTransport, needsAddressOf candidate: ICECandidate) {}

  // MARK: DatagramHandler

  func received(
    _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress, on socket: UDPSocket,
    at now: Instant
  ) {
    transport.receive(bytes, from: source, on: socket.localAddress, at: now)
  }

  func batchEnded(at now: Instant) { schedule() }
}
