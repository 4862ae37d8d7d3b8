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

/// A client that answers every offer, sends the packets it is told to, and remembers all that arrives.
final class ScriptedClient: SimulatedEndpoint {
  struct Packet: Equatable {
    var sequenceNumber: UInt16
    var timestamp: UInt32
    var payloadType: UInt8
    var marker: Bool
    var payload: [UInt8]
    var hasTransportNumber: Bool
    var mid: String?
    var orientation: VideoRotation?
    var level: UInt8?
    /// The dependency descriptor; nil where there is none.
    var descriptor: [UInt8]?
    var at: Instant
  }

  let name: String
  let network: SimulatedNetwork
  let server: TestServer
  let address: TransportAddress
  private(set) var transport: PeerTransport!
  private(set) var peer: SFUPeerID?
  private let certificate: DTLSCertificate

  private(set) var offer: OfferMessage?
  /// Every description of the server, the first one included.
  private(set) var offers: [SessionDescription] = []
  private(set) var notifications: [SFUNotification] = []
  /// Notifications of other kinds.
  private(set) var events: [NotifyMessage] = []
  private(set) var pings: [Bool] = []
  private(set) var pushes: [JSONValue] = []
  private(set) var redirects: [String] = []
  private(set) var closed: SFUClose?
  /// The connections whose stream or offer came, and notifications, in their order.
  private(set) var order: [String] = []

  /// Sections of these codecs are rejected with port 0.
  var rejectedCodecs: Set<String> = []
  /// Simulcast layers that it refuses to send, and says it sends later.
  var refusedRids: Set<String> = []
  var pausedRids: Set<String> = []
  /// Header extensions that it leaves out of its answers.
  var refusedExtensions: Set<RTPHeaderExtensionKind> = []
  var allowsMixedExtensions = true
  /// Formats by their names that it leaves out of its answers.
  var refusedFormats: Set<String> = []
  var answersPings = true
  var answersOffers = true
  /// Sources that the server sends, by what arrived.
  private(set) var received: [UInt32: [Packet]] = [:]
  private(set) var transportNumbers: [UInt16] = []
  private(set) var nacked: [UInt16] = []
  private(set) var keyFrameRequests: [UInt32] = []
  private(set) var feedbackReports = 0
  private(set) var reportBlocks: [RTCPReportBlock] = []
  private(set) var senderReports: [RTCPSenderInfo] = []
  private(set) var names: [UInt32: String] = [:]
  /// Answers with a retransmission what the server asks for, from what was sent.
  var retransmits = true
  /// Takes all RTP and RTCP where it is there; nothing is noted of packets then, unless that is wanted.
  private(set) var media: ClientMedia?
  var notesMedia = false
  /// Its data channels where it has asked for them.
  private(set) var data: ClientData?
  /// The server is its second end.
  let link: SimulatedLink
  /// By source and number.
  private var sent: [UInt32: [UInt16: [UInt8]]] = [:]
  /// The layers that sources have said they are of.
  private var rids: [UInt32: RTPExtensionText] = [:]
  private var transportNumber: UInt16 = 60_000
  private var rtxNumber: UInt16 = 100

  /// - Parameter router: what its link leads to, in place of the server.
  convenience init(
    _ name: String, _ number: Int, _ server: TestServer, _ conditions: LinkConditions = .ideal,
    behind router: SimulatedHost? = nil, ip: String? = nil, sink: (any DatagramSink)? = nil
  ) throws {
    let host = server.network.addHost(name, ip ?? "10.0.1.\(number)")
    let link = server.network.link(host, router ?? server.host, conditions)
    try self.init(name, number, server, at: Seat(host: host, link: link), sink: sink)
  }

  /// Where a client is in the network: others may come there when it has gone, on other ports.
  struct Seat {
    let host: SimulatedHost
    let link: SimulatedLink
  }

