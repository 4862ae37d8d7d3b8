import SoraClock
import SoraDTLS
import SoraICE
import SoraMedia
import SoraRTP
import SoraSDP
import SoraSignaling
import SoraTransport

/// The other peer of one client: sends it a trace's packets, as they would arrive, and answers no request for lost ones.
final class TracePlayer: DatagramHandler, PeerTransportDelegate {
  private static let ssrc: UInt32 = 0x5EEC_4000
  private static let opus: UInt8 = 111
  private static let redundant: UInt8 = 63

  let connection: WebSocketConnection
  private let packets: [TracePacket]
  private let loop: NetworkLoop
  private let certificate: DTLSCertificate
  private let transport: PeerTransport
  private let sockets = UDPSocketSet()
  private var timer: LoopTimer?
  private var start: Instant?
  private var next = 0
  private var buffer = [UInt8](repeating: 0, count: 1500)
  private var isRedundant: Bool { packets.first.map { $0.payload[0] & 0x7F == Self.opus } ?? false }

  /// On the loop, as everything here.
  init(
    _ packets: [TracePacket], _ connection: WebSocketConnection, on loop: NetworkLoop,
    address: IPAddress, certificate: DTLSCertificate
  ) throws {
    self.packets = packets
    self.connection = connection
    self.loop = loop
    self.certificate = certificate
    transport = PeerTransport(
      configuration: PeerTransport.Configuration(
        ice: ICEAgent.Configuration(isControlling: false, isLite: true), certificate: certificate,
        dtls: try DTLSImplementation.standard.makeFactory()),
      random: .system(), sink: sockets)
    transport.delegate = self
    let socket = try loop.openUDP(TransportAddress(ip: address, port: 0), handler: self)
    sockets.insert(socket)
    _ = transport.addLocalCandidate(socket.localAddress)
    timer = loop.makeTimer { [weak self] now in self?.advance(to: now) }
  }

  func play(from start: Instant) {
    self.start = start
    schedule()
  }

  // MARK: Signaling

  func offer(to channel: String) {
    var types = [
      SDPCodec(
        payloadType: Self.opus, name: "opus", clockRate: 48_000, channels: 2,
        parameters: ["minptime": "10", "useinbandfec": "1"])
    ]
    if isRedundant {
      var codec = SDPCodec(
        payloadType: Self.redundant, name: "red", clockRate: 48_000, channels: 2)
      codec.parameters = FormatParameters(
        entries: [.init(key: "\(Self.opus)/\(Self.opus)", value: nil)])
      types.insert(codec, at: 0)
    }
    var media = MediaDescription(kind: "audio", port: 9, formats: types.map { "\($0.payloadType)" })
    media.lines.append(SDPLine(type: "c", value: "IN IP4 0.0.0.0"))
    media.mid = "0"
    media.iceUfrag = transport.ice.localParameters.ufrag
    media.icePassword = transport.ice.localParameters.password
    media.fingerprints = [
      SDPFingerprint(
        algorithm: certificate.fingerprint.algorithm, bytes: certificate.fingerprint.bytes)
    ]
    media.setup = .actpass
    media.direction = .sendonly
    media.append(SDPMsid(stream: channel, track: "\(channel)-audio"))
    media.rtcpMux = true
    for type in types { media.append(type) }
    media.append(SDPSource(ssrc: Self.ssrc, name: "cname", value: channel))
    media.append(SDPSource(ssrc: Self.ssrc, name: "msid", value: "\(channel) \(channel)-audio"))
    media.candidates = transport.ice.localCandidates.map(\.sdp)
    media.endOfCandidates = true
    var sdp = SessionDescription(origin: SDPOrigin(sessionID: "1", version: 1))
    sdp.bundle = ["0"]
    sdp.msidSemantic = " WMS *"
    sdp.isICELite = true
    sdp.media.append(media)
    let message = OfferMessage(sdp: sdp.text, connectionID: "\(ObjectIdentifier(self).hashValue)") {
      $0.channelID = channel
      $0.clientID = channel
      // libwebrtc's client ends without them.
      $0.configuration = ICEConfiguration(iceServers: [])
      $0.mid = [:]
      $0.multistream = true
      $0.simulcast = false
      $0.spotlight = false
      $0.audio = true
      $0.audioCodecType = "OPUS"
      $0.video = false
    }
    connection.send(.offer(message))
  }

