import SoraMedia
import SoraRTP

// RTCP that leaves: reports, requests for packets and key frames, and transport-wide feedback.
extension RTPSession {
  /// Time between reports on average; RFC 3550 §6.2 with a reduced minimum, randomised by half.
  private static let reportInterval = Duration.seconds(1)
  /// An RTCP datagram at most.
  private static let reportCapacity = 1200
  /// Report blocks in one datagram at most; the packet itself holds 31 (RFC 3550 §6.4.1).
  private static let maximumBlocks = 24
  /// A sender report without blocks, and a CNAME.
  private static let senderReportRoom = 28 + 268

  func sendReports(at now: Instant) {
    guard !sendStreams.isEmpty || !receiveStreams.isEmpty else { return }
    guard let due = nextReport else {
      nextReport = now + .milliseconds(200)
      return
    }
    guard due <= now else { return }
    let spread = Int64(random.next() % UInt64(Self.reportInterval.wholeNanoseconds))
    nextReport = now + .nanoseconds(Self.reportInterval.wholeNanoseconds / 2 + spread)
    var nextSender = 0
    var nextReceiver = 0
    // Every turn takes at least one stream, or is the last: as many datagrams as it takes for all.
    repeat {
      let before = (nextSender, nextReceiver)
      output.sendRTCP(capacity: Self.reportCapacity) { buffer in
        writeReport(into: buffer, &nextSender, &nextReceiver, at: now)
      }
      if before == (nextSender, nextReceiver) { return }
    } while nextSender < sendStreams.count || nextReceiver < receiveStreams.count
  }

  /// Writes one compound report from the given streams on, and moves on behind those that it holds. Each compound
  /// begins with a report and has a CNAME (RFC 3550 §6.1).
  private func writeReport(
    into buffer: UnsafeMutableRawBufferPointer, _ nextSender: inout Int, _ nextReceiver: inout Int,
    at now: Instant
  ) -> Int {
    var writer = RTCPWriter(into: buffer)
    blocks.removeAll(keepingCapacity: true)
    while nextReceiver < receiveStreams.count, blocks.count < Self.maximumBlocks {
      let stream = receiveStreams[nextReceiver]
      nextReceiver += 1
      if let block = stream.received.makeReportBlock(senderReports: stream.senderReports, at: now) {
        blocks.append(block)
      }
    }
    var isFirst = true
    do throws(RTPError) {
      while nextSender < sendStreams.count, isFirst || writer.available >= Self.senderReportRoom {
        let stream = sendStreams[nextSender]
        nextSender += 1
        guard let info = stream.senderInfo(wallClock: configuration.wallClock, at: now) else {
          continue
        }
        try writer.senderReport(info, blocks: isFirst ? blocks : [])
        isFirst = false
        try writer.sourceDescription(ssrc: info.ssrc, cname: configuration.cname)
      }
      if isFirst {
        try writer.receiverReport(sender: reporterSSRC, blocks: blocks)
        try writer.sourceDescription(ssrc: reporterSSRC, cname: configuration.cname)
      }
    } catch {
      // Can't be: the room was looked at. What fitted is whole packets, and goes.
    }
    return writer.count
  }

  /// The source that our feedback comes from: a stream of ours where there is one.
  private var feedbackSSRC: UInt32 { sendStreams.first?.parameters.ssrc ?? reporterSSRC }

  func requestMissing(at now: Instant) {
    for stream in receiveStreams {
      if let due = stream.keyFrameDeadline(roundTrip: roundTrip), due <= now {
        requestKeyFrame(of: stream, at: now)
      }
      guard stream.sendsNack, let deadline = stream.nack.nextDeadline, deadline <= now else {
        continue
      }
      missing.removeAll(keepingCapacity: true)
      stream.nack.collect(into: &missing, at: now)
      guard !missing.isEmpty else { continue }
      var written = 0
      // Every turn writes at least one number of a bounded list.
      while written < missing.count {
        let before = written
        output.sendRTCP(capacity: Self.reportCapacity) { buffer in
          var writer = RTCPWriter(into: buffer)
          guard
            let count = try? writer.nack(
              sender: feedbackSSRC, media: stream.ssrc, missing: missing, from: written)
          else { return 0 }
          written += count
          return writer.count
        }
        if written == before { break }
        stream.statistics.nackCount &+= 1
      }
    }
  }

  /// Sends a PLI (RFC 4585 §6.3.1), but not again before an answer can have come.
  func requestKeyFrame(of stream: RTPReceiveStream, at now: Instant) {
    if let last = stream.lastKeyFrameRequest,
      now - last < stream.keyFrameRequestInterval(roundTrip: roundTrip)
    {
      return
    }
    stream.lastKeyFrameRequest = now
    stream.unansweredRequests += 1
    output.sendRTCP(capacity: 64) { buffer in
      var writer = RTCPWriter(into: buffer)
      guard
        (try? writer.pictureLossIndication(sender: feedbackSSRC, media: stream.ssrc)) != nil
      else { return 0 }
      stream.statistics.pliCount &+= 1
      return writer.count
    }
  }

  func sendFeedback(at now: Instant) {
    // Each message reports at least one packet, and the generator holds a bounded number.
    while feedback.isDue(at: now) {
      let sent = output.sendRTCP(capacity: Self.reportCapacity) { buffer in
        var writer = RTCPWriter(into: buffer)
        guard (try? feedback.write(into: &writer, sender: feedbackSSRC, at: now)) != nil else {
          return 0
        }
        return writer.count
      }
      // Feedback that nobody takes must not be due for ever.
      if !sent { return feedback.postpone(at: now) }
    }
  }
}