  init(
    _ name: String, _ number: Int, _ server: TestServer, at seat: Seat, port: UInt16 = 5000,
    sink: (any DatagramSink)? = nil
  ) throws {
    self.name = name
    self.server = server
    network = server.network
    link = seat.link
    address = TransportAddress(ip: seat.host.addresses[0], port: port)
    certificate = try SimulationCertificate.make(UInt64(100 + number))

    peer = server.accept(self)
    transport = PeerTransport(
      configuration: PeerTransport.Configuration(
        ice: ICEAgent.Configuration(isControlling: true), certificate: certificate,
        dtls: StandInDTLSFactory()),
      random: network.random.fork(), sink: sink ?? network)
    transport.delegate = self
    _ = transport.addLocalCandidate(address)
    network.bind(self, to: address)
  }

  /// Gives it media as a real client has it; before it connects.
  func withMedia() -> Self {
    media = ClientMedia(network, output: transport)
    return self
  }

  /// Gives it data channels; before it connects.
  func withData() -> Self {
    data = ClientData(network, transport)
    // It answers by its WebSocket, where a server takes it, too.
    data?.onSignaling = { [weak self] message, now in
      guard let self, message["type"] == "re-offer", let sdp = message["sdp"]?.stringValue else {
        return
      }
      handle(.reOffer(sdp: sdp), at: now)
    }
    return self
  }

