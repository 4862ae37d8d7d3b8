import Dispatch
import Foundation
import SoraMedia
import SoraSDP
import SoraTransport
import Synchronization

/// What other threads see of a connection: a copy of its state, its tracks, and the way to its delegate.
final class PeerConnectionMirror: Sendable {
  struct State: Sendable {
    var signaling = RTCSignalingState.stable
    var ice = RTCIceConnectionState.new
    var gathering = RTCIceGatheringState.new
    var connection = RTCPeerConnectionState.new
    var failure: PeerTransportError?
    var localStreams: [RTCMediaStream] = []
    var remoteStreams: [RTCMediaStream] = []
    var transceivers: [RTCRtpTransceiver] = []
    var localDescription: RTCSessionDescription?
    var remoteDescription: RTCSessionDescription?
    var rejectedSections: [NegotiationError.Rejected] = []
  }

  private struct Target: Sendable {
    weak var delegate: (any RTCPeerConnectionDelegate)?
    weak var connection: RTCPeerConnection?
  }

  private let storage = Mutex(State())
  private let target = Mutex(Target())
  private let queue = DispatchQueue(label: "sora.peer")

  var state: State { storage.withLock { $0 } }
  var delegate: (any RTCPeerConnectionDelegate)? { target.withLock { $0.delegate } }

  func modify(_ body: (inout sending State) -> Void) {
    storage.withLock { body(&$0) }
  }

  func setDelegate(_ delegate: (any RTCPeerConnectionDelegate)?, of connection: RTCPeerConnection) {
    target.withLock {
      $0.delegate = delegate
      $0.connection = connection
    }
  }

