import SoraMedia
import SoraRTP
import SoraTransport

/// What packets of a source are.
enum UploadSource {
  case media(PublishedTrack)
  case retransmission(of: PublishedTrack)
  /// Left by its publisher for another.
  case retired
}

// RTP from this client, and on to the others.
extension SFUConnection {
  private static let maximumSources = 64

  func receiveRTP(_ packet: UnsafeRawBufferPointer, at now: Instant) {
    guard let header = try? RTPHeader(parsing: packet) else {
      dropped.malformedRTP += 1
      return
    }
    let values = RTPHeaderExtensions(of: header, in: packet, map: uploadExtensions)
    if let number = values.transportSequenceNumber {
      feedback.received(sequenceNumber: number, ssrc: header.ssrc, at: now)
    }
    guard let source = sources[header.ssrc] ?? learn(header, values) else {
      dropped.unknownSource += 1
      return
    }
    switch source {
    case .media(let track):
      guard header.payloadType == track.types.media else {
        dropped.unknownSource += 1
        return
      }
      track.received?.received(header, packetCount: packet.count, at: now)
      if track.sendsNack { track.nack.received(sequenceNumber: header.sequenceNumber, at: now) }
      guard track.isNew(header.sequenceNumber) else {
        dropped.duplicate += 1
        return
      }
      track.history?.store(packet, sequenceNumber: header.sequenceNumber, at: now)
      forward(packet, header, values, of: track, at: now)
    case .retransmission(let track):
      guard header.payloadType == track.types.rtx, let ssrc = track.ssrc,
        let restored = Retransmission.restore(
          header, in: packet, ssrc: ssrc, payloadType: track.types.media)
      else {
        dropped.emptyRetransmission += 1
        return
      }
      track.received?.receivedRepair(restored, packetCount: packet.count, at: now)
      track.nack.received(
        sequenceNumber: restored.sequenceNumber, isRetransmission: true, at: now)
      guard track.isNew(restored.sequenceNumber) else {
        dropped.duplicate += 1
        return
      }
      store(packet, restored, values, of: track, at: now)
      forward(packet, restored, values, of: track, at: now)
    case .retired: dropped.retiredSource += 1
    }
  }

  private func forward(
    _ packet: UnsafeRawBufferPointer, _ header: RTPHeader, _ values: RTPHeaderExtensions,
    of track: PublishedTrack, at now: Instant
  ) {
    track.statistics.packets &+= 1
    track.statistics.bytes &+= UInt64(header.payloadCount)
    for subscription in track.subscriptions where subscription.isActive {
      subscription.forward(packet, header, values, at: now)
    }
    if track.nack.keyFrameNeeded {
      track.nack.keyFrameNeeded = false
      requestKeyFrame(of: track, at: now)
    }
  }

  /// Keeps a packet that came as a retransmission as if it had come the first time.
  private func store(
    _ packet: UnsafeRawBufferPointer, _ header: RTPHeader, _ values: RTPHeaderExtensions,
    of track: PublishedTrack, at now: Instant
  ) {
    guard let history = track.history else { return }
    let slot = history.reserve(sequenceNumber: header.sequenceNumber)
    guard
      let writer = try? RTPPacket.rewriteExtensions(
        of: packet, header: header, extensions: values, map: track.extensions, into: slot)
    else { return }
    history.commit(sequenceNumber: header.sequenceNumber, count: writer.count, at: now)
  }

  /// Finds out what a source is that was never seen. Sections share no payload types, so the payload type decides; a
  /// mid that says otherwise is refused (RFC 8843 §9.2).
  private func learn(_ header: RTPHeader, _ values: RTPHeaderExtensions) -> UploadSource? {
    if sources.count >= Self.maximumSources {
      sources = sources.filter { if case .retired = $0.value { false } else { true } }
      guard sources.count < Self.maximumSources else {
        dropped.tooManySources += 1
        return nil
      }
    }
    for track in uploads where track.isSending {
      let isMedia = header.payloadType == track.types.media
      guard isMedia || header.payloadType == track.types.rtx else { continue }
      if let mid = values.mid, mid != RTPExtensionText(track.mid) { return nil }
      let source: UploadSource
      if isMedia {
        if let old = track.ssrc { sources[old] = .retired }
        track.start(header.ssrc)
        source = .media(track)
      } else {
        source = .retransmission(of: track)
      }
      sources[header.ssrc] = source
      return source
    }
    return nil
  }

  // MARK: Asking the publisher

  /// Asks the publisher of a track for a key frame, at once where that is allowed.
  func requestKeyFrame(of track: PublishedTrack, at now: Instant) {
    track.requestKeyFrame(interval: core.configuration.keyFrameInterval, at: now)
  }

  func pollMedia(at now: Instant) {
    sendFeedback(at: now)
    for track in uploads where track.isSending { requestMissing(of: track, at: now) }
    for track in uploads { sendKeyFrameRequest(of: track, at: now) }
    sendReports(at: now)
  }

  var mediaDeadline: Instant? {
    var deadline = earliest(feedback.nextDeadline, nextReport ?? .zero)
    for track in uploads where track.isSending {
      if track.sendsNack { deadline = earliest(deadline, track.nack.nextDeadline) }
      deadline = earliest(deadline, track.keyFrameDue)
    }
    return deadline
  }

  private func sendFeedback(at now: Instant) {
    // Each message reports at least one packet, and the generator holds a bounded number.
    while feedback.isDue(at: now) {
      let isSent = transport.sendRTCP(capacity: Self.rtcpCapacity) { buffer in
        var writer = RTCPWriter(into: buffer)
        guard (try? feedback.write(into: &writer, sender: reporterSSRC, at: now)) != nil else {
          return 0
        }
        return writer.count
      }
      if !isSent { return }
    }
  }

  private func requestMissing(of track: PublishedTrack, at now: Instant) {
    guard track.sendsNack, let ssrc = track.ssrc, let due = track.nack.nextDeadline, due <= now
    else { return }
    missing.removeAll(keepingCapacity: true)
    track.nack.collect(into: &missing, at: now)
    if track.nack.statistics.givenUp > track.givenUp {
      track.givenUp = track.nack.statistics.givenUp
      requestKeyFrame(of: track, at: now)
    }
    guard !missing.isEmpty else { return }
    let isSent = transport.sendRTCP(capacity: Self.rtcpCapacity) { buffer in
      var writer = RTCPWriter(into: buffer)
      guard (try? writer.nack(sender: reporterSSRC, media: ssrc, missing: missing)) != nil else {
        return 0
      }
      return writer.count
    }
    if isSent { track.statistics.nacksSent &+= 1 }
  }

  private func sendKeyFrameRequest(of track: PublishedTrack, at now: Instant) {
    guard let due = track.keyFrameDue, due <= now else { return }
    track.keyFrameDue = nil
    // Before its first packet a publisher has no source to name, and begins with a key frame anyway.
    guard track.isSending, let ssrc = track.ssrc else { return }
    track.lastKeyFrameRequest = now
    let isSent = transport.sendRTCP(capacity: 64) { buffer in
      var writer = RTCPWriter(into: buffer)
      guard
        (try? writer.pictureLossIndication(sender: reporterSSRC, media: ssrc)) != nil
      else { return 0 }
      return writer.count
    }
    if isSent { track.statistics.keyFrameRequests &+= 1 }
  }

  /// An RTCP datagram at most.
  static let rtcpCapacity = 1200
}
