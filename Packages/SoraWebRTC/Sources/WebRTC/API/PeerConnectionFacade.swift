import Dispatch
import SoraDataChannel
import SoraICE
import SoraMedia
import SoraTransport
import Synchronization

/// What other threads see of a connection: the core's last snapshot, the objects that stand for its transceivers and streams, and the
/// way to the delegate.
final class PeerConnectionFacade: Sendable {
  private struct State: Sendable {
    var snapshot = PeerConnectionSnapshot()
    /// Set by `close` before the loop has heard of it; nothing changes after that.
    var isClosed = false
    var transceivers: [RTCRtpTransceiver] = []
    /// Those that have stopped and are still to be taken out of their streams.
    var stopped: [RTCRtpTransceiver] = []
    var localStreams: [RTCMediaStream] = []
    var remoteStreams: [RTCMediaStream] = []
  }

  private struct Target: Sendable {
    weak var delegate: (any RTCPeerConnectionDelegate)?
    weak var connection: RTCPeerConnection?
  }

  private let state = Mutex(State())
  private let target = Mutex(Target())
  private let queue = DispatchQueue(label: "sora.peer")
  /// Messages of data channels that the app hasn't taken.
  let backlog = DataBacklog()

  // MARK: From any thread

  var snapshot: PeerConnectionSnapshot { state.withLock { $0.snapshot } }
  var transceivers: [RTCRtpTransceiver] { state.withLock { $0.transceivers } }
  var localStreams: [RTCMediaStream] { state.withLock { $0.localStreams } }
  var remoteStreams: [RTCMediaStream] { state.withLock { $0.remoteStreams } }
  var delegate: (any RTCPeerConnectionDelegate)? { target.withLock { $0.delegate } }

  func setDelegate(_ delegate: (any RTCPeerConnectionDelegate)?, of connection: RTCPeerConnection) {
    target.withLock {
      $0.delegate = delegate
      $0.connection = connection
    }
  }

  func transceiver(id: Int) -> RTCRtpTransceiver? {
    state.withLock { state in
      state.transceivers.first { $0.id == id } ?? state.stopped.first { $0.id == id }
    }
  }

  func addLocal(_ stream: RTCMediaStream) { state.withLock { $0.localStreams.append(stream) } }
  func removeLocal(_ stream: RTCMediaStream) {
    state.withLock { $0.localStreams.removeAll { $0 === stream } }
  }

  /// Shows the connection as closed at once (W3C webrtc §4.4.2, `close`); the loop ends it a little later.
  func close() {
    let before = state.withLock { state -> PeerConnectionSnapshot.States? in
      guard !state.isClosed else { return nil }
      defer {
        state.isClosed = true
        state.snapshot.states.signaling = .closed
        state.snapshot.states.ice = .closed
        state.snapshot.states.dtls = .closed
        state.snapshot.states.connection = .closed
      }
      return state.snapshot.states
    }
    guard let before else { return }
    if before.ice != .closed {
      tell { $0.peerConnection($1, didChange: RTCIceConnectionState.closed) }
    }
    if before.connection != .closed {
      tell { $0.peerConnection($1, didChange: RTCPeerConnectionState.closed) }
    }
    if before.signaling != .closed {
      tell { $0.peerConnection($1, didChange: RTCSignalingState.closed) }
    }
    for transceiver in transceivers {
      transceiver.receiver.track.end()
      transceiver.sender.dtmfSender?.setCanInsert(false)
    }
  }

  /// Calls the delegate on the connection's queue.
  private func tell(
    _ body: @escaping @Sendable (any RTCPeerConnectionDelegate, RTCPeerConnection) -> Void
  ) {
    queue.async {
      let target = self.target.withLock { $0 }
      guard let delegate = target.delegate, let connection = target.connection else { return }
      body(delegate, connection)
    }
  }

  // MARK: Events of the core; on the loop

  func handle(
    _ event: PeerConnectionEvent, driver: PeerConnectionDriver, actor: PeerConnectionActor
  ) {
    switch event {
    case .updated(let snapshot): adopt(snapshot, driver: driver, actor: actor)
    case .streamAdded(let id): announceStream(id)
    case .trackAdded(let id, let streamIDs): addTrack(of: id, to: streamIDs)
    case .trackRemoved(let id, let streamIDs): removeTrack(of: id, from: streamIDs)
    case .streamRemoved(let id): removeStream(id)
    case .negotiationNeeded: tell { $0.peerConnectionShouldNegotiate($1) }
    case .candidateGenerated(let text):
      tell { $0.peerConnection($1, didGenerate: RTCIceCandidate(sdp: text)) }
    case .remoteCandidateUnusable(let error):
      tell { $0.peerConnection($1, didIgnoreRemoteCandidate: error) }
    case .signalingStateChanged, .gatheringStateChanged, .iceStateChanged, .connectionStateChanged:
      guard !state.withLock({ $0.isClosed }) else { return }
      tellState(event)
    case .negotiated(let sections):
      for transceiver in transceivers {
        let send = sections.first { $0.transceiverID == transceiver.id }?.send
        transceiver.sender.dtmfSender?.setCanInsert(send?.telephoneEvents != nil)
      }
    case .keyReceived(let event, let id):
      guard let track = transceiver(id: id)?.receiver.track as? RTCAudioTrack else { return }
      queue.async { track.onDtmf?(event) }
    case .keyPlayed(let key, let remaining, let id):
      guard let sender = transceiver(id: id)?.sender.dtmfSender else { return }
      sender.setRemaining(remaining)
      queue.async { sender.onToneChange?(key.map { String($0) } ?? "") }
    case .dtlsStateChanged, .transportStateChanged, .serverAddressesNeeded, .addressNeeded,
      .targetBitrateChanged, .keyFrameWanted:
      break
    }
  }

