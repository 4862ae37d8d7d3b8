import SoraCongestion
import SoraDTLS
import SoraICE
import SoraMedia
import SoraNetworkSimulator
import SoraRTP
import SoraTransport
import SoraWire
import Testing

/// One end of a simulated call: a transport and a session over it, and notes of what came out of both.
final class SimulatedPeer: SimulatedEndpoint, PeerTransportDelegate, RTPSessionDelegate {
  let name: String
  let address: TransportAddress
  let certificate: DTLSCertificate
  let transport: PeerTransport
  let session: RTPSession
  /// Whether packets go to the session, or are only counted.
  var usesSession = true
  /// Whether frames are noted, which allocates, or only counted.
  var notesFrames = true
  private(set) var frameCount = 0
  private(set) var audioCount = 0

  private(set) var states: [(state: PeerTransportState, at: Instant)] = []
  private(set) var rtpPackets = 0
  private(set) var rtcpPackets = 0
  private(set) var frames: [ReceivedFrame] = []
  private(set) var audioPackets: [(number: UInt16, at: Instant)] = []
  private(set) var keyFrameDemands: [Instant] = []
  private(set) var targets: [Int] = []
  var onFrame: ((EncodedFrame, Instant) -> Void)?
  /// How the last router has marked a datagram of so many bytes, if not as it came.
  var mark: ((Int, Instant) -> ECNCodepoint)?

  // What it sends.
  var wantsKeyFrame = true
  private var nextFrame: UInt32 = 0
  private var nextAudio: UInt32 = 0

  struct ReceivedFrame: Equatable {
    var index: UInt32
    var isKeyFrame: Bool
    var isIntact: Bool
    var at: Instant
  }

  init(
    _ network: SimulatedNetwork, _ name: String, _ address: TransportAddress, serial: UInt64,
    controlling: Bool, lite: Bool, session configuration: RTPSession.Configuration,
    sink: (any DatagramSink)? = nil
  ) throws {
    self.name = name
    self.address = address
    certificate = try SimulationCertificate.make(serial)
    transport = PeerTransport(
      configuration: PeerTransport.Configuration(
        ice: ICEAgent.Configuration(isControlling: controlling, isLite: lite),
        certificate: certificate, dtls: StandInDTLSFactory()),
      random: network.random.fork(), sink: sink ?? network)
    session = RTPSession(
      configuration: configuration, random: network.random.fork(), output: transport)
    transport.delegate = self
    session.delegate = self
  }

  var failure: PeerTransportError? {
    if case .failed(let error)? = states.last?.state { return error }
    return nil
  }

  var description: (ICEParameters, DTLSFingerprint) {
    (transport.ice.localParameters, certificate.fingerprint)
  }

  // MARK: SimulatedEndpoint

  func received(
    _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress,
    on local: TransportAddress, ecn: ECNCodepoint, at now: Instant
  ) {
    transport.receive(
      bytes, from: source, on: local, ecn: mark?(bytes.count, now) ?? ecn, at: now)
  }

  func poll(at now: Instant) {
    transport.poll(at: now)
    if usesSession, transport.isWritable { session.poll(at: now) }
  }

  var nextDeadline: Instant? {
    usesSession && transport.isWritable
      ? earliest(transport.nextDeadline, session.nextDeadline) : transport.nextDeadline
  }

  // MARK: PeerTransportDelegate

  func transport(
    _ transport: PeerTransport, receivedRTP packet: UnsafeMutableRawBufferPointer, at now: Instant
  ) {
    rtpPackets += 1
    if usesSession { session.receiveRTP(packet, ecn: transport.receivedECN, at: now) }
  }

  func transport(
    _ transport: PeerTransport, receivedRTCP packet: UnsafeRawBufferPointer, at now: Instant
  ) {
    rtcpPackets += 1
    if usesSession { session.receiveRTCP(packet, at: now) }
  }

  func transport(
    _ transport: PeerTransport, changedTo state: PeerTransportState, at now: Instant
  ) {
    states.append((state, now))
  }

