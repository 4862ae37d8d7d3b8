import SoraDTLS
import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraRTP
import SoraSDP
import SoraTransport
import SoraWire
import WebRTC

/// One end of a simulated call: a core, stamped frames instead of codecs, and notes of what came.
final class CoreParty: SimulatedEndpoint, PeerConnectionCoreDelegate {
  let name: String
  let address: TransportAddress
  let core: PeerConnectionCore
  weak var peer: CoreParty?
  private(set) var states: [(PeerTransportState, Instant)] = []
  private(set) var iceStates: [ICEConnectionState] = []
  private(set) var dtlsStates: [DTLSTransportState] = []
  private(set) var connectionStates: [PeerConnectionState] = []
  private(set) var failures: [PeerTransportError] = []
  private(set) var unusableCandidates: [NegotiationError] = []
  /// The newest that was told.
  private(set) lazy var snapshot = core.snapshot
  private(set) var frames: [(index: UInt32, shown: Instant)] = []
  private(set) var damaged = 0
  private(set) var audioReceived = 0
  private(set) var framesSent: UInt32 = 0
  /// Keys that the other side has pressed and let go, and those of ours that began.
  private(set) var keysReceived: [RTCDtmfEvent] = []
  private(set) var keysPlayed: [String] = []
  /// Told that an offer is wanted.
  var onNegotiationNeeded: (() -> Void)?
  private(set) var audioSent: UInt32 = 0
  private var wantsKeyFrame = true

  init(
    _ network: SimulatedNetwork, _ name: String, _ address: TransportAddress, serial: UInt64,
    consentTimeout: Duration? = nil
  ) {
    self.name = name
    self.address = address
    guard let certificate = try? SimulationCertificate.make(serial) else {
      preconditionFailure("libcrypto reads the simulation's certificate")
    }
    var configuration = PeerConnectionCore.Configuration(
      certificate: certificate, dtls: StandInDTLSFactory(),
      wallClock: WallClock(unixNanoseconds: 1_700_000_000_000_000_000, at: .zero))
    if let consentTimeout { configuration.ice.consentTimeout = consentTimeout }
    core = PeerConnectionCore(
      configuration: configuration,
      random: network.random.fork(), sink: network)
    core.delegate = self
    core.negotiator.addTrack(.audio, trackID: "\(name)-audio", streamIDs: [name])
    core.negotiator.addTrack(.video, trackID: "\(name)-video", streamIDs: [name])
  }

  // MARK: Sending

  private func transceiverID(_ kind: MediaKind) -> Int? {
    core.media.first { $0.kind == kind && $0.send != nil }?.transceiverID
  }

  func sendVideo(at now: Instant) {
    guard let id = transceiverID(.video) else { return }
    let isWritable = core.transport.isWritable
    let rate = min(1_000_000, core.videoBitrate(transceiverID: id))
    let isKeyFrame = wantsKeyFrame
    let bytes = Self.stamp(
      framesSent, isKeyFrame: isKeyFrame, size: max(100, rate / 240) * (isKeyFrame ? 3 : 1))
    core.send(
      EncodedFrame(
        payload: EncodedBuffer(bytes), isKeyFrame: isKeyFrame,
        rtpTimestamp: UInt32(truncatingIfNeeded: now.nanoseconds / 100_000 * 9), timestamp: now),
      transceiverID: id, at: now)
    guard isWritable else { return }
    wantsKeyFrame = false
    framesSent += 1
  }

  /// Presses keys on the audio that is sent.
  func press(_ keys: String, duration: Duration, gap: Duration, at now: Instant) -> Bool {
    guard let id = transceiverID(.audio) else { return false }
    return core.play(keys, duration: duration, gap: gap, transceiverID: id, at: now)
  }

  func sendAudio(at now: Instant) {
    guard let id = transceiverID(.audio) else { return }
    var bytes = [UInt8](repeating: 0x33, count: 90)
    bytes[0] = 0xFC  // 20 ms
    core.send(
      EncodedFrame(
        payload: EncodedBuffer(bytes), isKeyFrame: true, rtpTimestamp: audioSent &* 960,
        timestamp: now),
      transceiverID: id, level: RTPAudioLevel(level: 25, hasVoice: true), at: now)
    if core.transport.isWritable { audioSent += 1 }
  }

