import SoraDataChannel
import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraRTP
import SoraSDP
import SoraServer
import SoraSignalingMessages
import SoraTransport
import SoraWire
import WebRTC

/// A whole client in a simulated network: the SDK's peer connection without sockets, with stamped frames for codecs.
final class SimulatedClient: SimulatedEndpoint, PeerConnectionCoreDelegate {
  let name: String
  let core: PeerConnectionCore
  /// From it to the server.
  let link: SimulatedLink
  private let network: SimulatedNetwork
  private let server: SimulatedServer
  private let address: TransportAddress
  private let request: ConnectMessage
  private let streamSink: SimulatedICEStreams
  private var peer: SFUPeerID?
  private var sending: (audio: Int, video: Int)?
  private var wantsKeyFrame = true
  private var nextFrame: UInt32 = 0

  /// What was received, by the id of the transceiver.
  struct Reception {
    var frames = 0
    var lastIndex: UInt32?
    var skipped = 0
    var lastFrameAt: Instant?
    var longestGap = Duration.zero
    var totalDelay = Duration.zero
    var audioPackets = 0
  }
  private(set) var reception: [Int: Reception] = [:]
  private(set) var state = PeerTransportState.new
  private(set) var counters: SFUCounters?
  private(set) var streams: Set<String> = []
  /// What goes over data channels.
  private(set) var channels: SimulatedChannels!
  private(set) var closed: SFUClose?
  /// What came over data channels.
  private(set) var notes: [NotifyMessage] = []
  private(set) var pushes: [JSONValue] = []
  /// The reason in `close` over the data channel.
  private(set) var lastWord: String?
  private(set) var errors: [String] = []
  /// The keys of a telephone that came.
  private(set) var keysReceived: [RTCDtmfEvent] = []
  /// What becomes of its descriptions on their way to the server.
  private let edit: (String) -> String
  private(set) var framesSent = 0
  private(set) var keyFramesSent = 0

  /// - Parameters:
  ///   - gathering: the STUN and TURN servers that it asks.
  ///   - edit: what becomes of its descriptions on their way to the server.
  init(
    _ name: String, _ number: Int, _ network: SimulatedNetwork, on host: SimulatedHost,
    over link: SimulatedLink, server: SimulatedServer, request: ConnectMessage,
    gathering: ICEGatherer.Configuration = ICEGatherer.Configuration(),
    edit: @escaping (String) -> String = { $0 }
  ) throws {
    self.name = name
    self.link = link
    self.edit = edit
    self.network = network
    self.server = server
    address = TransportAddress(ip: host.addresses[0], port: 40_000)
    self.request = request
    var configuration = PeerConnectionCore.Configuration(
      certificate: try SimulationCertificate.make(UInt64(number)), dtls: StandInDTLSFactory(),
      wallClock: WallClock(unixNanoseconds: 1_700_000_000_000_000_000, at: .zero))
    configuration.maximumBitrate = 3_000_000
    configuration.gathering = gathering
    core = PeerConnectionCore(
      configuration: configuration, random: network.random.fork(), sink: network)
    streamSink = SimulatedICEStreams(network, on: host, for: core.transport)
    channels = SimulatedChannels(core) { [unowned self] message, now in take(message, at: now) }
    core.delegate = self
    network.bind(self, to: address)
  }

  // MARK: Signaling

  func connect() {
    peer = server.accept(self)
    say(.connect(request))
  }

  /// Leaves as the protocol wants it: media ends when the server has answered with its close.
  func disconnect() { say(.disconnect(reason: "NO-ERROR")) }

  /// Goes without a word, as a machine does that loses power.
  func vanish() {
    sending = nil
    network.remove(self)
  }

  private func say(_ message: SFUMessage) {
    if channels.isSwitched, let json = message.json {
      channels.send(json, on: "signaling", at: network.now)
    } else if let peer {
      server.send(message, from: peer)
    }
  }

