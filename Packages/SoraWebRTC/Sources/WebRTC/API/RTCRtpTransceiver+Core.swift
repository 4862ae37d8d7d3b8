import SoraMedia
import SoraSDP
import SoraTransport

// From the core's transceivers to the objects that stand for them, and back.

extension RTCRtpTransceiver {
  /// The object for a transceiver of the core's. What the application sets goes there on the loop, in order. Call it on the loop.
  convenience init(
    _ transceiver: PeerConnectionSnapshot.Transceiver, driver: PeerConnectionDriver,
    actor: PeerConnectionActor
  ) {
    let id = transceiver.id
    let senderBox = WeakBox<RTCRtpSender>()
    let sender = RTCRtpSender(
      senderId: "sender-\(id)",
      changed: {
        guard let sender = senderBox.object else { return }
        let track = sender.track
        let streamIds = sender.streamIds
        actor.execute { driver in driver.attach(track, streamIds: streamIds, transceiverID: id) }
      },
      parametersChanged: {
        guard let sender = senderBox.object else { return }
        // The newest: a description may have named other encodings since.
        actor.execute { driver in driver.setParameters(sender.parameters, transceiverID: id) }
      },
      dtmfSender: transceiver.kind == .audio
        ? RTCDtmfSender { keys, duration, gap in
          actor.execute { driver in
            driver.play(keys, duration: duration, gap: gap, transceiverID: id)
          }
        } : nil)
    senderBox.object = sender
    let trackID = transceiver.receiver.trackID
    let track: RTCMediaStreamTrack =
      transceiver.kind == .audio
      ? RTCAudioTrack(source: RTCAudioSource(), trackId: trackID)
      : RTCVideoTrack(source: RTCVideoSource(), trackId: trackID)
    driver.media.setReceivedTrack(track, transceiverID: id)
    track.encodedTap.onKeyFrameNeeded {
      actor.execute { driver in driver.requestKeyFrame(transceiverID: id) }
    }
    let receiverBox = WeakBox<RTCRtpReceiver>()
    let receiver = RTCRtpReceiver(
      receiverId: "receiver-\(id)", track: track,
      jitterBufferTarget: driver.settings.jitterBufferTarget,
      targetChanged: {
        guard let receiver = receiverBox.object else { return }
        actor.execute { driver in
          driver.media.setJitterBufferTarget(receiver.jitterBufferTarget, transceiverID: id)
        }
      })
    receiverBox.object = receiver
    driver.media.setJitterBufferTarget(receiver.jitterBufferTarget, transceiverID: id)
    self.init(
      id: id, kind: transceiver.kind, direction: RTCRtpTransceiverDirection(transceiver.direction),
      sender: sender, receiver: receiver,
      directionChanged: { direction in
        actor.execute { driver in driver.setDirection(direction, transceiverID: id) }
      })
  }
}

/// Lets an object's closure find the object without keeping it alive.
private final class WeakBox<Object: AnyObject>: @unchecked Sendable {
  // @unchecked: set once, before the closure can run.
  weak var object: Object?
}

extension PeerConnectionDriver {
  /// Gives a transceiver's sender a track, or takes it away; pipelines follow at once where it was negotiated.
  fileprivate func attach(
    _ track: RTCMediaStreamTrack?, streamIds: [String], transceiverID id: Int
  ) {
    media.setSentTrack(track, transceiverID: id)
    core.setTrack(track?.trackId, streamIDs: streamIds, transceiverID: id, at: loop.now)
    applyMedia()
  }

  /// Has a transceiver's encodings sent as its sender's parameters say; the next description tells which are paused.
  fileprivate func setParameters(_ parameters: RTCRtpParameters, transceiverID id: Int) {
    media.setParameters(parameters, transceiverID: id)
    core.setEncodings(
      parameters.encodings.map { ($0.rid, $0.isActive) }, transceiverID: id, at: loop.now)
    applyMedia()
  }

  /// Plays keys of a telephone; what can't be sent has been played at once.
  fileprivate func play(_ keys: String, duration: Duration, gap: Duration, transceiverID id: Int) {
    let isPlayed = perform { core, now in
      core.play(keys, duration: duration, gap: gap, transceiverID: id, at: now)
    }
    if !isPlayed { onEvent?(.keyPlayed(nil, remaining: "", transceiverID: id)) }
  }

  fileprivate func setDirection(_ direction: RTCRtpTransceiverDirection, transceiverID id: Int) {
    if direction == .stopped {
      core.stop(transceiverID: id, at: loop.now)
    } else {
      core.setDirection(MediaDirection(direction), transceiverID: id, at: loop.now)
    }
  }
}