  /// Sends stamped video and audio from now on.
  func startMedia(_ video: ClientMedia.Video) throws {
    let offer = try #require(offer)
    try media?.start(
      video, try #require(offers.first), audioMid: try #require(offer.mid?["audio"]),
      videoMid: try #require(offer.mid?["video"]))
  }

  @discardableResult
  func connect(_ request: ConnectMessage) -> Self {
    say(.connect(request))
    return self
  }

  @discardableResult
  func connect(
    _ role: SFURole, channel: String = "room", video: String? = "VP8",
    configure: (inout ConnectMessage) -> Void = { _ in }
  ) -> Self {
    var request = ConnectMessage(role: role, channelID: channel)
    request.video = .options(VideoOptions { $0.codecType = video })
    configure(&request)
    return connect(request)
  }

  func say(_ message: SFUMessage) {
    guard let peer else { return }
    network.after(TestServer.signalingDelay) { [server] now in
      server.core.receive(message, from: peer, at: now)
    }
  }

  /// Lets go of the packets that it sent and what came, for those who measure what the server holds.
  func forgetReceived() {
    (received, sent) = ([:], [:])
    (transportNumbers, nacked, keyFrameRequests) = ([], [], [])
    (reportBlocks, senderReports, pings) = ([], [], [])
    (notifications, events, order) = (Array(notifications.suffix(1)), [], [])
  }

  func loseSignaling() {
    guard let peer else { return }
    server.core.signalingLost(peer, at: network.now)
  }

  /// Falls silent, as when its process is killed.
  func vanish() {
    isGone = true
    network.remove(self)
  }

  private var isGone = false

  /// Whether the server has told it so.
  var isConnected: Bool { transport.state == .connected && !notifications.isEmpty }

  // MARK: Signaling

  func handle(_ output: SFUOutput, at now: Instant) {
    switch output {
    case .offer(let offer):
      #expect(self.offer == nil)
      self.offer = offer
      answer(offer.sdp, isFirst: true, at: now)
    case .reOffer(let sdp):
      order.append("re-offer")
      answer(sdp, isFirst: false, at: now)
    case .notify(let notification):
      order.append(notification.kind.rawValue)
      notifications.append(notification)
    case .event(let event): events.append(event)
    case .ping(let statistics):
      pings.append(statistics)
      if answersPings { say(.pong) }
    case .push(let data): pushes.append(data)
    case .redirect(let location): redirects.append(location)
    case .switched, .requestStatistics:
      if data == nil { Issue.record("\(name) has no data channels") }
    case .close(let close):
      #expect(closed == nil)
      closed = close
      if !isGone { transport.close(at: now) }
    }
  }

  private func answer(_ text: String, isFirst: Bool, at now: Instant) {
    guard let description = try? SessionDescription(parsing: text) else {
      Issue.record("the offer can't be read: \(text)")
      return
    }
    #expect(throws: Never.self) { try description.validate() }
    check(description)
    offers.append(description)
    guard answersOffers else { return }
    var template = ScriptedAnswer(
      ice: transport.ice.localParameters, fingerprint: certificate.fingerprint,
      version: UInt64(offers.count))
    template.rejectedCodecs = rejectedCodecs
    template.refusedRids = refusedRids
    template.pausedRids = pausedRids
    template.refusedExtensions = refusedExtensions
    template.allowsMixed = allowsMixedExtensions
    template.refusedFormats = refusedFormats
    let (answer, remote) = template.answer(description)
    answers.append(answer)
    media?.receive(description, at: now)
    say(isFirst ? .answer(sdp: answer.text) : .reAnswer(sdp: answer.text))
    guard let remote else { return }
    transport.start(remote, at: now)
    data?.start(at: now)
    for media in description.media {
      for candidate in media.candidates {
        if let candidate = try? ICECandidate(parsing: candidate) {
          transport.addRemoteCandidate(candidate, at: now)
        }
      }
    }
    transport.endOfRemoteCandidates(at: now)
    network.deadlinesChanged()
  }

  private(set) var answers: [SessionDescription] = []

  /// What makes a sequence of offers valid (RFC 9429 §5.2.2, RFC 9143 §7).
  private func check(_ offer: SessionDescription) {
    let alive = offer.media.filter { $0.port != 0 }.compactMap(\.mid)
    #expect(offer.bundle == alive)
    #expect(Set(offer.media.compactMap(\.mid)).count == offer.media.count, "mids repeat")
    #expect(offer.isICELite)
    guard let last = offers.last, let lastAnswer = answers.last else { return }
    #expect(offer.media.count >= last.media.count, "sections disappeared")
    #expect(offer.origin?.sessionID == last.origin?.sessionID)
    #expect((offer.origin?.version ?? 0) > (last.origin?.version ?? 0))
    for (index, section) in last.media.enumerated() where index < offer.media.count {
      #expect(offer.media[index].kind == section.kind, "a section changed its kind")
      guard offer.media[index].mid != section.mid else { continue }
      let wasStopped = section.port == 0 || lastAnswer.media[index].port == 0
      #expect(wasStopped, "section \(index) was recycled before its end was agreed")
      #expect(offer.media[index].port != 0)
    }
  }

  // MARK: Media

  /// Sends one packet on the section of a kind, with a payload that tells its number.
  func send(
    _ kind: MediaKind, sequence: UInt16, timestamp: UInt32, ssrc: UInt32? = nil,
    payloadCount: Int = 200, marker: Bool = true, rid: String? = nil, payload: [UInt8]? = nil,
    descriptor: [UInt8] = [], losing: Bool = false, level: UInt8? = 30, format: String? = nil
  ) {
    let payloadCount = payload?.count ?? payloadCount
    let mid = kind == .audio ? offer?.mid?["audio"] : offer?.mid?["video"]
    let ssrc = ssrc ?? (kind == .audio ? 3333 : 1111)
    guard let mid, let media = offers.first?.media.first(where: { $0.mid == mid }),
      let codec = media.codecs.first(where: { format == nil || $0.name == format })
    else { return }
    let map = RTPHeaderExtensionMap(media.extensions.map { (id: Int($0.id), uri: $0.uri) })
    var values = RTPHeaderExtensions()
    values.mid = RTPExtensionText(mid)
    values.transportSequenceNumber = transportNumber
    values.absSendTime = 0
    values.rid = rid.flatMap { RTPExtensionText($0) }
    rids[ssrc] = values.rid ?? rids[ssrc]
    if kind == .audio { values.audioLevel = level.map { RTPAudioLevel(level: $0, hasVoice: true) } }
    if kind == .video { values.videoOrientation = .clockwise90 }
    transportNumber &+= 1
    var header = RTPHeader(
      payloadType: codec.payloadType, sequenceNumber: sequence, timestamp: timestamp, ssrc: ssrc,
      marker: marker)
    header.payloadCount = payloadCount
    var packet = [UInt8](repeating: 0, count: 400 + payloadCount)
    let count = packet.withUnsafeMutableBytes { buffer -> Int in
      var writer = RTPPacketWriter(into: buffer)
      descriptor.withUnsafeBytes {
        try? writer.writeHeader(
          header, extensions: values, map: map, dependencyDescriptor: $0)
      }
      for index in 0..<payloadCount {
        writer.free[index] = payload?[index] ?? Self.payloadByte(sequence, index)
      }
      writer.advance(by: payloadCount)
      return writer.count
    }
    let bytes = Array(packet[..<count])
    if kind == .video { sent[ssrc, default: [:]][sequence] = bytes }
    if losing { return }
    _ = bytes.withUnsafeBytes { transport.sendRTP($0) }
  }

  static func payloadByte(_ sequence: UInt16, _ index: Int) -> UInt8 {
    UInt8(truncatingIfNeeded: Int(sequence) &* 7 &+ index)
  }

  static func payload(_ sequence: UInt16, _ count: Int = 200) -> [UInt8] {
    (0..<count).map { payloadByte(sequence, $0) }
  }

  /// Sends RTCP that `write` puts together.
  func sendRTCP(_ write: (inout RTCPWriter) throws -> Void) {
    transport.sendRTCP(capacity: 1200) { buffer in
      var writer = RTCPWriter(into: buffer)
      try? write(&writer)
      return writer.count
    }
  }

  private func resend(_ number: UInt16, of ssrc: UInt32) {
    guard let packet = sent[ssrc]?[number], let mid = offer?.mid?["video"],
      let media = offers.first?.media.first(where: { $0.mid == mid }),
      let rtx = media.codecs.first(where: { $0.name == "rtx" })
    else { return }
    let map = RTPHeaderExtensionMap(media.extensions.map { (id: Int($0.id), uri: $0.uri) })
    var values = RTPHeaderExtensions()
    values.mid = RTPExtensionText(mid)
    values.videoOrientation = .clockwise90
    values.repairedRid = rids[ssrc]
    values.transportSequenceNumber = transportNumber
    transportNumber &+= 1
    var output = [UInt8](repeating: 0, count: 1500)
    let count = output.withUnsafeMutableBytes { buffer in
      packet.withUnsafeBytes { original in
        (try? Retransmission.build(
          of: original, ssrc: ssrc + 1111, sequenceNumber: rtxNumber, payloadType: rtx.payloadType,
          extensions: values, map: map, into: buffer))?.count ?? 0
      }
    }
    rtxNumber &+= 1
    _ = output[..<count].withUnsafeBytes { transport.sendRTP($0) }
  }

  /// The sections of another connection that are offered now.
  func sections(of publisher: ScriptedClient, _ kind: MediaKind) -> [MediaDescription] {
    (offers.last?.media ?? []).filter {
      $0.port != 0 && $0.kind == kind.rawValue
        && $0.msids.first?.stream == publisher.offer?.connectionID
    }
  }

  /// What arrived of another connection's medium: originals and retransmissions.
  func packets(
    of publisher: ScriptedClient, _ kind: MediaKind
  ) -> (media: [Packet], rtx: [Packet]) {
    guard let section = sections(of: publisher, kind).first else { return ([], []) }
    let ssrcs = section.sourceGroups.first?.ssrcs ?? section.sources.map(\.ssrc)
    guard let first = ssrcs.first else { return ([], []) }
    return (received[first] ?? [], ssrcs.count > 1 ? received[ssrcs[1]] ?? [] : [])
  }

  func ssrc(of publisher: ScriptedClient, _ kind: MediaKind) -> UInt32? {
    sections(of: publisher, kind).first?.sources.first?.ssrc
  }

  // MARK: SimulatedEndpoint

  func received(
    _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress,
    on local: TransportAddress, ecn: ECNCodepoint, at now: Instant
  ) {
    transport.receive(bytes, from: source, on: local, at: now)
  }

  func poll(at now: Instant) {
    transport.poll(at: now)
    if transport.isWritable { media?.session.poll(at: now) }
    data?.transport.poll(at: now)
  }

  var nextDeadline: Instant? {
    earliest(
      earliest(transport.nextDeadline, data?.transport.nextDeadline),
      transport.isWritable ? media?.session.nextDeadline : nil)
  }
}

extension ScriptedClient: PeerTransportDelegate {
  func transport(
    _ transport: PeerTransport, receivedRTP packet: UnsafeMutableRawBufferPointer, at now: Instant
  ) {
    if media == nil || notesMedia { note(packet, at: now) }
    media?.session.receiveRTP(packet, at: now)
  }

