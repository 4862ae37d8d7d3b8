import SoraCongestion
import SoraMedia
import SoraRTP

// What leaves, and when.
extension RTPSession {
  /// Sends what the pacer lets go now.
  func sendPaced(at now: Instant) {
    while let token = pacer.next(at: now) {
      transmit(PacketToken(token), at: now)
    }
  }

  private func transmit(_ token: PacketToken, at now: Instant) {
    guard token.stream < streamSlots.count, let stream = streamSlots[token.stream],
      let packet = stream.history.stored(sequenceNumber: token.number)
    else { return }
    if token.isRetransmission {
      retransmit(UnsafeRawBufferPointer(packet), on: stream, at: now)
      return
    }
    guard let header = try? RTPHeader(parsing: UnsafeRawBufferPointer(packet)) else { return }
    stamp(packet, header, map: stream.parameters.extensions, probeCluster: nil, at: now)
    if output.sendRTP(UnsafeRawBufferPointer(packet)) {
      stream.countSent(packet.count, payload: header.payloadCount, isRetransmission: false)
    } else {
      stream.statistics.packetsDropped &+= 1
    }
  }

  /// Sends a stored packet again: on the retransmission stream where there is one (RFC 4588), else as it was.
  private func retransmit(
    _ original: UnsafeRawBufferPointer, on stream: RTPSendStream, at now: Instant
  ) {
    scratch.withUnsafeMutableBytes { scratch in
      let map = stream.parameters.extensions
      let count: Int
      if let rtx = stream.parameters.rtx {
        var values = RTPHeaderExtensions()
        values.transportSequenceNumber = 0
        values.absSendTime = 0
        values.mid = RTPExtensionText(stream.parameters.mid)
        if let rid = stream.parameters.rid { values.repairedRid = RTPExtensionText(rid) }
        guard
          let writer = try? Retransmission.build(
            of: original, ssrc: rtx.ssrc, sequenceNumber: stream.rtxSequenceNumber,
            payloadType: rtx.payloadType, extensions: values, map: map, into: scratch)
        else { return }
        stream.rtxSequenceNumber &+= 1
        count = writer.count
      } else {
        count = original.count
        scratch.copyMemory(from: original)
      }
      let packet = UnsafeMutableRawBufferPointer(rebasing: scratch[..<count])
      guard let header = try? RTPHeader(parsing: UnsafeRawBufferPointer(packet)) else { return }
      stamp(packet, header, map: map, probeCluster: nil, at: now)
      if output.sendRTP(UnsafeRawBufferPointer(packet)) {
        stream.countSent(count, payload: header.payloadCount, isRetransmission: true)
      }
    }
  }

  /// Writes what is known only when a packet really leaves: its time and its transport-wide number.
  private func stamp(
    _ packet: UnsafeMutableRawBufferPointer, _ header: RTPHeader, map: RTPHeaderExtensionMap,
    probeCluster: Int?, at now: Instant
  ) {
    let bytes = UnsafeRawBufferPointer(packet)
    if let id = map.absSendTime, let range = header.extensionRange(id: id, in: bytes) {
      RTPPacket.setAbsSendTime(
        RTPHeaderExtensions.absSendTime(at: now), at: range.lowerBound, in: packet)
    }
    if let id = map.transportSequenceNumber, let range = header.extensionRange(id: id, in: bytes) {
      let sequence = sent.append(size: packet.count, probeCluster: probeCluster, at: now)
      RTPPacket.setTransportSequenceNumber(
        UInt16(truncatingIfNeeded: sequence), at: range.lowerBound, in: packet)
      estimator.packetSent(
        sequence: sequence, size: packet.count, at: now, probeCluster: probeCluster)
    }
  }

  func pollEstimator(at now: Instant) {
    guard let deadline = estimator.nextDeadline, deadline <= now else { return }
    estimator.poll(at: now)
    applyEstimate(at: now)
  }

  /// Tells the pacer and the encoders what the network takes.
  func applyEstimate(at now: Instant) {
    let target = estimator.estimate.bitsPerSecond
    guard abs(target - lastTarget) > lastTarget / 50 else { return }
    lastTarget = target
    pacer.setRate(estimator.estimate)
    delegate?.session(self, changedTargetBitrate: target, at: now)
  }
}