  func answer(_ text: String) {
    guard let sdp = try? SessionDescription(parsing: text), let media = sdp.media.first,
      let ufrag = media.iceUfrag ?? sdp.iceUfrag,
      let password = media.icePassword ?? sdp.icePassword,
      let parameters = try? ICEParameters(ufrag: ufrag, password: password),
      let fingerprint = (media.fingerprints + sdp.fingerprints).lazy.compactMap({
        try? DTLSFingerprint(parsing: $0.description)
      }).first
    else { fail("an answer has no transport: \(text)") }
    if isRedundant, !media.codecs.contains(where: { $0.payloadType == Self.redundant }) {
      say("refused red")
    }
    transport.start(
      PeerTransport.RemoteDescription(
        ice: parameters, fingerprint: fingerprint,
        localRole: media.setup == .passive ? .client : .server), at: loop.now)
    for candidate in media.candidates.compactMap({ try? ICECandidate(parsing: $0) }) {
      transport.addRemoteCandidate(candidate, at: loop.now)
    }
    schedule()
  }

  func add(candidate text: String) {
    guard let candidate = try? ICECandidate(parsing: text) else { return }
    transport.addRemoteCandidate(candidate, at: loop.now)
    schedule()
  }

  // MARK: Media

  private func advance(to now: Instant) {
    transport.poll(at: now)
    while let start, next < packets.count, start + packets[next].time <= now {
      send(packets[next])
      next += 1
    }
    schedule()
  }

  private func schedule() {
    var due = transport.nextDeadline
    if let start, next < packets.count { due = earliest(due, start + packets[next].time) }
    timer?.deadline = due
  }

  private func send(_ packet: TracePacket) {
    var header = RTPHeader(
      payloadType: isRedundant ? Self.redundant : Self.opus,
      sequenceNumber: UInt16(truncatingIfNeeded: 1000 + packet.index),
      timestamp: UInt32(truncatingIfNeeded: 48_000 + packet.index * 960), ssrc: Self.ssrc,
      marker: packet.index == 0)
    header.payloadCount = packet.payload.count
    let count = buffer.withUnsafeMutableBytes { buffer -> Int in
      var writer = RTPPacketWriter(into: buffer)
      guard
        (try? writer.writeHeader(
          header, extensions: RTPHeaderExtensions(), map: RTPHeaderExtensionMap([]))) != nil
      else { return 0 }
      for (offset, byte) in packet.payload.enumerated() { writer.free[offset] = byte }
      writer.advance(by: packet.payload.count)
      return writer.count
    }
    precondition(count > 0, "a packet can't be written")
    _ = buffer[..<count].withUnsafeBytes { transport.sendRTP($0) }
  }

  // MARK: PeerTransportDelegate

  func transport(
    _ transport: PeerTransport, receivedRTP packet: UnsafeMutableRawBufferPointer, at now: Instant
  ) {}

  func transport(
    _ transport: PeerTransport, receivedRTCP packet: UnsafeRawBufferPointer, at now: Instant
  ) {}

  func transport(
    _ transport: PeerTransport, changedTo state: PeerTransportState, at now: Instant
  ) {
    guard state == .connected else { return }
    // What clients of Sora wait for.
    connection.send(
      text: #"{"type":"notify","event_type":"connection.created","role":"recvonly","#
        + #""connection_id":"\#(ObjectIdentifier(self).hashValue)","minutes":0,"#
        + #""channel_connections":1,"channel_sendrecv_connections":0,"#
        + #""channel_sendonly_connections":0,"channel_recvonly_connections":1}"#)
    say("connected")
  }

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
