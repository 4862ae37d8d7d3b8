import SoraCongestion
public import SoraMedia
import SoraRTP

// RTCP that arrives.
extension RTPSession {
  /// Takes one plain compound RTCP packet from the transport. What is broken in it is counted and left out.
  public func receiveRTCP(_ packet: UnsafeRawBufferPointer, at now: Instant) {
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
      if case .media(let stream)? = sources[info.ssrc] {
        stream.senderReports.received(info, at: now)
        stream.remoteClock.received(info.ntp, at: now, roundTrip: roundTrip)
      }
      handle(blocks, at: now)
    case .receiverReport(_, let blocks): handle(blocks, at: now)
    case .pictureLossIndication(_, let media):
      guard let stream = requested(media) else { return }
      stream.statistics.pliCount &+= 1
      demandKeyFrame(of: stream, at: now)
    case .fullIntraRequest(let request):
      for entry in request {
        guard let stream = requested(entry.ssrc), stream.firSequenceNumber != entry.sequenceNumber
        else { continue }
        stream.firSequenceNumber = entry.sequenceNumber
        stream.statistics.firCount &+= 1
        demandKeyFrame(of: stream, at: now)
      }
    case .nack(let nack): handle(nack, at: now)
    case .transportFeedback(let feedback): handle(feedback, at: now)
    case .receiverEstimate(let estimate):
      estimator.receiverEstimate(
        Bitrate(bitsPerSecond: Int(clamping: estimate.bitsPerSecond)), at: now)
      applyEstimate(at: now)
    case .goodbye(let sources):
      for ssrc in sources {
        if case .media(let stream)? = self.sources[ssrc] { remove(stream, at: now) }
      }
    case .sourceDescription: break
    case .unknown: dropped.unknownRTCP += 1
    }
  }

  private func handle(_ blocks: RTCPReportBlocks, at now: Instant) {
    for block in blocks {
      guard let stream = sendStream(block.ssrc) else { continue }
      if let measured = stream.received(block, at: now, wallClock: configuration.wallClock) {
        hasReportedRoundTrip = true
        setRoundTrip(measured)
        estimator.roundTripReport(measured)
      }
      if stream.parameters.kind == .video {
        estimator.lossReport(fraction: stream.remote.fractionLost, at: now)
        applyEstimate(at: now)
      }
    }
  }

  /// Takes a round-trip time from elsewhere, such as ICE's checks. It counts until a report gives one: a session that
  /// only receives sends no sender reports, and so never gets one from reports.
  public func noteRoundTrip(_ measured: Duration) {
    guard !hasReportedRoundTrip, measured != roundTrip else { return }
    setRoundTrip(measured)
  }

  private func setRoundTrip(_ measured: Duration) {
    roundTrip = measured
    for stream in receiveStreams { stream.setRoundTrip(measured) }
  }

  /// Tells the owner that the receiver wants a key frame, at most once in `keyFrameInterval`: a request that comes
  /// sooner waits, as the key frame under way may be the answer to it, or lost.
  private func demandKeyFrame(of stream: RTPSendStream, at now: Instant) {
    if let last = stream.lastKeyFrameDemand, now - last < Self.keyFrameInterval {
      stream.owesKeyFrame = true
      return
    }
    stream.owesKeyFrame = false
    stream.lastKeyFrameDemand = now
    delegate?.session(self, wantsKeyFrameOn: stream, at: now)
  }

  /// Tells of the requests that had to wait.
  func demandOwedKeyFrames(at now: Instant) {
    for stream in sendStreams where stream.owesKeyFrame { demandKeyFrame(of: stream, at: now) }
  }

  static let keyFrameInterval = Duration.milliseconds(300)

  /// RFC 4585 §6.2.1: what is still stored is sent again, at most once a round trip.
  private func handle(_ nack: RTCPNack, at now: Instant) {
    guard let stream = requested(nack.media), stream.parameters.acceptsNack,
      stream.parameters.rtx != nil
    else { return }
    stream.statistics.nackCount &+= 1
    let interval = max(roundTrip ?? .milliseconds(20), .milliseconds(5))
    // Without transport-wide feedback there is no estimate to keep to.
    let isEstimated = stream.parameters.extensions.transportSequenceNumber != nil
    for number in nack {
      // The receiver asks again for what it still misses.
      guard !isEstimated || retransmissions.allows(estimator.estimate, at: now) else {
        dropped.retransmissionBudget += 1
        continue
      }
      guard
        let packet = stream.history.fetch(
          sequenceNumber: number, minimumInterval: interval, at: now)
      else { continue }
      if isEstimated { retransmissions.spend(packet.count, at: now) }
      let token = PacketToken(stream: stream.index, number: number, isRetransmission: true)
      if !pacer.enqueue(
        size: packet.count, priority: .retransmission, token: token.value, at: now)
      {
        stream.statistics.packetsDropped &+= 1
        dropped.pacerFull += 1
      }
    }
    sendPaced(at: now)
  }

  private func handle(_ message: TransportFeedback, at now: Instant) {
    packetResults.removeAll(keepingCapacity: true)
    let reference = feedbackTimeline.reference(of: message)
    for status in message {
      let sequence = sent.extend(status.sequenceNumber)
      guard let entry = sent.unreported(sequence) else { continue }
      let arrival = status.nanosecondsFromReference.map {
        Instant(nanoseconds: reference.nanoseconds &+ $0)
      }
      // A packet reported lost may still be reported as arrived by a later message.
      if arrival != nil { sent.markReported(sequence) }
      packetResults.append(
        PacketFeedback(
          sequence: sequence, size: Int(entry.size), sendTime: entry.sendTime, arrivalTime: arrival,
          probeCluster: entry.probeCluster >= 0 ? Int(entry.probeCluster) : nil))
    }
    guard !packetResults.isEmpty else { return }
    estimator.feedback(packetResults, at: now)
    applyEstimate(at: now)
  }

  /// The stream that a request is about; one for nothing that is sent is counted.
  private func requested(_ ssrc: UInt32) -> RTPSendStream? {
    let stream = sendStream(ssrc)
    if stream == nil { dropped.requestOfUnknownSource += 1 }
    return stream
  }

  private func sendStream(_ ssrc: UInt32) -> RTPSendStream? {
    for stream in sendStreams where stream.parameters.ssrc == ssrc { return stream }
    return nil
  }
}
