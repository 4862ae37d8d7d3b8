import SoraDTLS
import SoraDataChannel
import SoraICE
import SoraMedia
import SoraRTP
import SoraTransport

/// Drives a `PeerConnectionCore` with sockets and a timer of one network loop, and carries frames between it and the
/// codecs' pipelines. Confined to that loop.
final class PeerConnectionDriver {
  let loop: NetworkLoop
  let core: PeerConnectionCore
  let media: MediaPipelines
  let data: DataChannelHub
  /// Told of everything that isn't media; on the loop.
  var onEvent: ((PeerConnectionEvent) -> Void)?

  let localSockets: LocalSockets
  private var timer: LoopTimer?
  let settings: RTCSettings
  private(set) var isClosed = false
  /// When audio is next fitted to the network.
  private var nextAudioFit = Instant.zero
  private var lipSync = LipSync()
  let bandwidthWatch = BandwidthWatch()
  private let streams: ICEStreamSet?

  init(
    loop: NetworkLoop, configuration: PeerConnectionCore.Configuration, settings: RTCSettings,
    random: RandomSource, media: MediaPipelines, backlog: DataBacklog
  ) {
    self.loop = loop
    self.settings = settings
    self.media = media
    let localSockets = LocalSockets(loop: loop, settings: settings)
    self.localSockets = localSockets
    core = PeerConnectionCore(
      configuration: configuration, random: random, sink: localSockets.sockets)
    data = DataChannelHub(core: core, backlog: backlog) { loop.now }
    streams = settings.streamConnector.map { ICEStreamSet(loop: loop, connector: $0) }
    core.delegate = self
    core.transport.streams = streams
    streams?.onEvent = { [unowned self] stream, event, now in
      received(event, on: stream, at: now)
    }
    timer = loop.makeTimer { [weak self] now in self?.advance(to: now) }
  }

  /// Opens a socket on every address that the settings allow, once, and returns their addresses. From then on those of the host are
  /// followed.
  ///
  /// - Throws: where there are addresses, and not one can be bound.
  func openSockets() throws(RTCSetupError) -> [TransportAddress] {
    localSockets.follow { [weak self] change in
      self?.perform { core, now in
        switch change {
        case .opened(let address): core.transport.addBase(address, at: now)
        case .closed(let address): core.transport.removeBase(address, at: now)
        }
      }
    }
    return try localSockets.open(handler: self)
  }

  /// Runs `body` on the core, and then whatever became due.
  func perform<Result, Failure: Error>(
    _ body: (PeerConnectionCore, Instant) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let now = loop.now
    defer { reschedule() }
    return try body(core, now)
  }

  /// Lets the pipelines follow what was negotiated and what the senders' parameters say.
  func applyMedia() { media.apply(core.media, isConnected: core.transport.isWritable) }

  /// Asks the sender of a transceiver's received video for a key frame.
  func requestKeyFrame(transceiverID id: Int) {
    perform { core, now in core.requestKeyFrame(transceiverID: id, at: now) }
  }

  /// Ends the connection and gives back sockets and codecs.
  func close() {
    guard !isClosed else { return }
    isClosed = true
    core.close(at: loop.now)
    data.end()
    bandwidthWatch.end()
    media.stopAll()
    timer?.cancel()
    timer = nil
    localSockets.stopFollowing()
    streams?.close()
    // BYE and close_notify leave with the end of this event-loop iteration; the sockets close in the next.
    let sockets = LoopBound(localSockets.sockets, loop: loop)
    loop.execute { sockets.value.close() }
  }

  private func advance(to now: Instant) {
    guard !isClosed else { return }
    core.poll(at: now)
    data.update(at: now)
    if now >= nextAudioFit {
      nextAudioFit = now + .seconds(1)
      fitAudio(at: now)
    }
    lipSync.update(core, media, at: now)
    bandwidthWatch.update(core, media, at: now)
    reschedule()
  }