  /// A pipeline of a transceiver's can't be made.
  func mediaFailed(_ failure: MediaFailure, transceiverID id: Int) {
    guard let transceiver = transceiver(id: id) else { return }
    tell { $0.peerConnection($1, transceiver: transceiver, didFailWith: failure) }
  }

  private func tellState(_ event: PeerConnectionEvent) {
    switch event {
    case .signalingStateChanged(let state):
      tell { $0.peerConnection($1, didChange: RTCSignalingState(state)) }
    case .gatheringStateChanged(let state):
      tell { $0.peerConnection($1, didChange: RTCIceGatheringState(state)) }
    case .iceStateChanged(let state):
      tell { $0.peerConnection($1, didChange: RTCIceConnectionState(state)) }
    case .connectionStateChanged(let state, let failure):
      if let failure { tell { $0.peerConnection($1, didFailWith: failure) } }
      tell { $0.peerConnection($1, didChange: RTCPeerConnectionState(state)) }
    default: break
    }
  }

  /// Keeps a snapshot, and has an object for each of its transceivers.
  private func adopt(
    _ snapshot: PeerConnectionSnapshot, driver: PeerConnectionDriver, actor: PeerConnectionActor
  ) {
    let known = transceivers
    let current = snapshot.transceivers.map { value in
      let object =
        known.first { $0.id == value.id } ?? RTCRtpTransceiver(value, driver: driver, actor: actor)
      object.update(
        mid: value.mid ?? "", current: value.currentDirection.map(RTCRtpTransceiverDirection.init))
      if let parameters = object.sender.setEncodings(rids: value.sender.encodings.map(\.rid)) {
        driver.media.setParameters(parameters, transceiverID: value.id)
      }
      return object
    }
    let gone = known.filter { old in !current.contains { $0 === old } }
    for transceiver in gone {
      transceiver.update(mid: "", current: .stopped)
      transceiver.receiver.track.end()
      transceiver.sender.dtmfSender?.setCanInsert(false)
      driver.media.forget(transceiverID: transceiver.id)
    }
    state.withLock { state in
      state.transceivers = current
      state.stopped = (state.stopped + gone).filter { old in
        state.remoteStreams.contains { $0.holds(old.receiver.track) }
      }
      if !state.isClosed { state.snapshot = snapshot }
    }
  }

  // MARK: Data channels

  /// Makes the object of a data channel.
  func makeChannel(
    _ parameters: DataChannelParameters, stream: UInt16?, isNegotiated: Bool,
    readyState: RTCDataChannelState, actor: PeerConnectionActor
  ) -> RTCDataChannel {
    let queue = queue
    return RTCDataChannel(
      parameters, stream: stream, isNegotiated: isNegotiated, readyState: readyState, actor: actor,
      backlog: backlog
    ) { body in queue.async(execute: body) }
  }

  /// The other side has opened a channel.
  func announceChannel(
    _ parameters: DataChannelParameters, stream: UInt16, actor: PeerConnectionActor
  ) -> RTCDataChannel {
    let channel = makeChannel(
      parameters, stream: stream, isNegotiated: false, readyState: .open, actor: actor)
    tell { $0.peerConnection($1, didOpen: channel) }
    return channel
  }

  // MARK: Streams

  private func stream(_ id: String) -> RTCMediaStream? {
    state.withLock { $0.remoteStreams.first { $0.streamId == id } }
  }

  /// The stream with this id, made where it isn't there yet: the negotiator names tracks before their stream, so that
  /// a stream is complete when the delegate hears of it.
  private func obtainStream(_ id: String) -> RTCMediaStream {
    state.withLock { state in
      if let stream = state.remoteStreams.first(where: { $0.streamId == id }) { return stream }
      let stream = RTCMediaStream(streamId: id)
      state.remoteStreams.append(stream)
      return stream
    }
  }

  private func announceStream(_ id: String) {
    let stream = obtainStream(id)
    tell { $0.peerConnection($1, didAdd: stream) }
  }

  private func addTrack(of id: Int, to streamIDs: [String]) {
    guard let transceiver = transceiver(id: id) else { return }
    for stream in streamIDs.map(obtainStream) {
      if let track = transceiver.receiver.track as? RTCAudioTrack { stream.addAudioTrack(track) }
      if let track = transceiver.receiver.track as? RTCVideoTrack { stream.addVideoTrack(track) }
    }
    tell { $0.peerConnection($1, didStartReceivingOn: transceiver) }
  }

  private func removeTrack(of id: Int, from streamIDs: [String]) {
    let streams = streamIDs.compactMap(stream)
    guard let track = transceiver(id: id)?.receiver.track else { return }
    for stream in streams {
      if let track = track as? RTCAudioTrack { stream.removeAudioTrack(track) }
      if let track = track as? RTCVideoTrack { stream.removeVideoTrack(track) }
    }
  }

  private func removeStream(_ id: String) {
    guard let stream = stream(id) else { return }
    state.withLock { $0.remoteStreams.removeAll { $0 === stream } }
    tell { $0.peerConnection($1, didRemove: stream) }
  }
}