  func transport(_ transport: PeerTransport, needsAddressOf candidate: ICECandidate) {}

  // MARK: RTPSessionDelegate

  func session(
    _ session: RTPSession, received frame: EncodedFrame, on stream: RTPReceiveStream,
    at now: Instant
  ) {
    frameCount += 1
    guard notesFrames else { return }
    let stamp = StampedFrame.read(frame.payload)
    frames.append(
      ReceivedFrame(
        index: stamp.index, isKeyFrame: frame.isKeyFrame, isIntact: stamp.isIntact, at: now))
    onFrame?(frame, now)
  }

  func session(
    _ session: RTPSession, receivedAudio payload: UnsafeRawBufferPointer, header: RTPHeader,
    on stream: RTPReceiveStream, at now: Instant
  ) {
    audioCount += 1
    guard notesFrames else { return }
    audioPackets.append((header.sequenceNumber, now))
  }

  func session(_ session: RTPSession, wantsKeyFrameOn stream: RTPSendStream, at now: Instant) {
    keyFrameDemands.append(now)
    wantsKeyFrame = true
  }

  func session(_ session: RTPSession, changedTargetBitrate bitsPerSecond: Int, at now: Instant) {
    targets.append(bitsPerSecond)
  }

  // MARK: Sending

  /// Sends the next stamped picture; a key frame where one was asked for.
  func sendVideo(on stream: RTPSendStream, size: Int, at now: Instant) {
    let isKeyFrame = wantsKeyFrame
    wantsKeyFrame = false
    session.send(
      StampedFrame.video(
        index: nextFrame, isKeyFrame: isKeyFrame, size: isKeyFrame ? size * 3 : size, at: now),
      on: stream, at: now)
    nextFrame += 1
  }

  /// Sends the next 20 ms of sound.
  func sendAudio(on stream: RTPSendStream, at now: Instant) {
    session.send(
      StampedFrame.audio(index: nextAudio, at: now), on: stream,
      level: RTPAudioLevel(level: 30, hasVoice: true), at: now)
    nextAudio += 1
  }

  /// Writes a plain RTP packet with a running number, past the session.
  @discardableResult
  func sendPlain(_ number: UInt16, size: Int = 200) -> Bool {
    transport.sendRTP(capacity: size) { memory in
      for index in 0..<size { memory[index] = 0 }
      memory[0] = 0x80
      memory[1] = 96
      memory[2] = UInt8(number >> 8)
      memory[3] = UInt8(truncatingIfNeeded: number)
      memory[11] = 1
      return size
    }
  }
}

/// Frames that say which they are, in VP8's clothes: a frame tag and a start code are all that RTP looks at.
enum StampedFrame {
  static func video(
    index: UInt32, isKeyFrame: Bool, size: Int, at now: Instant
  ) -> EncodedFrame {
    let size = max(size, 32)
    var bytes = [UInt8](repeating: 0, count: size)
    fill(&bytes, index: index, isKeyFrame: isKeyFrame)
    return EncodedFrame(
      payload: EncodedBuffer(bytes), isKeyFrame: isKeyFrame,
      rtpTimestamp: UInt32(truncatingIfNeeded: now.nanoseconds / 100_000 * 9), timestamp: now)
  }

  static func fill(_ bytes: inout [UInt8], index: UInt32, isKeyFrame: Bool) {
    bytes[0] = isKeyFrame ? 0x10 : 0x11
    if isKeyFrame {
      bytes.replaceSubrange(3..<10, with: [0x9D, 0x01, 0x2A, 0x40, 0x01, 0xF0, 0x00])
    }
    for place in 0..<4 { bytes[10 + place] = UInt8(truncatingIfNeeded: index >> (24 - 8 * place)) }
    for place in 14..<bytes.count {
      bytes[place] = UInt8(truncatingIfNeeded: UInt32(truncatingIfNeeded: place) &* 31 &+ index)
    }
  }