  private func note(_ packet: UnsafeMutableRawBufferPointer, at now: Instant) {
    let bytes = UnsafeRawBufferPointer(packet)
    guard let header = try? RTPHeader(parsing: bytes), let media = offers.last?.media.first else {
      Issue.record("an RTP packet can't be read")
      return
    }
    // Ids are the same in every section, but not every section lists every extension.
    var pairs = media.extensions.map { (id: Int($0.id), uri: $0.uri) }
    for other in offers.last?.media ?? [] {
      pairs += other.extensions.map { (id: Int($0.id), uri: $0.uri) }
    }
    let map = RTPHeaderExtensionMap(pairs)
    let values = RTPHeaderExtensions(of: header, in: bytes, map: map)
    let descriptor = map.dependencyDescriptor.flatMap { header.extensionRange(id: $0, in: bytes) }
    if let number = values.transportSequenceNumber { transportNumbers.append(number) }
    received[header.ssrc, default: []].append(
      Packet(
        sequenceNumber: header.sequenceNumber, timestamp: header.timestamp,
        payloadType: header.payloadType, marker: header.marker,
        payload: Array(header.payload(in: bytes)),
        hasTransportNumber: values.transportSequenceNumber != nil, mid: values.mid?.description,
        orientation: values.videoOrientation, level: values.audioLevel?.level,
        descriptor: descriptor.map { Array(bytes[$0]) }, at: now))
  }

