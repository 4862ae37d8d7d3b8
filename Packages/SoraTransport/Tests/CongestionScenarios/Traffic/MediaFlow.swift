import SoraCongestion
import SoraMedia
import SoraNetworkSimulator
import SoraRTP
import SoraTransport
import SoraWire

/// One way of a call: video that follows its target rate and audio that doesn't, over real sessions and transports with the stand-in
/// for DTLS. Confined to the network's thread.
final class MediaFlow: RTPSessionDelegate {
  /// What is sent.
  struct Source: Sendable, Equatable {
    /// RFC 8867 §4.3: video of 150 kbit/s to 1.5 Mbit/s, audio of 64 kbit/s.
    var minimumVideo = 150_000
    var maximumVideo = 1_500_000
    var audio = 64_000

    /// The most that it takes on the wire, headers included, bits per second.
    var mostOnWire: Double {
      // Full packets have some 1,130 bytes of content and 80 of headers, audio has 50 packets per second.
      Double(maximumVideo) * 1.07 + Double(audio) + 50 * 72 * 8
    }
  }

  let sender: SimulatedTransportPeer
  let receiver: SimulatedTransportPeer
  private(set) var framesReceived = 0
  /// Whether the source gives anything.
  var isPaused = false
  private let network: SimulatedNetwork
  private let source: Source
  private let video: RTPSendStream
  private let audio: RTPSendStream
  private var encoder: EncoderModel
  private var allocator = BandwidthAllocator()
  private var shares: [BandwidthAllocator.Share] = []
  private var target: Int
  private var wantsKeyFrame = true
  private var timers: [SimulationCallback] = []

  /// - Parameters:
  ///   - serial: of the ends' certificates, which take two.
  ///   - ecn: what packets leave as, and are reported by source; nil for reports by transport-wide numbers.
  init(
    _ network: SimulatedNetwork, from: SimulatedHost, to: SimulatedHost, serial: UInt64,
    source: Source, ecn: ECNCodepoint?
  ) throws {
    self.network = network
    self.source = source
    encoder = EncoderModel(random: network.random.fork())
    sender = try SimulatedTransportPeer(
      network, on: from, serial: 2 * serial, isControlling: true)
    receiver = try SimulatedTransportPeer(
      network, on: to, serial: 2 * serial + 1, isControlling: false)
    let session = Self.session(of: sender, network, ecn)
    sender.session = session
    receiver.session = Self.session(of: receiver, network, ecn)
    let streams = Streams(feedback: ecn == nil ? .transportWide : .bySource)
    target = session.estimatedBitrate
    guard let video = session.addSendStream(streams.video),
      let audio = session.addSendStream(streams.audio)
    else { preconditionFailure("VP8 and Opus have payload formats") }
    self.video = video
    self.audio = audio
    session.delegate = self
    receiver.session?.delegate = self
    receiver.session?.setReceiveSections(streams.sections, at: network.now)
  }

  private static func session(
    of peer: SimulatedTransportPeer, _ network: SimulatedNetwork, _ ecn: ECNCodepoint?
  ) -> RTPSession {
    RTPSession(
      configuration: RTPSession.Configuration(
        cname: peer.name,
        wallClock: WallClock(unixNanoseconds: 1_700_000_000_000_000_000, at: .zero),
        ecn: ecn ?? .notECT),
      random: network.random.fork(), output: peer.transport)
  }

  /// What the sender believes that the network takes, bits per second.
  var estimate: Int { sender.session?.estimatedBitrate ?? 0 }

  /// Connects, and sends from then on.
  func start() {
    // As `SendBandwidth` of the WebRTC module has it.
    sender.session?.setMaximumBitrate(
      (source.maximumVideo + 128_000) * 6 / 5, at: network.now)
    sender.connect(with: receiver)
    timers.append(
      network.every(.nanoseconds(1_000_000_000 / Int64(EncoderModel.framesPerSecond))) {
        [weak self] now in self?.sendVideo(at: now)
      })
    timers.append(
      network.every(.milliseconds(20)) { [weak self] now in self?.sendAudio(at: now) })
  }

