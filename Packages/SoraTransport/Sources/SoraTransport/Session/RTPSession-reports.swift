import SoraMedia
import SoraRTP

// RTCP that leaves: reports, requests for packets and key frames, and transport-wide feedback.
extension RTPSession {
  /// Time between reports on average; RFC 3550 §6.2 with a reduced minimum, randomised by half.
  private static let reportInterval = Duration.seconds(1)
  /// An RTCP datagram at most.
  private static let reportCapacity = 1200

  func sendReports(at now: Instant) {
    guard !sendStreams.isEmpty || !receiveStreams.isEmpty else { return }
    guard let due = nextReport else {
      nextReport = now + .milliseconds(200)
      return
    }
    guard due <= now else { return }
    let spread = Int64(random.next() % UInt64(Self.reportInterval.wholeNanoseconds))
    nextReport = now + .nanoseconds(Self.reportInterval.wholeNanoseconds / 2 + spread)
    output.sendRTCP(capacity: Self.reportCapacity) { buffer in
      var writer = RTCPWriter(into: buffer)
      var blocks: [RTCPReportBlock] = []
      for stream in receiveStreams {
        if let block = stream.received.makeReportBlock(senderReports: stream.senderReports, at: now) {
          blocks.append(block)
        }
      }
      do throws(RTPError) {
        var reporter = reporterSSRC
        var isFirst = true
        for stream in sendStreams {
          guard let info = stream.senderInfo(wallClock: configuration.wallClock, at: now) else {
            continue
          }
          try writer.senderReport(info, blocks: isFirst ? blocks : [])
          if isFirst { reporter = info.ssrc }
          isFirst = false
          try writer.sourceDescription(ssrc: info.ssrc, cname: configuration.cname)
        }
        if isFirst {
          try writer.receiverReport(sender: reporter, blocks: blocks)
          try writer.sourceDescription(ssrc: reporter, cname: configuration.cname)
        }
      } catch {
        // More streams than one datagram holds: those that fit are reported now, and all count on being reported soon.
      }
      return writer.count
    }
  }

  /// The source that our feedback comes from: a stream of ours where there is one.
  private var feedbackSSRC: UInt32 { sendStreams.first?.parameters.ssrc ?? reporterSSRC }

  func requestMissing(at now: Instant) {
    for stream in receiveStreams {
      if stream.keyFrameWanted {
        requestKeyFrame(of: stream, at: now)
      }
      guard stream.sendsNack, let deadline = stream.nack.nextDeadline, deadline <= now else { continue }
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
    let interval = max((roundTrip ?? .milliseconds(100)) * 2, .milliseconds(200))
    if let last = stream.lastKeyFrameRequest, now - last < interval {
      stream.keyFrameWanted = true
      return
    }
    stream.keyFrameWanted = false
    stream.lastKeyFrameRequest = now
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
      if !sent { return }
    }
  }
}
