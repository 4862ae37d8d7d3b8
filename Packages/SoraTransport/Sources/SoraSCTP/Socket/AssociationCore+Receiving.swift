import SoraMedia
import SoraWire

/// What comes in (RFC 9260 §8.4, §8.5).
extension AssociationCore {
  func receive(_ packet: RawSpan, at now: Instant) {
    counters.packetsReceived += 1
    counters.bytesReceived += UInt64(packet.byteCount)
    guard let header = CommonHeader(packet), header.sourcePort == settings.remotePort,
      header.destinationPort == settings.localPort
    else {
      counters.dropped.malformed += 1
      return
    }
    // RFC 9653 §5.3: zero is taken by whoever has said so.
    if header.checksum != 0 || !settings.zeroChecksum {
      guard CRC32C.checksum(packet: packet) == header.checksum else {
        counters.dropped.badChecksum += 1
        return
      }
    }
    var reader = ChunkReader(packet: packet)
    var isFirst = true
    var hasData = false
    while let chunk = reader.next() {
      guard isAccepted(chunk, header, isFirst: isFirst) else { return }
      guard process(chunk, header, hasData: &hasData, at: now) else { break }
      isFirst = false
    }
    if reader.isMalformed { counters.dropped.malformed += 1 }
    guard let peer = phase.peer else { return }
    if hasData {
      peer.receiver.policy.packetReceived(at: now)
      if let done = peer.resets.takeDeferred(received: peer.receiver.tracker.cumulative) {
        resetIncoming(done.streams, done.sequence, peer)
      }
    }
    advance(at: now)
  }

  /// Whether a chunk may be read: the packet's tag is what its type and the state want (RFC 9260 §8.5, §8.5.1).
  private func isAccepted(_ chunk: borrowing Chunk, _ header: CommonHeader, isFirst: Bool) -> Bool {
    switch chunk.type {
    case ChunkType.initiation:
      // Alone in its packet, and without a tag.
      guard isFirst, header.tag == 0 else { break }
      return true
    case ChunkType.cookieEcho:
      // Its tag is the cookie's.
      guard isFirst else { break }
      return true
    case ChunkType.abort, ChunkType.shutdownComplete:
      let isReflected = chunk.flags & ChunkFlags.reflectedTag != 0
      if isReflected ? header.tag == phase.peer?.tag : header.tag == localTag, header.tag != 0 {
        return true
      }
    case ChunkType.shutdownAck:
      if header.tag == localTag || phase.peer == nil { return true }
    default:
      if let localTag, header.tag == localTag { return true }
    }
    if localTag == nil, isFirst, answersOutOfTheBlue(chunk, header) { return false }
    counters.dropped.badTag += 1
    return false
  }

  private var localTag: UInt32? {
    if case .cookieWait(let attempt) = phase { return attempt.tag }
    return phase.peer?.localTag
  }

  /// Tells a peer that there is no association (RFC 9260 §8.4). `true` where it is an affair of that.
  private func answersOutOfTheBlue(_ chunk: borrowing Chunk, _ header: CommonHeader) -> Bool {
    counters.dropped.outOfTheBlue += 1
    switch chunk.type {
    case ChunkType.abort, ChunkType.shutdownComplete, ChunkType.cookieAck, ChunkType.error,
      ChunkType.initiation, ChunkType.initiationAck:
      break
    default:
      guard header.tag != 0 else { break }
      outbox.append(
        packet: ChunkBytes.chunk(ChunkType.abort, flags: ChunkFlags.reflectedTag), tag: header.tag)
    }
    return true
  }

  /// Takes one chunk. `false` where the rest of the packet isn't to be read.
  private func process(
    _ chunk: borrowing Chunk, _ header: CommonHeader, hasData: inout Bool, at now: Instant
  ) -> Bool {
    switch chunk.type {
    case ChunkType.data, ChunkType.interleavedData:
      return receiveData(chunk, hasData: &hasData, at: now)
    case ChunkType.sack:
      guard let peer = phase.peer, phase.mayTransmit else { return true }
      if case .cookieEchoed = phase { return true }
      if !peer.transmitter.receiveAcknowledgement(chunk.value, at: now) {
        counters.dropped.acknowledgements += 1
      }
    case ChunkType.forwardTSN, ChunkType.interleavedForwardTSN:
      return receiveForward(chunk, hasData: &hasData)
    case ChunkType.initiation:
      receiveInitiation(chunk.value, at: now)
      return false
    case ChunkType.initiationAck:
      receiveInitiationAck(chunk.value, at: now)
      return false
    case ChunkType.cookieEcho: return receiveCookieEcho(chunk.value, tag: header.tag, at: now)
    case ChunkType.cookieAck: receiveCookieAck()
    case ChunkType.heartbeat:
      let answer = ChunkBytes.chunk(ChunkType.heartbeatAck, [UInt8](copying: chunk.value))
      guard answer.count <= settings.mtu - CommonHeader.count else { return true }
      outbox.append(chunk: answer)
    case ChunkType.heartbeatAck: receiveHeartbeatAck(chunk.value, at: now)
    case ChunkType.abort:
      receiveAbort(chunk.value)
      return false
    case ChunkType.shutdown: receiveShutdown(chunk.value, at: now)
    case ChunkType.shutdownAck:
      receiveShutdownAck(tag: header.tag)
      return false
    case ChunkType.shutdownComplete:
      receiveShutdownComplete()
      return false
    case ChunkType.error: receiveError(chunk.value, at: now)
    case ChunkType.reconfiguration: receiveReconfiguration(chunk.value, at: now)
    case ChunkType.padding: break
    default: return receiveUnknown(chunk)
    }
    return true
  }

