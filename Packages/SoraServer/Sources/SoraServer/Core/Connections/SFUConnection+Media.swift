import SoraMedia
import SoraRTP
import SoraTransport

// Media of this client: forwarding to it, and what its RTCP says.
extension SFUConnection {
  /// Sends a publisher's audio on to this client.
  func forward(
    _ packet: LentPacket, of layer: PublishedLayer, on subscription: SubscribedTrack,
    at now: Instant
  ) {
    guard !isEnded else { return }
    downlink.forward(packet, of: layer, on: subscription, at: now)
    core.bringForward(self, to: downlink.controller.nextDeadline)
  }

  /// Sends a publisher's kept packets on to this client. No deadline moves by it but that of what lets them leave.
  func forward(
    _ run: Span<UploadedPacket>, of layer: PublishedLayer, on subscription: SubscribedTrack,
    at now: Instant
  ) {
    guard !isEnded else { return }
    downlink.forward(run, of: layer, on: subscription, at: now)
    core.bringForward(self, to: downlink.controller.nextDeadline)
  }

  /// Asks the publisher of a layer for a key frame, at once where that is allowed.
  func requestKeyFrame(
    of layer: PublishedLayer, interval: Duration? = nil, at now: Instant
  ) {
    var interval = interval ?? core.configuration.keyFrameInterval
    if layer.rid != nil { interval = max(interval, PublishedTrack.switchInterval) }
    layer.requestKeyFrame(interval: interval, at: now)
    core.touch(publisherOf: layer)
  }

  /// The client takes a subscription from now on.
  func begin(_ subscription: SubscribedTrack, at now: Instant) {
    if subscription.source.isSimulcast {
      layersChanged(of: subscription, at: now)
    } else if let layer = subscription.source.layers.first {
      requestKeyFrame(of: layer, at: now)
    }
  }

  /// Packets of a layer of this client's are lost for good.
  func repair(_ layer: PublishedLayer, of track: PublishedTrack, at now: Instant) {
    if track.isUsed(layer) { requestKeyFrame(of: layer, at: now) }
  }

  /// Lets go of a subscription.
  func detach(_ subscription: SubscribedTrack) {
    subscription.deactivate()
    subscription.source.remove(subscription)
    downlink.remove(subscription)
  }

  // MARK: Time

  func pollMedia(at now: Instant) {
    rtcp.sendFeedback(at: now)
    for track in uplink.tracks where track.terms.isSending {
      for layer in track.layers {
        guard let receiver = layer.receiver else { continue }
        rtcp.sendRequests(of: receiver, at: now)
        if receiver.takeLoss() != .none {
          repair(layer, of: track, at: now)
          rtcp.sendRequests(of: receiver, at: now)
        }
      }
    }
    if rtcp.areReportsDue(at: now) { sendReports(at: now) }
    downlink.poll(at: now) { requestKeyFrame(of: $0, interval: $1, at: now) }
  }

  var mediaDeadline: Instant? {
    var deadline = earliest(rtcp.nextDeadline(reports: true), downlink.nextDeadline)
    for track in uplink.tracks where track.terms.isSending {
      for layer in track.layers {
        deadline = earliest(deadline, layer.receiver?.nextDeadline(roundTrip: rtcp.roundTrip))
      }
    }
    return deadline
  }

  private func sendReports(at now: Instant) {
    rtcp.sendReports(
      receivers: { visit in
        for track in uplink.tracks {
          for layer in track.layers { layer.receiver.map(visit) }
        }
      },
      senders: { visit in
        for subscription in downlink.subscriptions where subscription.isActive {
          visit(subscription.sender)
        }
      }, at: now
    ) { sender in
      downlink.subscription(ssrc: sender.parameters.ssrc)?.senderInfo(at: now)
    }
  }
}

extension SFUConnection: RTCPEngineDelegate {
  func trackSender(ssrc: UInt32) -> RTPTrackSender? { downlink.subscription(ssrc: ssrc)?.sender }

  func trackReceiver(ssrc: UInt32) -> RTPTrackReceiver? { uplink.receiver(ssrc: ssrc) }

  func storedPacket(
    _ number: UInt16, of sender: RTPTrackSender
  ) -> (token: PacketToken, size: Int)? {
    downlink.stored(number, of: sender)
  }

  func repairRefused(of number: UInt16, from sender: RTPTrackSender) {
    downlink.subscription(ssrc: sender.parameters.ssrc)?.lose(number)
  }

  /// One that is sent nothing until a key frame comes is waited for already, at its own pace.
  func keyFrameWanted(of sender: RTPTrackSender, at now: Instant) {
    guard let subscription = downlink.subscription(ssrc: sender.parameters.ssrc),
      subscription.wait == nil, let layer = subscription.selection.aim,
      !subscription.awaitsKeyFrame(roundTrip: rtcp.roundTrip, at: now)
    else { return }
    requestKeyFrame(of: layer, at: now)
  }

  func bandwidthChanged(at now: Instant) {
    downlink.bandwidthChanged(at: now)
  }

  func sourceEnded(ssrc: UInt32, at now: Instant) {}

  func roundTripChanged(to roundTrip: Duration) {
    for track in uplink.tracks {
      for layer in track.layers { layer.receiver?.setRoundTrip(roundTrip) }
    }
  }
}