  /// Sends nothing any more. The connection stays.
  func stop() {
    for timer in timers { network.cancel(timer) }
    timers = []
  }

  private var isSending: Bool { sender.transport.isWritable && !isPaused }

  private func sendVideo(at now: Instant) {
    guard isSending else { return }
    allocator.allocate(
      Bitrate(bitsPerSecond: target),
      among: [
        .init(
          id: 0, kind: .audio,
          demand: .range(minimum: .zero, maximum: Bitrate(bitsPerSecond: source.audio))),
        .init(
          id: 1, kind: .video,
          demand: .range(
            minimum: Bitrate(bitsPerSecond: source.minimumVideo),
            maximum: Bitrate(bitsPerSecond: source.maximumVideo))),
      ], at: now, into: &shares)
    let size = encoder.next(Double(shares[1].rate.bitsPerSecond), isKeyFrame: wantsKeyFrame)
    var bytes = [UInt8](repeating: 0, count: size)
    // What VP8 looks like from outside (RFC 6386 §9.1).
    bytes[0] = wantsKeyFrame ? 0x10 : 0x11
    if wantsKeyFrame {
      bytes.replaceSubrange(3..<10, with: [0x9D, 0x01, 0x2A, 0x80, 0x02, 0x68, 0x01])
    }
    let frame = EncodedFrame(
      payload: EncodedBuffer(bytes), isKeyFrame: wantsKeyFrame,
      rtpTimestamp: UInt32(truncatingIfNeeded: now.microseconds * 9 / 100), timestamp: now)
    wantsKeyFrame = false
    sender.session?.send(frame, on: video, at: now)
  }

  private func sendAudio(at now: Instant) {
    guard isSending else { return }
    let frame = EncodedFrame(
      payload: EncodedBuffer([UInt8](repeating: 0xFC, count: source.audio / 8 / 50)),
      isKeyFrame: true, rtpTimestamp: UInt32(truncatingIfNeeded: now.microseconds * 48 / 1000),
      timestamp: now)
    sender.session?.send(frame, on: audio, at: now)
  }

  // MARK: RTPSessionDelegate

  func session(
    _ session: RTPSession, received frame: EncodedFrame, on stream: RTPReceiveStream,
    at now: Instant
  ) {
    framesReceived += 1
  }

  func session(
    _ session: RTPSession, receivedAudio payload: UnsafeRawBufferPointer, header: RTPHeader,
    on stream: RTPReceiveStream, at now: Instant
  ) {}

  func session(_ session: RTPSession, wantsKeyFrameOn stream: RTPSendStream, at now: Instant) {
    wantsKeyFrame = true
  }

  func session(_ session: RTPSession, changedTargetBitrate bitsPerSecond: Int, at now: Instant) {
    if session === sender.session { target = bitsPerSecond }
  }
}

/// What both ends have negotiated.
private struct Streams {
  private(set) var video = RTPSendParameters(
    mid: "1", kind: .video, ssrc: 1000, payloadType: 96, codecName: "VP8", clockRate: 90_000,
    rtx: (1001, 97), extensions: extensions)
  private(set) var audio = RTPSendParameters(
    mid: "0", kind: .audio, ssrc: 2000, payloadType: 111, codecName: "opus", clockRate: 48_000,
    extensions: extensions, acceptsNack: false)
  private(set) var sections = [
    RTPReceiveParameters(
      mid: "0", kind: .audio, payloads: [.init(type: 111, codecName: "opus", clockRate: 48_000)],
      extensions: extensions, sendsNack: false),
    RTPReceiveParameters(
      mid: "1", kind: .video,
      payloads: [
        .init(type: 96, codecName: "VP8", clockRate: 90_000),
        .init(type: 97, codecName: "rtx", clockRate: 90_000, associatedType: 96),
      ],
      extensions: extensions),
  ]

  init(feedback: CongestionFeedbackKind) {
    video.feedback = feedback
    audio.feedback = feedback
    for index in sections.indices { sections[index].feedback = feedback }
  }

  private static var extensions: RTPHeaderExtensionMap {
    var map = RTPHeaderExtensionMap()
    map.mid = 1
    map.absSendTime = 2
    map.transportSequenceNumber = 4
    return map
  }
}