  /// A frame that RTP takes for VP8's (RFC 6386 §9.1) and that says which it is.
  private static func stamp(_ index: UInt32, isKeyFrame: Bool, size: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 14)
    bytes[0] = isKeyFrame ? 0x10 : 0x11
    if isKeyFrame { bytes.replaceSubrange(3..<10, with: [0x9D, 1, 0x2A, 0x40, 1, 0xF0, 0]) }
    for place in 0..<4 { bytes[10 + place] = UInt8(truncatingIfNeeded: index >> (24 - 8 * place)) }
    PayloadFilling.append(size - bytes.count, of: index, to: &bytes)
    return bytes
  }

  // MARK: SimulatedEndpoint

  func received(
    _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress,
    on local: TransportAddress, ecn: ECNCodepoint, at now: Instant
  ) {
    core.receive(bytes, from: source, on: local, ecn: ecn, at: now)
  }

  func poll(at now: Instant) { core.poll(at: now) }
  var nextDeadline: Instant? { core.nextDeadline }

  // MARK: PeerConnectionCoreDelegate

  func core(_ core: PeerConnectionCore, event: PeerConnectionEvent, at now: Instant) {
    switch event {
    case .updated(let snapshot): self.snapshot = snapshot
    case .transportStateChanged(let state): states.append((state, now))
    case .iceStateChanged(let state): iceStates.append(state)
    case .dtlsStateChanged(let state): dtlsStates.append(state)
    case .connectionStateChanged(let state, let failure):
      connectionStates.append(state)
      if let failure { failures.append(failure) }
    case .remoteCandidateUnusable(let error): unusableCandidates.append(error)
    case .keyFrameWanted: wantsKeyFrame = true
    case .negotiationNeeded: onNegotiationNeeded?()
    case .keyReceived(let event, _): keysReceived.append(event)
    case .keyPlayed(let key, _, _): keysPlayed.append(key.map { String($0) } ?? "")
    default: break
    }
  }

  func core(
    _ core: PeerConnectionCore, receivedVideo frame: EncodedFrame, codec: String,
    transceiverID: Int, at now: Instant
  ) {
    let bytes = frame.payload.bytes
    guard bytes.count >= 32 else {
      damaged += 1
      return
    }
    let index = bytes[10..<14].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    guard PayloadFilling.isWhole(frame.payload.span, from: 14, of: index) else {
      damaged += 1
      return
    }
    if let last = frames.last, index <= last.index { damaged += 1 }
    frames.append((index, max(now, frame.timestamp)))
  }

  func core(
    _ core: PeerConnectionCore, receivedAudio payload: UnsafeRawBufferPointer, header: RTPHeader,
    transceiverID: Int, at now: Instant
  ) {
    audioReceived += 1
  }
}

/// Two parties and the link between them.
final class CorePair {
  let network: SimulatedNetwork
  let link: SimulatedLink
  let hosts: [SimulatedHost]
  let caller: CoreParty
  let callee: CoreParty

  init(seed: UInt64, _ conditions: LinkConditions, consentTimeout: Duration? = nil) {
    network = SimulatedNetwork(seed: seed, retention: .everything)
    let one = network.addHost("caller", "10.1.0.1")
    let two = network.addHost("callee", "10.2.0.1")
    link = network.link(one, two, conditions)
    hosts = [one, two]
    caller = CoreParty(
      network, "caller", TransportAddress(ip: one.addresses[0], port: 5000), serial: 1,
      consentTimeout: consentTimeout)
    callee = CoreParty(
      network, "callee", TransportAddress(ip: two.addresses[0], port: 6000), serial: 2,
      consentTimeout: consentTimeout)
    caller.peer = callee
    callee.peer = caller
    for party in [caller, callee] { network.bind(party, to: party.address) }
    for party in [caller, callee] {
      network.every(.nanoseconds(33_333_333)) { [party] now in party.sendVideo(at: now) }
      network.every(.milliseconds(20)) { [party] now in party.sendAudio(at: now) }
    }
  }

  deinit { network.removeAllEndpoints() }

  /// A party's statistics now; the network's time began in November 2023.
  func report(of party: CoreParty) -> RTCStatisticsReport {
    party.core.statistics(
      at: network.now, unixNanoseconds: 1_700_000_000_000_000_000 + network.now.nanoseconds)
  }

  /// Offer and answer, with candidates in the descriptions; the answer takes its time where that is said.
  func negotiate(answerDelay: Duration = .zero) throws {
    try negotiate(from: caller, to: callee, answerDelay: answerDelay)
  }

  ///
  /// - Parameter change: what becomes of the answer's text on its way.
  func negotiate(
    from one: CoreParty, to two: CoreParty, answerDelay: Duration = .zero,
    answer change: (String) -> String = { $0 }
  ) throws {
    let now = network.now
    let offer = try one.core.createOffer()
    try one.core.setLocalDescription(.offer, offer, addresses: [one.address], at: now)
    try two.core.setRemoteDescription(.offer, one.core.localDescription ?? offer, at: now)
    let answer = try two.core.createAnswer()
    try two.core.setLocalDescription(.answer, answer, addresses: [two.address], at: now)
    if answerDelay > .zero {
      network.deadlinesChanged()
      network.run(for: answerDelay)
    }
    try one.core.setRemoteDescription(
      .answer, change(two.core.localDescription ?? answer), at: network.now)
    network.deadlinesChanged()
  }

  /// Gives a party another address, as the interface's owner would hear of it a little later.
  func move(_ party: CoreParty, to ip: IPAddress) -> TransportAddress {
    let host = hosts[party === caller ? 0 : 1]
    let old = party.core.transport.ice.localCandidates.last?.transportAddress ?? party.address
    let new = TransportAddress(ip: ip, port: old.port &+ 1)
    network.changeAddress(old.ip, to: ip, of: host, over: link)
    network.bind(party, to: new)
    party.core.transport.removeBase(old, at: network.now)
    party.core.transport.addBase(new, at: network.now)
    network.deadlinesChanged()
    return new
  }
}