  private func received(_ event: ICEStreamEvent, on stream: Int, at now: Instant) {
    guard !isClosed else { return }
    switch event {
    case .opened: core.transport.streamOpened(stream, at: now)
    case .received(let bytes):
      unsafe bytes.withUnsafeBytes { unsafe core.transport.streamReceived(stream, $0, at: now) }
    case .ended(let reason): core.transport.streamEnded(stream, reason: reason, at: now)
    }
    reschedule()
  }

  func reschedule() { timer?.deadline = core.nextDeadline }
}

extension PeerConnectionDriver: DatagramHandler {
  func received(
    _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress, on socket: UDPSocket,
    at now: Instant
  ) {
    unsafe core.receive(
      bytes, from: source, on: socket.localAddress, ecn: socket.receivedECN, at: now)
  }

  func batchEnded(at now: Instant) { advance(to: now) }
}

extension PeerConnectionDriver: PeerConnectionCoreDelegate {
  func core(_ core: PeerConnectionCore, event: PeerConnectionEvent, at now: Instant) {
    switch event {
    case .negotiated(let sections):
      applyBitrates()
      media.apply(sections, isConnected: core.transport.isWritable)
    case .transportStateChanged(.connected):
      // Encoders start at the estimate, not at the most that the receiver allows.
      applyBitrates()
      media.apply(core.media, isConnected: true)
    case .transportStateChanged(.failed(let error)):
      // What is received may go on after a restart; nothing is encoded for nobody.
      media.apply(error.isRecoverable ? core.media : [], isConnected: false)
    case .keyFrameWanted(let id): media.requestKeyFrame(transceiverID: id)
    case .targetBitrateChanged: applyBitrates()
    default: break
    }
    onEvent?(event)
  }

  func core(
    _ core: PeerConnectionCore, receivedVideo frame: EncodedFrame, codec: String,
    transceiverID: Int, at now: Instant
  ) {
    if let tap = media.encodedTap(transceiverID: transceiverID),
      let codec = MediaCodec(encodingName: codec)
    {
      tap.push(
        EncodedTrackFrame(
          codec: codec, frame: frame,
          captureTime: core.captureTime(of: frame.rtpTimestamp, transceiverID: transceiverID),
          receiveTime: now))
    }
    media.decode(frame, codec: codec, transceiverID: transceiverID)
  }

  func core(
    _ core: PeerConnectionCore, receivedAudio payload: UnsafeRawBufferPointer, header: RTPHeader,
    transceiverID: Int, at now: Instant
  ) {
    if media.isOpus(header.payloadType, transceiverID: transceiverID),
      let tap = media.encodedTap(transceiverID: transceiverID)
    {
      let packets = unsafe media.opusPackets(in: payload, header, transceiverID: transceiverID)
      for (timestamp, packet) in packets {
        tap.push(
          EncodedTrackFrame(
            codec: .opus,
            frame: EncodedFrame(
              payload: packet, isKeyFrame: true, rtpTimestamp: timestamp, timestamp: now),
            captureTime: core.captureTime(of: timestamp, transceiverID: transceiverID),
            receiveTime: now))
      }
    }
    unsafe media.decode(payload, header, transceiverID: transceiverID, at: now)
  }

  func core(_ core: PeerConnectionCore, data event: DataChannelEvent, at now: Instant) {
    data.handle(event)
  }

  private func fitAudio(at now: Instant) {
    for section in core.media where section.kind == .audio && section.send != nil {
      guard let network = core.audioNetwork(transceiverID: section.transceiverID) else { continue }
      media.setAudioNetwork(network, transceiverID: section.transceiverID, at: now)
    }
  }

  private func applyBitrates() {
    for section in core.media where section.kind == .video && section.send != nil {
      media.setBitrate(
        core.videoBitrate(transceiverID: section.transceiverID),
        transceiverID: section.transceiverID)
    }
  }
}
