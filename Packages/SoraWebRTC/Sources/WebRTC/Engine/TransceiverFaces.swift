import SoraMedia
import SoraSDP
import SoraTransport

// Between the negotiator's transceivers and their public faces.

extension RTCRtpTransceiver {
  /// The face of a transceiver. What the application sets goes to the negotiator on the loop, in order.
  convenience init(_ transceiver: JSEPTransceiver, actor: PeerConnectionActor) {
    let id = transceiver.id
    let senderBox = WeakSender()
    let sender = RTCRtpSender(
      senderId: "sender-\(id)",
      changed: {
        guard let sender = senderBox.sender else { return }
        let track = sender.track
        let streamIds = sender.streamIds
        actor.execute { driver in driver.attach(track, streamIds: streamIds, transceiverID: id) }
      },
      parametersChanged: {
        guard let sender = senderBox.sender else { return }
        // The newest: a description may have named other encodings since.
        actor.execute { driver in driver.setParameters(sender.parameters, transceiverID: id) }
      })
    senderBox.sender = sender
    let trackID = transceiver.receiver.trackID
    let track: RTCMediaStreamTrack =
      transceiver.kind == .audio
      ? RTCAudioTrack(source: RTCAudioSource(), trackId: trackID)
      : RTCVideoTrack(source: RTCVideoSource(), trackId: trackID)
    self.init(
      id: id, kind: transceiver.kind, direction: RTCRtpTransceiverDirection(transceiver.direction),
      sender: sender, receiver: RTCRtpReceiver(receiverId: "receiver-\(id)", track: track),
      directionChanged: { direction in
        actor.execute { driver in driver.setDirection(direction, transceiverID: id) }
      })
  }
}

/// Lets a sender's closure find the sender without keeping it alive.
private final class WeakSender: @unchecked Sendable {
  // @unchecked: set once, before the closure can run.
  weak var sender: RTCRtpSender?
}

extension PeerConnectionDriver {
  /// Gives a transceiver's sender a track, or takes it away; pipelines follow at once where it was negotiated.
  func attach(_ track: RTCMediaStreamTrack?, streamIds: [String], transceiverID id: Int) {
    guard let transceiver = core.negotiator.transceivers.first(where: { $0.id == id }) else {
      return
    }
    if let track {
      core.negotiator.setTrack(of: transceiver, track.trackId, streamIDs: streamIds)
    } else {
      core.negotiator.removeTrack(of: transceiver)
    }
    core.updateNegotiationNeeded(at: loop.now)
    applyMedia()
  }

  /// Lets the pipelines follow what was negotiated and what the senders' parameters say.
  func applyMedia() { media.apply(core.media, isConnected: core.transport.isWritable) }

  /// Has a transceiver's encodings sent as its sender's parameters say; the next description tells which are paused.
  func setParameters(_ parameters: RTCRtpParameters, transceiverID id: Int) {
    guard let transceiver = core.negotiator.transceivers.first(where: { $0.id == id }) else {
      return
    }
    for encoding in parameters.encodings {
      transceiver.setEncoding(rid: encoding.rid, isActive: encoding.isActive)
    }
    applyMedia()
  }

  func setDirection(_ direction: RTCRtpTransceiverDirection, transceiverID id: Int) {
    guard let transceiver = core.negotiator.transceivers.first(where: { $0.id == id }) else {
      return
    }
    if direction == .stopped {
      core.negotiator.stop(transceiver)
    } else {
      transceiver.direction = MediaDirection(direction)
    }
    core.updateNegotiationNeeded(at: loop.now)
  }
}

extension MediaDirection {
  init(_ direction: RTCRtpTransceiverDirection) {
    switch direction {
    case .sendRecv: self = .sendrecv
    case .sendOnly: self = .sendonly
    case .recvOnly: self = .recvonly
    case .inactive, .stopped: self = .inactive
    }
  }
}

extension RTCRtpTransceiverDirection {
  init(_ direction: MediaDirection) {
    switch direction {
    case .sendrecv: self = .sendRecv
    case .sendonly: self = .sendOnly
    case .recvonly: self = .recvOnly
    case .inactive: self = .inactive
    }
  }
}

extension RTCSignalingState {
  init(_ state: SignalingState) {
    switch state {
    case .stable: self = .stable
    case .haveLocalOffer: self = .haveLocalOffer
    case .haveRemoteOffer: self = .haveRemoteOffer
    case .closed: self = .closed
    }
  }
}