  func transceiver(id: Int) -> RTCRtpTransceiver? {
    storage.withLock { $0.transceivers.first { $0.id == id } }
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
    case .signalingStateChanged(let state):
      setSignaling(RTCSignalingState(state))
    case .negotiationNeeded: tell { $0.peerConnectionShouldNegotiate($1) }
    case .transportStateChanged(let state): setTransport(state)
    case .candidateGenerated(let text):
      renewLocalDescription(from: driver.core)
      tell { $0.peerConnection($1, didGenerate: RTCIceCandidate(sdp: text)) }
    case .gatheringEnded:
      renewLocalDescription(from: driver.core)
      finishGathering()
    case .serverAddressesNeeded(let name): NameResolution.resolveServer(name, actor: actor)
    case .addressNeeded(let candidate): NameResolution.resolve(candidate, actor: actor)
    case .streamAdded(let id): announceStream(id)
    case .trackAdded(let transceiver, let streamIDs):
      synchronize(with: driver.core, actor: actor)
      addTrack(of: transceiver.id, to: streamIDs)
    case .trackRemoved(let transceiver, let streamIDs):
      removeTrack(of: transceiver.id, from: streamIDs)
    case .streamRemoved(let id): removeStream(id)
    case .negotiated:
      synchronize(with: driver.core, actor: actor)
    case .targetBitrateChanged, .keyFrameWanted: break
    }
  }

  /// Makes public transceivers for new ones of the negotiator, and copies mids and directions.
  func synchronize(with core: PeerConnectionCore, actor: PeerConnectionActor) {
    for transceiver in core.negotiator.transceivers {
      let id = transceiver.id
      let known = self.transceiver(id: id)
      let face =
        known ?? RTCRtpTransceiver(transceiver, actor: actor)
      if known == nil { storage.withLock { $0.transceivers.append(face) } }
      face.update(
        mid: transceiver.mid ?? "",
        current: transceiver.isStopped
          ? .stopped : transceiver.currentDirection.map(RTCRtpTransceiverDirection.init))
      face.sender.setEncodings(rids: transceiver.sender.encodings.map(\.rid))
    }
  }

  func update(from core: PeerConnectionCore, local: String?, kind: DescriptionKind) {
    storage.withLock {
      $0.localDescription = local.map {
        RTCSessionDescription(type: kind == .offer ? .offer : .answer, sdp: $0)
      }
    }
  }

  /// Candidates that come after the description was set become part of it.
  private func renewLocalDescription(from core: PeerConnectionCore) {
    guard let sdp = core.localDescription else { return }
    storage.withLock { state in
      guard let type = state.localDescription?.type else { return }
      state.localDescription = RTCSessionDescription(type: type, sdp: sdp)
    }
  }

  func update(from core: PeerConnectionCore, remote: String, kind: DescriptionKind) {
    storage.withLock {
      $0.remoteDescription = RTCSessionDescription(
        type: kind == .offer ? .offer : .answer, sdp: remote)
      $0.rejectedSections = core.negotiator.rejectedSections
      // An offer of ours that it crossed is none of ours any more.
      if kind == .offer { $0.localDescription = core.ownDescription }
    }
  }

  /// A rollback has brought back the descriptions of before.
  func restoreDescriptions(from core: PeerConnectionCore) {
    storage.withLock {
      $0.localDescription = core.ownDescription
      $0.remoteDescription = core.othersDescription
    }
    for transceiver in core.negotiator.transceivers {
      self.transceiver(id: transceiver.id)?.sender.setEncodings(
        rids: transceiver.sender.encodings.map(\.rid))
    }
  }

  // MARK: States

  private func setSignaling(_ state: RTCSignalingState) {
    storage.withLock { $0.signaling = state }
    tell { $0.peerConnection($1, didChange: state) }
  }

  func startGathering() {
    let changed = storage.withLock { state in
      guard state.gathering == .new else { return false }
      state.gathering = .gathering
      return true
    }
    if changed { tell { $0.peerConnection($1, didChange: RTCIceGatheringState.gathering) } }
  }

  func finishGathering() {
    let changed = storage.withLock { state in
      guard state.gathering == .gathering else { return false }
      state.gathering = .complete
      return true
    }
    if changed { tell { $0.peerConnection($1, didChange: RTCIceGatheringState.complete) } }
  }

  private func setTransport(_ transport: PeerTransportState) {
    var failure: PeerTransportError?
    let (ice, connection): (RTCIceConnectionState, RTCPeerConnectionState) =
      switch transport {
      case .new: (.new, .new)
      case .connecting: (.checking, .connecting)
      case .connected: (.connected, .connected)
      case .disconnected: (.disconnected, .disconnected)
      case .failed(let error):
        {
          failure = error
          return (.failed, .failed)
        }()
      case .closed: (.closed, .closed)
      }
    set(ice: ice, connection: connection, failure: failure)
  }

  private func set(
    ice: RTCIceConnectionState, connection: RTCPeerConnectionState, failure: PeerTransportError?
  ) {
    let (iceChanged, connectionChanged) = storage.withLock { state -> (Bool, Bool) in
      guard state.connection != .closed else { return (false, false) }
      defer {
        state.ice = ice
        state.connection = connection
        if connection != .closed { state.failure = failure }
      }
      return (state.ice != ice, state.connection != connection)
    }
    if let failure, connectionChanged { tell { $0.peerConnection($1, didFailWith: failure) } }
    if iceChanged { tell { $0.peerConnection($1, didChange: ice) } }
    if connectionChanged { tell { $0.peerConnection($1, didChange: connection) } }
  }

  func close() {
    set(ice: .closed, connection: .closed, failure: nil)
    let wasOpen = storage.withLock { state in
      defer { state.signaling = .closed }
      return state.signaling != .closed
    }
    if wasOpen { tell { $0.peerConnection($1, didChange: RTCSignalingState.closed) } }
    for transceiver in state.transceivers { transceiver.receiver.track.end() }
  }

  // MARK: Streams

  private func stream(_ id: String) -> RTCMediaStream? {
    storage.withLock { $0.remoteStreams.first { $0.streamId == id } }
  }

  /// The stream with this id, made where it isn't there yet: the negotiator names tracks before their stream, so that
  /// a stream is complete when the delegate hears of it.
  private func obtainStream(_ id: String) -> RTCMediaStream {
    storage.withLock { state in
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
    guard let transceiver = transceiver(id: id) else { return }
    for stream in streamIDs.compactMap(stream) {
      if let track = transceiver.receiver.track as? RTCAudioTrack { stream.removeAudioTrack(track) }
      if let track = transceiver.receiver.track as? RTCVideoTrack { stream.removeVideoTrack(track) }
    }
  }

  private func removeStream(_ id: String) {
    guard let stream = stream(id) else { return }
    storage.withLock { $0.remoteStreams.removeAll { $0 === stream } }
    tell { $0.peerConnection($1, didRemove: stream) }
  }
}

extension PeerConnectionCore {
  /// Our description in force or under way, as the public surface has it.
  fileprivate var ownDescription: RTCSessionDescription? {
    guard let sdp = localDescription else { return nil }
    let isOffer = negotiator.pendingLocal != nil || negotiator.currentLocalIsOffer
    return RTCSessionDescription(type: isOffer ? .offer : .answer, sdp: sdp)
  }

  fileprivate var othersDescription: RTCSessionDescription? {
    guard let sdp = remoteDescription else { return nil }
    let isOffer = negotiator.pendingRemote != nil || !negotiator.currentLocalIsOffer
    return RTCSessionDescription(type: isOffer ? .offer : .answer, sdp: sdp)
  }
}