  /// What the server says over data channels.
  private func take(_ message: SignalingMessage, at now: Instant) {
    switch message {
    case .reOffer(let offer): handle(.reOffer(sdp: offer.sdp), at: now)
    case .notify(let event): notes.append(event)
    case .push(let push): pushes.append(push.data)
    case .reqStats: channels.send(["type": "stats", "reports": []], on: "stats", at: now)
    case .close(let close): lastWord = close.reason
    default: errors.append("unexpected: \(message.typeName)")
    }
  }

  /// Loses its WebSocket.
  func loseSignaling() {
    guard let peer else { return }
    server.close(peer)
    self.peer = nil
  }

  func handle(_ output: SFUOutput, at now: Instant) {
    switch output {
    case .offer(let offer):
      negotiate(now) {
        try core.setRemoteDescription(.offer, offer.sdp, at: now)
        try attach(offer)
        return .answer
      }
    case .reOffer(let sdp):
      negotiate(now) {
        try core.setRemoteDescription(.offer, sdp, at: now)
        return .reAnswer
      }
    case .notify(let notification):
      counters = notification.counters
      network.note("\(name) \(notification.kind.rawValue) \(notification.counters.total)")
    case .event(let event): network.note("\(name) \(event.eventType)")
    case .ping: say(.pong)
    case .close(let close):
      closed = close
      core.close(at: now)
      network.remove(self)
    case .push(let data): pushes.append(data)
    case .switched(let ignores):
      channels.isSwitched = true
      // As the official clients do.
      if ignores { loseSignaling() }
    case .redirect(let location): network.note("\(name) redirected to \(location)")
    case .requestStatistics: errors.append("statistics are asked for over data channels alone")
    }
  }

  private enum Reply { case answer, reAnswer }

  private func negotiate(_ now: Instant, _ apply: () throws -> Reply) {
    do {
      let reply = try apply()
      let sdp = try core.createAnswer()
      try core.setLocalDescription(.answer, sdp, addresses: [address], at: now)
      say(reply == .answer ? .answer(sdp: edit(sdp)) : .reAnswer(sdp: edit(sdp)))
    } catch {
      errors.append("\(error)")
      network.note("\(name) failed: \(error)")
    }
  }

  private func attach(_ offer: OfferMessage) throws {
    guard let audio = offer.mid?["audio"].flatMap(core.negotiator.transceiver(mid:)),
      let video = offer.mid?["video"].flatMap(core.negotiator.transceiver(mid:))
    else { return }
    core.negotiator.setTrack(of: audio, "\(name)-audio", streamIDs: [name])
    core.negotiator.setTrack(of: video, "\(name)-video", streamIDs: [name])
    audio.direction = .sendonly
    video.direction = .sendonly
    sending = (audio.id, video.id)
  }

  // MARK: Sending

  /// Sends 30 stamped frames and 50 packets of audio a second from now on.
  func startMedia() {
    network.every(.nanoseconds(33_333_333)) { [weak self] now in self?.sendVideo(at: now) }
    network.every(.milliseconds(20)) { [weak self] now in self?.sendAudio(at: now) }
  }

  private func sendVideo(at now: Instant) {
    guard let sending, state == .connected else { return }
    let isKeyFrame = wantsKeyFrame
    wantsKeyFrame = false
    let payload = StampedFrame.make(
      index: nextFrame, at: now, isKeyFrame: isKeyFrame, size: isKeyFrame ? 9_000 : 2_800)
    nextFrame += 1
    framesSent += 1
    if isKeyFrame { keyFramesSent += 1 }
    core.send(
      EncodedFrame(
        payload: payload, isKeyFrame: isKeyFrame,
        rtpTimestamp: UInt32(truncatingIfNeeded: now.microseconds * 9 / 100), timestamp: now),
      transceiverID: sending.video, at: now)
  }

  private func sendAudio(at now: Instant) {
    guard let sending, state == .connected else { return }
    core.send(
      EncodedFrame(
        payload: EncodedBuffer([UInt8](repeating: 0xFC, count: 80)), isKeyFrame: true,
        rtpTimestamp: UInt32(truncatingIfNeeded: now.microseconds * 48 / 1000), timestamp: now),
      transceiverID: sending.audio, at: now)
  }

