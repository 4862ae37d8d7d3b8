import SoraMedia
import SoraWire

/// How an association ends (RFC 9260 §9).
extension AssociationCore {
  func shutdown(at now: Instant) {
    switch phase {
    case .idle, .cookieWait: end(.closed)
    case .cookieEchoed(let peer, _):
      // Nothing is known of the other end yet; it is told.
      outbox.append(packet: ChunkBytes.abort(cause: CauseCode.userAbort, ""), tag: peer.tag)
      end(.closed)
    case .established(let peer):
      phase = .shutdownPending(peer)
      advance(at: now)
    case .shutdownPending, .shutdownSent, .shutdownReceived, .shutdownAckSent, .ended: break
    }
  }

  func abort(_ text: String, at now: Instant) {
    if let peer = phase.peer {
      outbox.removeAll()
      outbox.append(packet: ChunkBytes.abort(cause: CauseCode.userAbort, text), tag: peer.tag)
    }
    end(.aborted(.byUser))
  }

  /// Goes on where all that was sent has been acknowledged, and with the resets that may leave now.
  func advance(at now: Instant) {
    switch phase {
    case .shutdownPending(let peer) where peer.transmitter.isDone:
      var timer = BackoffTimer()
      startTimer(&timer, at: now, peer)
      outbox.append(chunk: shutdownChunk(peer))
      phase = .shutdownSent(peer, timer)
    case .shutdownReceived(let peer) where peer.transmitter.isDone:
      acknowledgeShutdown(peer, at: now)
    case .idle, .cookieWait, .cookieEchoed, .established, .shutdownPending, .shutdownSent,
      .shutdownReceived, .shutdownAckSent, .ended:
      break
    }
  }

  func shutdownChunk(_ peer: Peer) -> [UInt8] {
    ChunkBytes.chunk(
      ChunkType.shutdown, [UInt8](bigEndian: TSN.wire(peer.receiver.tracker.cumulative)))
  }

  func receiveShutdown(_ value: RawSpan, at now: Instant) {
    guard value.byteCount >= 4 else {
      counters.dropped.malformed += 1
      return
    }
    switch phase {
    case .established(let peer), .shutdownPending(let peer), .shutdownReceived(let peer):
      guard peer.transmitter.receiveCumulative(value.u32(0), at: now) else {
        counters.dropped.acknowledgements += 1
        return
      }
      phase = .shutdownReceived(peer)
      advance(at: now)
    case .shutdownSent(let peer, _): acknowledgeShutdown(peer, at: now)
    case .idle, .cookieWait, .cookieEchoed, .shutdownAckSent, .ended: break
    }
  }

  private func acknowledgeShutdown(_ peer: Peer, at now: Instant) {
    var timer = BackoffTimer()
    startTimer(&timer, at: now, peer)
    outbox.append(chunk: ChunkBytes.chunk(ChunkType.shutdownAck))
    phase = .shutdownAckSent(peer, timer)
  }

  /// Takes a SHUTDOWN ACK with the tag of its packet.
  func receiveShutdownAck(tag: UInt32) {
    switch phase {
    case .shutdownSent(let peer, _), .shutdownAckSent(let peer, _):
      outbox.append(packet: ChunkBytes.chunk(ChunkType.shutdownComplete), tag: peer.tag)
      end(.closed)
    case .idle, .cookieWait, .cookieEchoed, .ended:
      // The peer waits for an association that this end doesn't know (RFC 9260 §8.5.1 E).
      outbox.append(
        packet: ChunkBytes.chunk(ChunkType.shutdownComplete, flags: ChunkFlags.reflectedTag),
        tag: tag)
    case .established, .shutdownPending, .shutdownReceived: break
    }
  }

  func receiveShutdownComplete() {
    guard case .shutdownAckSent = phase else { return }
    end(.closed)
  }

  func receiveAbort(_ value: RawSpan) {
    var causes = ParameterReader(value)
    var code: UInt16?
    var text = ""
    if let cause = causes.next() {
      code = cause.type
      if cause.type == CauseCode.userAbort || cause.type == CauseCode.protocolViolation {
        text = String(repairing: cause.value.part(0, min(cause.value.byteCount, 256)))
      }
    }
    end(.aborted(.byPeer(cause: code, text: text)))
  }

  /// The peer breaks the protocol, or is gone: it is told, and the owner.
  func fail(_ reason: SCTPAbortReason, _ peer: Peer, cause: UInt16 = CauseCode.protocolViolation) {
    outbox.removeAll()
    let text: String
    switch reason {
    case .protocolViolation(let words): text = words
    case .timeout: text = "no answer"
    case .messageTooLarge: text = "message too large"
    case .byPeer, .byUser: text = ""
    }
    outbox.append(packet: ChunkBytes.abort(cause: cause, text), tag: peer.tag)
    end(.aborted(reason))
  }

  func end(_ event: SCTPEvent) {
    if case .ended = phase { return }
    if let peer = phase.peer { rememberCounters(of: peer) }
    phase = .ended
    events.append(event)
  }
}
