import SoraMedia
import SoraRTP
import SoraTransport

// RTCP from and to this client.
extension SFUConnection {
  func receiveRTCP(_ packet: UnsafeRawBufferPointer, at now: Instant) {
    var reader = RTCPReader(packet)
    // Each turn consumes at least four bytes of a datagram, or ends.
    while true {
      do throws(RTPError) {
        guard let packet = try reader.next() else { return }
        handle(packet, at: now)
      } catch {
        dropped.malformedRTCP += 1
        if case .malformedFeedback = error { continue }
        return
      }
    }
  }

  private func handle(_ packet: RTCPPacket, at now: Instant) {
    switch packet {
    case .senderReport(let info, let blocks):
      for track in uploads where track.ssrc == info.ssrc {
        track.senderReports.received(info, at: now)
      }
      handle(blocks, at: now)
    case .receiverReport(_, let blocks): handle(blocks, at: now)
    case .pictureLossIndication(_, let media):
      guard let subscription = subscriptionsBySSRC[media] else { return }
      wantsKeyFrame(subscription, at: now)
    case .fullIntraRequest(let request):
      for entry in request {
        guard let subscription = subscriptionsBySSRC[entry.ssrc],
          subscription.isNewFullIntraRequest(entry.sequenceNumber)
        else { continue }
        wantsKeyFrame(subscription, at: now)
      }
    case .nack(let nack):
      guard let subscription = subscriptionsBySSRC[nack.media] else { return }
      subscription.countNack()
      for number in nack { subscription.retransmit(number, at: now) }
    case .transportFeedback: transportFeedbacks &+= 1
    case .receiverEstimate(let estimate): receiverEstimate = estimate.bitsPerSecond
    case .goodbye, .sourceDescription, .unknown: break
    }
  }

  private func wantsKeyFrame(_ subscription: SubscribedTrack, at now: Instant) {
    subscription.countKeyFrameRequest()
    requestKeyFrame(of: subscription.source, at: now)
  }

  private func handle(_ blocks: RTCPReportBlocks, at now: Instant) {
    for block in blocks { subscriptionsBySSRC[block.ssrc]?.received(block, at: now) }
  }

  // MARK: Reports

  /// Time between reports on average, randomised by half (RFC 3550 §6.2, with a reduced minimum).
  private static let reportInterval = Duration.seconds(1)

  func sendReports(at now: Instant) {
    guard let due = nextReport else {
      nextReport = now + .milliseconds(200)
      return
    }
    guard due <= now else { return }
    let interval = Self.reportInterval.wholeNanoseconds
    let spread = Int64(core.random.next() % UInt64(interval))
    nextReport = now + .nanoseconds(interval / 2 + spread)
    var blocks: [RTCPReportBlock] = []
    for track in uploads {
      if let block = track.received?.makeReportBlock(senderReports: track.senderReports, at: now) {
        blocks.append(block)
      }
    }
    var index = 0
    var isFirst = true
    while isFirst || index < subscriptions.count {
      let before = index
      transport.sendRTCP(capacity: Self.rtcpCapacity) { buffer in
        var writer = RTCPWriter(into: buffer)
        do throws(RTPError) {
          if isFirst {
            try writer.receiverReport(sender: reporterSSRC, blocks: blocks)
            try writer.sourceDescription(ssrc: reporterSSRC, cname: channel.sessionID)
            isFirst = false
          }
          while index < subscriptions.count, writer.available >= Self.senderReportRoom {
            let subscription = subscriptions[index]
            index += 1
            guard subscription.isActive, let info = subscription.senderInfo(at: now) else {
              continue
            }
            try writer.senderReport(info)
            try writer.sourceDescription(
              ssrc: info.ssrc, cname: subscription.source.publisherID)
          }
        } catch {
          // The room was checked; what doesn't fit after all is reported next time.
        }
        return writer.count
      }
      if index == before { return }
    }
  }

  /// A sender report without blocks, and a name of 26 characters.
  private static let senderReportRoom = 28 + 44
}
