import SoraMedia
import SoraRTP
import SoraTransport

// Media of this client: forwarding to it, and what its RTCP says.
extension SFUConnection {
  /// Sends a publisher's audio on to this client.
  func forward(_ packet: LentPacket, on subscription: SubscribedTrack, at now: Instant) {
    guard !isEnded else { return }
    downlink.forward(packet, on: subscription, at: now)
    core.touch(self)
  }

  /// Sends a publisher's kept packets on to this client.
  func forward(_ run: [UploadedPacket], on subscription: SubscribedTrack, at now: Instant) {
    guard !isEnded else { return }
    downlink.forward(run, on: subscription, at: now)
    core.touch(self)
  }

  /// Asks the publisher of a track for a key frame, at once where that is allowed.
  func requestKeyFrame(
    of track: PublishedTrack, interval: Duration? = nil, at now: Instant
  ) {
    track.requestKeyFrame(interval: interval ?? core.configuration.keyFrameInterval, at: now)
    core.touch(publisherOf: track)
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
      guard let receiver = track.receiver else { continue }
      rtcp.sendRequests(of: receiver, at: now)
      if receiver.takeLoss() != .none {
        requestKeyFrame(of: track, at: now)
        rtcp.sendRequests(of: receiver, at: now)
      }
    }
    if rtcp.areReportsDue(at: now) { sendReports(at: now) }
    downlink.poll(at: now) { subscription, interval in
      requestKeyFrame(of: subscription.source, interval: interval, at: now)
    }
  }

  var mediaDeadline: Instant? {
    var deadline = earliest(rtcp.nextDeadline(reports: true), downlink.nextDeadline)
    for track in uplink.tracks where track.terms.isSending {
      deadline = earliest(deadline, track.receiver?.nextDeadline(roundTrip: rtcp.roundTrip))
    }
    return deadline
  }

  private func sendReports(at now: Instant) {
    rtcp.sendReports(
      receivers: uplink.tracks.lazy.compactMap(\.receiver),
      senders: downlink.subscriptions.lazy.filter(\.isActive).map(\.sender), at: now
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
      subscription.wait == nil
    else { return }
    requestKeyFrame(of: subscription.source, at: now)
  }

  func bandwidthChanged(at now: Instant) {
    downlink.controller.drain(downlink, at: now)
  }

  func sourceEnded(ssrc: UInt32, at now: Instant) {}

  func roundTripChanged(to roundTrip: Duration) {
    for track in uplink.tracks { track.receiver?.setRoundTrip(roundTrip) }
  }
}
