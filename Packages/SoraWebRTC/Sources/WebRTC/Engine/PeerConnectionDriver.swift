import SoraDTLS
import SoraICE
import SoraMedia
import SoraRTP
import SoraTransport

/// Drives a `PeerConnectionCore` with sockets and a timer of one network loop, and carries frames between it and the
/// codecs' pipelines. Confined to that loop.
final class PeerConnectionDriver {
  let loop: NetworkLoop
  let core: PeerConnectionCore
  var media: MediaPipelines
  /// Told of everything that isn't media; on the loop.
  var onEvent: ((PeerConnectionEvent) -> Void)?

  private let sockets = UDPSocketSet()
  private var addresses: [TransportAddress] = []
  private var timer: LoopTimer?
  private let settings: RTCSettings
  private var isClosed = false
  /// When sound is next fitted to the network.
  private var nextAudioFit = Instant.zero

  init(
    loop: NetworkLoop, configuration: PeerConnectionCore.Configuration, settings: RTCSettings,
    random: RandomSource, media: MediaPipelines
  ) {
    self.loop = loop
    self.settings = settings
    self.media = media
    core = PeerConnectionCore(configuration: configuration, random: random, sink: sockets)
    core.delegate = self
    timer = loop.makeTimer { [weak self] now in self?.turn(at: now) }
  }

  /// Opens a socket on every address that the settings allow, once, and returns their addresses.
  func openSockets() throws(NetworkError) -> [TransportAddress] {
    if addresses.isEmpty {
      for address in try localAddresses() {
        // An address that can't be bound (an interface that just went down) costs a candidate, not the call.
        if let socket = try? loop.openUDP(TransportAddress(ip: address, port: 0), handler: self) {
          sockets.insert(socket)
          addresses.append(socket.localAddress)
        }
      }
    }
    return addresses
  }

  private func localAddresses() throws(NetworkError) -> [IPAddress] {
    guard settings.localAddresses.isEmpty else {
      return settings.localAddresses.compactMap { IPAddress($0) }
    }
    return try NetworkLoop.hostAddresses().filter { address in
      (settings.gathersLoopback || !address.isLoopback)
        && (settings.gathersIPv6 || address.ip.isV4)
    }.map(\.ip)
  }

  /// Runs `body` on the core, and then whatever became due.
  func perform<Result, Failure: Error>(
    _ body: (PeerConnectionCore, Instant) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    let now = loop.now
    defer { reschedule() }
    return try body(core, now)
  }

  /// Ends the connection and gives back sockets and codecs.
  func close() {
    guard !isClosed else { return }
    isClosed = true
    core.close(at: loop.now)
    media.stopAll()
    timer?.cancel()
    timer = nil
    // The farewell (BYE, close_notify) leaves with the end of this turn; the sockets close in the next.
    let sockets = LoopBound(sockets, loop: loop)
    loop.execute { sockets.value.close() }
  }

  private func turn(at now: Instant) {
    guard !isClosed else { return }
    core.poll(at: now)
    if now >= nextAudioFit {
      nextAudioFit = now + .seconds(1)
      fitAudio(at: now)
    }
    reschedule()
  }

  private func reschedule() { timer?.deadline = core.nextDeadline }
}

extension PeerConnectionDriver: DatagramHandler {
  func received(
    _ bytes: UnsafeMutableRawBufferPointer, from source: TransportAddress, on socket: UDPSocket,
    at now: Instant
  ) {
    core.receive(bytes, from: source, on: socket.localAddress, at: now)
  }

  func batchEnded(at now: Instant) { turn(at: now) }
}

extension PeerConnectionDriver: PeerConnectionCoreDelegate {
  func core(_ core: PeerConnectionCore, event: PeerConnectionEvent, at now: Instant) {
    switch event {
    case .negotiated:
      applyBitrates()
      applyMedia()
    case .transportStateChanged(.connected):
      // Encoders start at the estimate, not at the most that the receiver allows.
      applyBitrates()
      media.apply(core.media, isConnected: true)
    case .transportStateChanged(.failed): media.stopAll()
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
    media.decode(frame, codec: codec, transceiverID: transceiverID)
  }

  func core(
    _ core: PeerConnectionCore, receivedAudio payload: UnsafeRawBufferPointer, header: RTPHeader,
    transceiverID: Int, at now: Instant
  ) {
    media.decode(payload, header, transceiverID: transceiverID, at: now)
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
