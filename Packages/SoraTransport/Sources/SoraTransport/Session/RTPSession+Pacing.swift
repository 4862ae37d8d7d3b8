import SoraCongestion
import SoraMedia
import SoraRTP

// What leaves, and when.
extension RTPSession {
  /// Sends what the pacer lets go now, probes included.
  func sendPaced(at now: Instant) {
    while true {
      while let token = pacer.next(at: now) { transmit(PacketToken(token), at: now) }
      // Packets that wait fill a probe before padding does.
      if startProbes(at: now) { continue }
      guard pacer.paddingSize(at: now) > 0 else { return }
      guard let size = sendPadding(at: now) else {
        pacer.cancelProbes()
        return
      }
      pacer.paddingSent(size: size, at: now)
    }
  }

  /// Probes wait in the estimator until there is something to fill them with: sound that starts before the pictures
  /// would use the first ones up for nothing.
  ///
  /// - Returns: whether one was started.
  private func startProbes(at now: Instant) -> Bool {
    guard sendStreams.contains(where: { $0.lastSent != nil && $0.canPad }) else { return false }
    var isStarted = false
    while let probe = estimator.nextProbe(at: now) {
      pacer.startProbe(probe, at: now)
      isStarted = true
    }
    return isStarted
  }

  private func transmit(_ token: PacketToken, at now: Instant) {
    guard token.stream < streamSlots.count, let stream = streamSlots[token.stream] else {
      dropped.overtaken += 1
      return
    }
    guard let packet = stream.history.stored(sequenceNumber: token.number) else {
      // It waited for so long that newer packets took its slot.
      stream.statistics.packetsDropped &+= 1
      dropped.overtaken += 1
      return
    }
    if token.isRetransmission {
      retransmit(UnsafeRawBufferPointer(packet), on: stream, as: .retransmission, at: now)
      return
    }
    guard let header = try? RTPHeader(parsing: UnsafeRawBufferPointer(packet)) else {
      dropped.unsendable += 1
      return
    }
    stamp(packet, header, map: stream.parameters.extensions, at: now)
    if output.sendRTP(UnsafeRawBufferPointer(packet)) {
      stream.countSent(packet.count, payload: header.payloadCount, as: .first)
      if let stored = stream.history.storedAt(sequenceNumber: token.number) {
        stream.statistics.totalPacketSendDelay += now - stored
      }
      stream.lastSent = token.number
    } else {
      stream.statistics.packetsDropped &+= 1
    }
  }

  /// Fills a probe with one of the last packets of a video stream sent again, which repairs a loss if there was one.
  ///
  /// - Returns: bytes sent; nil where there is nothing to send again.
  private func sendPadding(at now: Instant) -> Int? {
    for stream in sendStreams where stream.canPad {
      guard let packet = stream.paddingPacket() else { continue }
      return retransmit(packet, on: stream, as: .padding, at: now)
    }
    return nil
  }

  /// Sends a stored packet again on the retransmission stream (RFC 4588). SRTP never protects one number twice: under
  /// GCM that would give the authentication key away.
  @discardableResult
  private func retransmit(
    _ original: UnsafeRawBufferPointer, on stream: RTPSendStream,
    as sending: RTPSendStream.Sending, at now: Instant
  ) -> Int? {
    guard let rtx = stream.parameters.rtx else { return nil }
    let map = stream.parameters.extensions
    var values = RTPHeaderExtensions()
    values.transportSequenceNumber = 0
    values.absSendTime = 0
    values.mid = stream.mid
    values.repairedRid = stream.rid
    return scratch.withUnsafeMutableBytes { scratch -> Int? in
      guard
        let writer = try? Retransmission.build(
          of: original, ssrc: rtx.ssrc, sequenceNumber: stream.rtxSequenceNumber,
          payloadType: rtx.payloadType, extensions: values, map: map, into: scratch)
      else {
        dropped.unsendable += 1
        return nil
      }
      stream.rtxSequenceNumber &+= 1
      let packet = UnsafeMutableRawBufferPointer(rebasing: scratch[..<writer.count])
      guard let header = try? RTPHeader(parsing: UnsafeRawBufferPointer(packet)) else {
        dropped.unsendable += 1
        return nil
      }
      stamp(packet, header, map: map, at: now)
      guard output.sendRTP(UnsafeRawBufferPointer(packet)) else {
        if sending == .retransmission { stream.statistics.packetsDropped &+= 1 }
        return nil
      }
      stream.countSent(writer.count, payload: header.payloadCount, as: sending)
      return writer.count
    }
  }

  /// Writes what is known only when a packet really leaves: its time and its transport-wide number.
  private func stamp(
    _ packet: UnsafeMutableRawBufferPointer, _ header: RTPHeader, map: RTPHeaderExtensionMap,
    at now: Instant
  ) {
    let bytes = UnsafeRawBufferPointer(packet)
    if let id = map.absSendTime, let range = header.extensionRange(id: id, in: bytes) {
      RTPPacket.setAbsSendTime(
        RTPHeaderExtensions.absSendTime(at: now), at: range.lowerBound, in: packet)
    }
    if let id = map.transportSequenceNumber, let range = header.extensionRange(id: id, in: bytes) {
      let sequence = sent.append(
        size: packet.count, probeCluster: pacer.probeCluster, at: now)
      RTPPacket.setTransportSequenceNumber(
        UInt16(truncatingIfNeeded: sequence), at: range.lowerBound, in: packet)
      estimator.packetSent(
        sequence: sequence, size: packet.count, at: now, probeCluster: pacer.probeCluster)
    }
  }

  func pollEstimator(at now: Instant) {
    guard let deadline = estimator.nextDeadline, deadline <= now else { return }
    estimator.poll(at: now)
    applyEstimate(at: now)
  }

  /// Tells the pacer and the encoders what the network takes.
  func applyEstimate(at now: Instant) {
    pacer.setRate(estimator.estimate)
    let target = retransmissions.rest(of: estimator.estimate, at: now).bitsPerSecond
    guard abs(target - lastTarget) > lastTarget / 50 else { return }
    lastTarget = target
    delegate?.session(self, changedTargetBitrate: target, at: now)
  }
}
