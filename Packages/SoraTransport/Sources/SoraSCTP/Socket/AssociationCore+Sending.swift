import SoraMedia
import SoraWire

/// What leaves (RFC 9260 §6.10: chunks of control first, then data, as much as fits).
extension AssociationCore {
  func drainPackets(at now: Instant, _ take: (RawSpan) -> Bool) {
    if hasRefusedPacket {
      guard lend(take) else { return }
      hasRefusedPacket = false
    }
    while let packet = outbox.popPacket() {
      writer.begin(
        source: settings.localPort, destination: settings.remotePort, tag: packet.tag)
      writer.append(packet.chunks)
      writer.finish(hasChecksum: true)
      guard offer(take) else { return }
    }
    guard let peer = phase.peer else { return }
    if peer.transmitter.takeDoubtInMTU(), peer.pathMTU.suspectBlackHole(at: now) {
      peer.transmitter.setMTU(peer.pathMTU.current)
    }
    requestResets(peer, at: now)
    while writePacket(peer, at: now) {
      guard offer(take) else { return }
    }
    // What was too old to be sent may have been all that a shutdown waited for.
    advance(at: now)
    while outbox.nextChunkCount != nil, writePacket(peer, at: now) {
      guard offer(take) else { return }
    }
  }

  private func offer(_ take: (RawSpan) -> Bool) -> Bool {
    hasRefusedPacket = !lend(take)
    return !hasRefusedPacket
  }

  private func lend(_ take: (RawSpan) -> Bool) -> Bool {
    guard writer.lend(take) else { return false }
    counters.packetsSent += 1
    counters.bytesSent += UInt64(writer.count)
    return true
  }

  private func requestResets(_ peer: Peer, at now: Instant) {
    guard !peer.resets.isIdle, phase.mayTransmit else { return }
    let transmitter = peer.transmitter
    if let chunk = peer.resets.next(
      queue, lastTSN: transmitter.outstanding.last, timeout: transmitter.roundTrip.timeout,
      longest: transmitter.roundTrip.longest, at: now)
    {
      outbox.append(chunk: chunk)
    }
  }

  /// Writes the next packet. `false` where there is nothing to send.
  private func writePacket(_ peer: Peer, at now: Instant) -> Bool {
    let limit = peer.pathMTU.current
    writer.begin(source: settings.localPort, destination: settings.remotePort, tag: peer.tag)
    var hasChecksum = !peer.capabilities.zeroChecksum
    if case .cookieEchoed(_, var echo) = phase {
      // Only with COOKIE ECHO may data leave before COOKIE ACK has come.
      guard echo.isDue else { return false }
      writer.append(echo.chunk)
      echo.isDue = false
      phase = .cookieEchoed(peer, echo)
      // RFC 9653 §5.2: the peer doesn't know yet what was agreed on.
      hasChecksum = true
    }
    while let count = outbox.nextChunkCount, count <= writer.room(limit),
      let chunk = outbox.popChunk()
    {
      writer.append(chunk)
    }
    if case .cookieEchoed = phase {
      peer.transmitter.write(into: &writer, limit: limit, at: now)
    } else {
      // With what leaves anyway, too, but before data: behind it no chunk of control may stand, and usrsctp aborts where one does.
      let hasCompany = !writer.isEmpty || phase.mayTransmit && peer.transmitter.mayWrite
      if peer.receiver.policy.isDue || hasCompany && peer.receiver.policy.isPending {
        peer.receiver.writeAcknowledgement(into: &writer, limit: limit)
      }
      if phase.mayTransmit { peer.transmitter.write(into: &writer, limit: limit, at: now) }
    }
    guard !writer.isEmpty else { return false }
    writer.finish(hasChecksum: hasChecksum)
    return true
  }
}