  static func read(_ buffer: EncodedBuffer) -> (index: UInt32, isIntact: Bool) {
    let bytes = buffer.bytes
    guard bytes.count >= 32 else { return (0, false) }
    let index = bytes[10..<14].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    for place in 14..<bytes.count
    where bytes[place]
      != UInt8(truncatingIfNeeded: UInt32(truncatingIfNeeded: place) &* 31 &+ index)
    {
      return (index, false)
    }
    return (index, true)
  }

  static func audio(index: UInt32, at now: Instant, size: Int = 80) -> EncodedFrame {
    // 0xFC: CELT, 20 ms, stereo (RFC 6716 §3.1).
    var bytes = [UInt8](repeating: 0x55, count: size)
    bytes[0] = 0xFC
    for place in 0..<4 { bytes[4 + place] = UInt8(truncatingIfNeeded: index >> (24 - 8 * place)) }
    return EncodedFrame(
      payload: EncodedBuffer(bytes), isKeyFrame: true, rtpTimestamp: index &* 960, timestamp: now)
  }
}

/// Two peers and a link between them, in virtual time.
final class PeerPair {
  let network: SimulatedNetwork
  let link: SimulatedLink
  /// The controlling side, and DTLS's client.
  let a: SimulatedPeer
  let b: SimulatedPeer

  init(
    seed: UInt64 = 1, _ conditions: LinkConditions = LinkConditions(delay: .milliseconds(20)),
    backward: LinkConditions? = nil, lite: Bool = false,
    estimator: BandwidthEstimatorSettings = BandwidthEstimatorSettings(),
    retention: SimulationLog.Retention = .digestOnly,
    sinks: (SimulatedNetwork) -> ((any DatagramSink)?, (any DatagramSink)?) = { _ in (nil, nil) }
  ) throws {
    network = SimulatedNetwork(seed: seed, retention: retention)
    let one = network.addHost("a", "10.0.0.1")
    let two = network.addHost("b", "10.0.0.2")
    link = network.link(one, two, forward: conditions, backward: backward ?? conditions)
    let from = TransportAddress(ip: one.addresses[0], port: 5000)
    let to = TransportAddress(ip: two.addresses[0], port: 6000)
    let wall = WallClock(unixNanoseconds: 1_700_000_000_000_000_000, at: .zero)
    var configuration = RTPSession.Configuration(cname: "pair", wallClock: wall)
    configuration.estimator.start = .init(bitsPerSecond: estimator.start)
    configuration.estimator.maximum = .init(bitsPerSecond: estimator.maximum)
    let (sinkA, sinkB) = sinks(network)
    a = try SimulatedPeer(
      network, "a", from, serial: 1, controlling: true, lite: false, session: configuration,
      sink: sinkA)
    b = try SimulatedPeer(
      network, "b", to, serial: 2, controlling: false, lite: lite, session: configuration,
      sink: sinkB)
    network.bind(a, to: from)
    network.bind(b, to: to)
  }

  deinit { network.removeAllEndpoints() }

  struct BandwidthEstimatorSettings {
    var start = 500_000
    var maximum = 5_500_000
  }

  /// Exchanges descriptions and candidates, as signaling would.
  func start(fingerprintForA: DTLSFingerprint? = nil, candidates: Bool = true) {
    let now = network.now
    let forA = a.transport.addLocalCandidate(a.address)
    let forB = b.transport.addLocalCandidate(b.address)
    a.transport.start(
      .init(
        ice: b.description.0, fingerprint: fingerprintForA ?? b.description.1, localRole: .client),
      at: now)
    b.transport.start(
      .init(ice: a.description.0, fingerprint: a.description.1, localRole: .server), at: now)
    if candidates {
      a.transport.addRemoteCandidate(forB, at: now)
      b.transport.addRemoteCandidate(forA, at: now)
    }
    a.transport.endOfRemoteCandidates(at: now)
    b.transport.endOfRemoteCandidates(at: now)
    network.deadlinesChanged()
  }

  /// Runs until both are connected; whether they are.
  func connect() -> Bool {
    start()
    return network.run(
      until: { a.transport.state == .connected && b.transport.state == .connected },
      within: .seconds(10))
  }

  var bothWritable: Bool { a.transport.isWritable && b.transport.isWritable }
}
