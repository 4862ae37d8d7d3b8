import SoraCongestion
public import SoraMedia
import SoraRTP

// RTCP that arrives.
extension RTCPEngine {
  /// Takes one plain compound RTCP packet from the transport. What is broken in it is counted and left out.
  public func receive(_ packet: UnsafeRawBufferPointer, at now: Instant) {
    var reader = unsafe RTCPReader(packet)
    // Each pass consumes at least four bytes of a datagram, or ends.
    while true {
      do throws(RTPError) {
        guard let packet = try reader.next() else { return }
        handle(packet, at: now)
      } catch {
        dropped.malformed += 1
        if case .malformedFeedback = error { continue }
        return
      }
    }
  }

  private func handle(_ packet: RTCPPacket, at now: Instant) {
    switch packet {
    case .senderReport(let info, let blocks):
      if info.ssrc == reporterSSRC { delegate?.sourceCollided(ssrc: info.ssrc) }
      delegate?.trackReceiver(ssrc: info.ssrc)?.receive(info, roundTrip: roundTrip, at: now)
      handle(blocks, at: now)
    case .receiverReport(_, let blocks): handle(blocks, at: now)
    case .pictureLossIndication(_, let media):
      guard let sender = requested(media) else { return }
      sender.counters.pliCount &+= 1
      delegate?.keyFrameWanted(of: sender, at: now)
    case .fullIntraRequest(let request):
      for entry in request {
        guard let sender = requested(entry.ssrc), sender.isNewFullIntraRequest(entry.sequenceNumber)
        else { continue }
        sender.counters.firCount &+= 1
        delegate?.keyFrameWanted(of: sender, at: now)
      }
    case .nack(let nack): handle(nack, at: now)
    case .transportFeedback(let feedback):
      controller.received(feedback, at: now)
      delegate?.bandwidthChanged(at: now)
    case .congestionFeedback(let feedback):
      controller.received(feedback, at: now)
      delegate?.bandwidthChanged(at: now)
    case .extendedReport(let report): handle(report, at: now)
    case .receiverEstimate(let estimate):
      controller.received(
        receiverEstimate: Bitrate(bitsPerSecond: Int(clamping: estimate.bitsPerSecond)), at: now)
      delegate?.bandwidthChanged(at: now)
    case .goodbye(let sources):
      for ssrc in sources { delegate?.sourceEnded(ssrc: ssrc, at: now) }
    case .sourceDescription: break
    case .unknown: dropped.unknown += 1
    }
  }

  private func handle(_ blocks: RTCPReportBlocks, at now: Instant) {
    for block in blocks {
      guard let sender = delegate?.trackSender(ssrc: block.ssrc) else { continue }
      if let measured = sender.received(block, at: now) {
        roundTrips.report(measured)
        tell(roundTrip: measured)
      }
      if sender.parameters.kind == .video {
        controller.received(lossFraction: sender.remote.fractionLost, at: now)
        delegate?.bandwidthChanged(at: now)
      }
    }
  }

  private func handle(_ report: RTCPExtendedReport, at now: Instant) {
    for block in report {
      switch block {
      case .receiverReferenceTime(let ntp): roundTrips.heard(ntp, from: report.sender, at: now)
      case .receiverDelays(let delays):
        for delay in delays where delay.ssrc == reporterSSRC {
          if let measured = roundTrips.answered(delay, at: now) { tell(roundTrip: measured) }
        }
      case .unknown: dropped.unknown += 1
      }
    }
  }

  private func tell(roundTrip measured: Duration) {
    controller.received(roundTrip: measured)
    delegate?.roundTripChanged(to: measured)
  }

  /// How long a request takes to show that what was sent again is lost, too.
  ///
  /// Reports are seconds old: a queue that has grown since holds back what was sent again, and requests for it go on. Feedback knows of
  /// it, and comes some time after the last packet that it speaks of.
  private var tripOfRequests: Duration? {
    guard let latest = controller.latestRoundTrip else { return roundTrip }
    return max(roundTrip ?? latest, latest - Self.longestDistance)
  }

  /// How far packets of a call lie apart, at most, and so how late feedback is: 20 ms of sound and a timer's.
  private static let longestDistance: Duration = .milliseconds(30)

  /// RFC 4585 §6.2.1: what is still stored is sent again, at most once a round trip and within its budget.
  private func handle(_ nack: RTCPNack, at now: Instant) {
    guard let sender = requested(nack.media), sender.parameters.acceptsNack,
      sender.parameters.rtx != nil || sender.parameters.repeatsPackets
    else { return }
    sender.counters.nackCount &+= 1
    let trip = tripOfRequests
    for number in nack {
      let sequence: Int64?
      switch sender.request(number, roundTrip: trip, at: now) {
      case .answerable(let last): sequence = last
      case .tooOld(let last):
        if let last, controller.hasArrived(last) { continue }
        delegate?.repairRefused(of: number, from: sender)
        continue
      case .tooSoon, .unknown: continue
      }
      guard let stored = delegate?.storedPacket(number, of: sender) else {
        sender.counters.retransmissionsMissing &+= 1
        continue
      }
      let outcome = controller.retransmit(
        stored.token, size: stored.size, transportSequence: sequence, at: now)
      switch outcome {
      case .queued, .held, .arrived: break
      case .overBudget: delegate?.repairRefused(of: number, from: sender)
      case .pacerFull: sender.counters.packetsDropped &+= 1
      }
    }
    delegate?.bandwidthChanged(at: now)
  }

  /// The source that a request is about; one for nothing that is sent is counted.
  private func requested(_ ssrc: UInt32) -> RTPTrackSender? {
    let sender = delegate?.trackSender(ssrc: ssrc)
    if sender == nil { dropped.requestOfUnknownSource += 1 }
    return sender
  }
}