  private func receiveData(
    _ chunk: borrowing Chunk, hasData: inout Bool, at now: Instant
  ) -> Bool {
    let peer: Peer
    switch phase {
    case .established(let known), .shutdownPending(let known): peer = known
    case .shutdownSent(let known, var timer):
      // RFC 9260 §9.2: each DATA is answered by a SHUTDOWN, too.
      peer = known
      startTimer(&timer, at: now, known)
      phase = .shutdownSent(known, timer)
      if !hasData { outbox.append(chunk: shutdownChunk(known)) }
      known.receiver.policy.require()
    case .idle, .cookieWait, .cookieEchoed, .shutdownReceived, .shutdownAckSent, .ended:
      counters.dropped.outOfTheBlue += 1
      return true
    }
    guard (chunk.type == ChunkType.interleavedData) == peer.receiver.interleaving else {
      fail(.protocolViolation("DATA and I-DATA in one association"), peer)
      return false
    }
    hasData = true
    switch peer.receiver.receive(chunk) {
    case .taken, .dropped: return true
    case .invalidStream(let stream):
      counters.dropped.data += 1
      var value = [UInt8](bigEndian: stream)
      value += [0, 0]
      outbox.append(chunk: ChunkBytes.error(cause: CauseCode.invalidStream, value))
      return true
    case .failed(let cause, let reason):
      fail(reason, peer, cause: cause)
      return false
    }
  }

  private func receiveForward(_ chunk: borrowing Chunk, hasData: inout Bool) -> Bool {
    guard let peer = phase.peer, peer.capabilities.partialReliability else {
      return receiveUnknown(chunk)
    }
    guard (chunk.type == ChunkType.interleavedForwardTSN) == peer.receiver.interleaving else {
      fail(.protocolViolation("FORWARD-TSN and I-FORWARD-TSN in one association"), peer)
      return false
    }
    hasData = true
    if !peer.receiver.receiveForward(chunk.value) { counters.dropped.malformed += 1 }
    return true
  }

  private func receiveHeartbeatAck(_ value: RawSpan, at now: Instant) {
    guard let peer = phase.peer, let nonce = Heartbeat.nonce(value) else { return }
    if peer.heartbeat.answered(nonce) { return }
    if peer.pathMTU.answered(nonce, at: now) { peer.transmitter.setMTU(peer.pathMTU.current) }
  }

  private func receiveError(_ value: RawSpan, at now: Instant) {
    var causes = ParameterReader(value)
    while let cause = causes.next() {
      if cause.type == CauseCode.staleCookie { receiveStaleCookie(at: now) }
    }
  }

  /// The highest bit of a type that isn't known: go on behind it; the next one: tell (RFC 9260 §3.2).
  private func receiveUnknown(_ chunk: borrowing Chunk) -> Bool {
    if chunk.type & 0x40 != 0, phase.peer != nil {
      let whole = chunk.whole.part(0, min(chunk.whole.byteCount, 256))
      outbox.append(
        chunk: ChunkBytes.error(cause: CauseCode.unrecognizedChunk, [UInt8](copying: whole)))
    }
    return chunk.type & 0x80 != 0
  }

  // MARK: - Resets of streams

  private func receiveReconfiguration(_ value: RawSpan, at now: Instant) {
    guard let peer = phase.peer, peer.capabilities.streamReset else { return }
    switch phase {
    case .established, .shutdownPending, .shutdownReceived: break
    case .idle, .cookieWait, .cookieEchoed, .shutdownSent, .shutdownAckSent, .ended: return
    }
    var parameters = ParameterReader(value)
    while let parameter = parameters.next() {
      let estimate = peer.transmitter.roundTrip
      let incoming: StreamResets.Incoming
      switch parameter.type {
      case ParameterType.outgoingReset:
        incoming = peer.resets.outgoingRequest(
          parameter.value, received: peer.receiver.tracker.cumulative,
          streamLimit: peer.capabilities.incomingStreams, isBusy: events.otherCount > 1000)
        if case .reset(let sequence, let streams) = incoming {
          resetIncoming(streams, sequence, peer)
          continue
        }
      case ParameterType.incomingReset:
        incoming = peer.resets.incomingRequest(
          parameter.value, streamLimit: peer.capabilities.outgoingStreams)
        if case .reset(let sequence, let streams) = incoming {
          answer(sequence, StreamResets.Result.performed)
          if case .established = phase {
            try? resetStreams(streams.isEmpty ? queue.used : streams, at: now)
          }
          continue
        }
      case ParameterType.tsnReset, ParameterType.addOutgoingStreams,
        ParameterType.addIncomingStreams:
        incoming = peer.resets.refuse(parameter.value)
      case ParameterType.reconfigurationResponse:
        switch peer.resets.response(
          parameter.value, timeout: estimate.timeout, longest: estimate.longest, at: now)
        {
        case .none: break
        case .reset(let streams):
          for stream in streams { queue.reset(stream) }
          events.append(.outgoingStreamsReset(streams))
        case .refused(let streams):
          for stream in streams { queue.setClosing(false, stream) }
          events.append(.streamsResetFailed(streams))
        }
        continue
      default: continue
      }
      if case .answer(let sequence, let result) = incoming {
        answer(sequence, result)
      } else if case .malformed = incoming {
        counters.dropped.malformed += 1
      }
    }
  }

  private func resetIncoming(_ streams: [UInt16], _ sequence: UInt32, _ peer: Peer) {
    peer.receiver.reset(streams)
    events.append(.incomingStreamsReset(streams))
    answer(sequence, StreamResets.Result.performed)
  }

  private func answer(_ sequence: UInt32, _ result: UInt32) {
    outbox.append(chunk: StreamResets.responseChunk(sequence: sequence, result: result))
  }
}