  func transport(
    _ transport: PeerTransport, receivedRTCP packet: UnsafeRawBufferPointer, at now: Instant
  ) {
    if let media { return media.session.receiveRTCP(packet, at: now) }
    var reader = RTCPReader(packet)
    while let packet = try? reader.next() {
      switch packet {
      case .nack(let nack):
        for number in nack {
          nacked.append(number)
          if retransmits { resend(number, of: nack.media) }
        }
      case .pictureLossIndication(_, let media): keyFrameRequests.append(media)
      case .transportFeedback: feedbackReports += 1
      case .senderReport(let info, let blocks):
        senderReports.append(info)
        reportBlocks += Array(blocks)
      case .receiverReport(_, let blocks): reportBlocks += Array(blocks)
      case .sourceDescription(let chunks):
        for chunk in chunks { names[chunk.ssrc] = chunk.cnameText }
      default: break
      }
    }
  }

  func transport(
    _ transport: PeerTransport, receivedData message: RawSpan, at now: Instant
  ) -> Bool {
    data?.transport.receive(message, at: now) ?? false
  }

  func transport(
    _ transport: PeerTransport, changedTo state: PeerTransportState, at now: Instant
  ) {
    if state == .connected { data?.transport.transportChanged(at: now) }
  }

  func transport(_ transport: PeerTransport, needsAddressOf candidate: ICECandidate) {}
}

extension SimulatedNetwork {
  /// Runs until all are connected and the players are offered the publisher's video; whether that is so within five seconds.
  func connects(_ players: [ScriptedClient], to publisher: ScriptedClient) -> Bool {
    run(
      until: {
        publisher.isConnected
          && players.allSatisfy {
            $0.isConnected && $0.sections(of: publisher, .video).count == 1
          }
      }, within: .seconds(5))
  }
}