  /// Plays keys of a telephone in the place of its audio.
  ///
  /// - Returns: whether the server takes them.
  func press(_ keys: String) -> Bool {
    guard let sending else { return false }
    return core.play(
      keys, duration: .milliseconds(100), gap: .milliseconds(70), transceiverID: sending.audio,
      at: network.now)
  }

  // MARK: The network

  func received(
    _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress,
    on local: TransportAddress, ecn: ECNCodepoint, at now: Instant
  ) {
    core.receive(bytes, from: source, on: local, ecn: ecn, at: now)
  }

  func poll(at now: Instant) { core.poll(at: now) }
  var nextDeadline: Instant? { core.nextDeadline }

  // MARK: The core

  func core(_ core: PeerConnectionCore, event: PeerConnectionEvent, at now: Instant) {
    switch event {
    case .candidateGenerated(let text): say(.candidate(text))
    case .transportStateChanged(let new):
      state = new
      network.note("\(name) \(new)")
    case .keyFrameWanted: wantsKeyFrame = true
    case .keyReceived(let event, _): keysReceived.append(event)
    case .streamAdded(let id): streams.insert(id)
    case .streamRemoved(let id): streams.remove(id)
    default: break
    }
  }

  func core(_ core: PeerConnectionCore, data event: DataChannelEvent, at now: Instant) {
    channels.handle(event, at: now)
  }

  func core(
    _ core: PeerConnectionCore, receivedVideo frame: EncodedFrame, codec: String,
    transceiverID: Int, at now: Instant
  ) {
    guard let (index, sentAt) = StampedFrame.read(frame.payload.bytes) else {
      errors.append("a frame came damaged")
      return
    }
    reception[transceiverID, default: Reception()].note(index, sentAt: sentAt, at: now)
    if index % 300 == 0 { network.note("\(name) frame \(index)") }
  }

  func core(
    _ core: PeerConnectionCore, receivedAudio payload: UnsafeRawBufferPointer, header: RTPHeader,
    transceiverID: Int, at now: Instant
  ) {
    reception[transceiverID, default: Reception()].audioPackets += 1
  }
}

extension SimulatedClient.Reception {
  mutating func note(_ index: UInt32, sentAt: Instant, at now: Instant) {
    if let lastIndex, index > lastIndex { skipped += Int(index - lastIndex - 1) }
    if let lastFrameAt { longestGap = max(longestGap, now - lastFrameAt) }
    lastIndex = index
    lastFrameAt = now
    frames += 1
    totalDelay += now - sentAt
  }
}

/// A frame that looks like VP8 from outside (RFC 6386 §9.1) and carries its index, its time and a check of every byte.
enum StampedFrame {
  static func make(index: UInt32, at now: Instant, isKeyFrame: Bool, size: Int) -> EncodedBuffer {
    var bytes = [UInt8](repeating: 0, count: max(64, size))
    bytes[0] = isKeyFrame ? 0x10 : 0x11
    if isKeyFrame {
      bytes.replaceSubrange(3..<10, with: [0x9D, 0x01, 0x2A, 0x80, 0x02, 0x68, 0x01])
    }
    for shift in 0..<4 { bytes[10 + shift] = UInt8(truncatingIfNeeded: index >> UInt32(8 * shift)) }
    for shift in 0..<8 {
      bytes[14 + shift] = UInt8(truncatingIfNeeded: now.nanoseconds >> Int64(8 * shift))
    }
    for position in 22..<bytes.count {
      bytes[position] = UInt8(truncatingIfNeeded: position &+ Int(index))
    }
    return EncodedBuffer(bytes)
  }

  static func read(_ bytes: UnsafeRawBufferPointer) -> (index: UInt32, sentAt: Instant)? {
    guard bytes.count >= 64 else { return nil }
    var index: UInt32 = 0
    for shift in 0..<4 { index |= UInt32(bytes[10 + shift]) << UInt32(8 * shift) }
    var nanoseconds: Int64 = 0
    for shift in 0..<8 { nanoseconds |= Int64(bytes[14 + shift]) << Int64(8 * shift) }
    for position in 22..<bytes.count
    where bytes[position] != UInt8(truncatingIfNeeded: position &+ Int(index)) {
      return nil
    }
    return (index, Instant(nanoseconds: nanoseconds))
  }
}
