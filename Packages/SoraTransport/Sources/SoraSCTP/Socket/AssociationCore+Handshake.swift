import SoraMedia
import SoraWire

/// How an association begins (RFC 9260 §5).
extension AssociationCore {
  func connect(at now: Instant) {
    guard case .idle = phase else { return }
    let tag = newTag()
    let firstTSN = UInt32(truncatingIfNeeded: random.next())
    var attempt = InitAttempt(
      tag: tag, firstTSN: firstTSN, chunk: initiation(tag: tag, firstTSN: firstTSN).bytes())
    sendInitiation(&attempt, at: now)
    phase = .cookieWait(attempt)
  }

  func sendInitiation(_ attempt: inout InitAttempt, at now: Instant) {
    outbox.append(packet: attempt.chunk, tag: 0)
    startTimer(&attempt.timer, at: now)
  }

  private func newTag() -> UInt32 { max(1, UInt32(truncatingIfNeeded: random.next())) }

  private func initiation(tag: UInt32, firstTSN: UInt32) -> Initiation {
    Initiation(
      tag: tag, window: UInt32(clamping: settings.receiveWindow),
      outgoingStreams: settings.outgoingStreams, incomingStreams: settings.incomingStreams,
      firstTSN: firstTSN, extensions: settings.extensions)
  }

  // MARK: - INIT and INIT ACK

  func receiveInitiation(_ value: RawSpan, at now: Instant) {
    let peer: Initiation
    do throws(Initiation.Failure) {
      peer = try Initiation(value, isAck: false)
    } catch {
      counters.dropped.malformed += 1
      // There is a tag to answer with, unless it is what is wrong.
      if value.byteCount >= 16, value.u32(0) != 0 {
        outbox.append(
          packet: ChunkBytes.abort(cause: CauseCode.invalidParameter, "INIT"), tag: value.u32(0))
      }
      return
    }
    // RFC 9260 §5.2.1, §5.2.2: what the answer says of this end depends on what there is; nothing here changes.
    var tag: UInt32
    var firstTSN = UInt32(truncatingIfNeeded: random.next())
    var tie: (local: UInt32, peer: UInt32) = (0, 0)
    switch phase {
    case .idle: tag = newTag()
    case .ended:
      counters.dropped.outOfTheBlue += 1
      return
    case .cookieWait(let attempt):
      tag = attempt.tag
      firstTSN = attempt.firstTSN
    case .cookieEchoed(let known, let echo):
      tag = known.localTag
      firstTSN = echo.firstTSN
      tie = (known.localTag, known.tag)
    case .shutdownAckSent:
      outbox.append(chunk: ChunkBytes.chunk(ChunkType.shutdownAck))
      return
    case .established(let known), .shutdownPending(let known), .shutdownReceived(let known),
      .shutdownSent(let known, _):
      repeat { tag = newTag() } while tag == known.localTag
      tie = (known.localTag, known.tag)
    }
    var cookie = StateCookie(
      createdAt: now, localTag: tag, localFirstTSN: firstTSN,
      outgoingStreams: min(settings.outgoingStreams, peer.incomingStreams),
      incomingStreams: min(settings.incomingStreams, peer.outgoingStreams),
      extensions: peer.extensions, peer: peer)
    cookie.tieLocalTag = tie.local
    cookie.tiePeerTag = tie.peer
    var answer = initiation(tag: tag, firstTSN: firstTSN)
    answer.cookie = cookie.signed(with: cookieKey)
    answer.unrecognized = Array(peer.unrecognized.prefix(2))
    outbox.append(packet: answer.bytes(), tag: peer.tag)
  }

  func receiveInitiationAck(_ value: RawSpan, at now: Instant) {
    guard case .cookieWait(let attempt) = phase else {
      counters.dropped.outOfTheBlue += 1
      return
    }
    let answer: Initiation
    do throws(Initiation.Failure) {
      answer = try Initiation(value, isAck: true)
    } catch {
      counters.dropped.malformed += 1
      if error == .malformed || error == .zeroTag { return }
      // RFC 9260 §5.1: without a cookie, or without streams, there can't be an association.
      outbox.append(
        packet: ChunkBytes.abort(cause: CauseCode.missingParameter, "INIT ACK"),
        tag: value.u32(0))
      return end(.aborted(.protocolViolation("INIT ACK without cookie or streams")))
    }
    guard let cookie = answer.cookie,
      cookie.count + CommonHeader.count + 4 <= settings.mtu
    else {
      counters.dropped.malformed += 1
      return
    }
    let state = StateCookie(
      createdAt: now, localTag: attempt.tag, localFirstTSN: attempt.firstTSN,
      outgoingStreams: min(settings.outgoingStreams, answer.incomingStreams),
      incomingStreams: min(settings.incomingStreams, answer.outgoingStreams),
      extensions: answer.extensions, peer: answer)
    let peer = makePeer(state, at: now)
    var echo = CookieEcho(
      firstTSN: attempt.firstTSN, chunk: ChunkBytes.chunk(ChunkType.cookieEcho, cookie))
    startTimer(&echo.timer, at: now)
    for parameter in answer.unrecognized.prefix(1) {
      outbox.append(chunk: ChunkBytes.error(cause: CauseCode.unrecognizedParameters, parameter))
    }
    phase = .cookieEchoed(peer, echo)
  }

  // MARK: - COOKIE ECHO and COOKIE ACK

  /// Takes a COOKIE ECHO, with the tag of its packet. `false` where the rest of the packet isn't to be read.
  func receiveCookieEcho(_ value: RawSpan, tag: UInt32, at now: Instant) -> Bool {
    guard let cookie = StateCookie(value, signedWith: cookieKey), cookie.localTag == tag else {
      counters.dropped.outOfTheBlue += 1
      return false
    }
    let isKnown =
      phase.peer.map { $0.localTag == cookie.localTag && $0.tag == cookie.peerTag } ?? false
    let age = now - cookie.createdAt
    if age > settings.cookieLifetime, !isKnown {
      counters.dropped.outOfTheBlue += 1
      let excess = UInt32(clamping: (age - settings.cookieLifetime).wholeNanoseconds / 1000)
      outbox.append(
        packet: ChunkBytes.error(cause: CauseCode.staleCookie, [UInt8](bigEndian: excess)),
        tag: cookie.peerTag)
      return false
    }
    switch phase {
    case .idle: establish(cookie, at: now)
    case .cookieWait(let attempt) where attempt.tag == cookie.localTag: establish(cookie, at: now)
    case .cookieWait, .ended:
      counters.dropped.outOfTheBlue += 1
      return false
    case .cookieEchoed(let peer, _) where isKnown: finishHandshake(peer)
    case .cookieEchoed(let peer, _) where peer.localTag == cookie.localTag:
      // RFC 9260 §5.2.4, B: the peer has begun anew meanwhile, and has nothing of this end.
      replace(peer)
      establish(cookie, at: now)
    case .cookieEchoed(let peer, _), .established(let peer), .shutdownPending(let peer),
      .shutdownReceived(let peer), .shutdownSent(let peer, _), .shutdownAckSent(let peer, _):
      if isKnown { break }
      // A: the peer was started again. It has proved with the tags that it reads what this end sends.
      guard cookie.tieLocalTag == peer.localTag, cookie.tiePeerTag == peer.tag,
        cookie.localTag != peer.localTag, cookie.peerTag != peer.tag
      else {
        counters.dropped.outOfTheBlue += 1
        return false
      }
      if case .shutdownAckSent = phase {
        outbox.append(chunk: ChunkBytes.chunk(ChunkType.shutdownAck))
        outbox.append(chunk: ChunkBytes.error(cause: CauseCode.cookieWhileShuttingDown, []))
        return false
      }
      replace(peer)
      phase = .established(makePeer(cookie, at: now))
      events.append(.restarted)
    }
    outbox.append(chunk: ChunkBytes.chunk(ChunkType.cookieAck))
    return true
  }

  func receiveCookieAck() {
    guard case .cookieEchoed(let peer, _) = phase else { return }
    finishHandshake(peer)
  }

  /// A cookie that was too old: once more from the beginning (RFC 9260 §5.2.6).
  func receiveStaleCookie(at now: Instant) {
    guard case .cookieEchoed(let peer, let echo) = phase else { return }
    replace(peer)
    var attempt = InitAttempt(
      tag: peer.localTag, firstTSN: echo.firstTSN,
      chunk: initiation(tag: peer.localTag, firstTSN: echo.firstTSN).bytes(), timer: echo.timer)
    sendInitiation(&attempt, at: now)
    phase = .cookieWait(attempt)
  }

  private func establish(_ cookie: StateCookie, at now: Instant) {
    finishHandshake(makePeer(cookie, at: now))
  }

  private func finishHandshake(_ peer: Peer) {
    phase = .established(peer)
    queue.removeStreams(from: peer.capabilities.outgoingStreams)
    events.append(.connected(peer.capabilities))
  }

  /// Takes back what an association hasn't brought over, for the one that takes its place.
  private func replace(_ peer: Peer) {
    rememberCounters(of: peer)
    peer.transmitter.surrender()
    outbox.removeAll()
  }

  private func makePeer(_ cookie: StateCookie, at now: Instant) -> Peer {
    let theirs = cookie.extensions
    let capabilities = SCTPCapabilities(
      outgoingStreams: cookie.outgoingStreams, incomingStreams: cookie.incomingStreams,
      partialReliability: settings.partialReliability && theirs.partialReliability,
      streamReset: settings.streamReset && theirs.streamReset,
      interleaving: settings.interleaving && theirs.interleaving,
      zeroChecksum: settings.zeroChecksum && theirs.zeroChecksum)
    let receiver = Receiver(
      first: cookie.peerFirstTSN, incomingStreams: capabilities.incomingStreams,
      interleaving: capabilities.interleaving, settings: settings, events: events, pool: pool)
    let transmitter = Transmitter(
      first: cookie.localFirstTSN, peerWindow: cookie.peerWindow, queue: queue, messages: messages,
      roundTrip: settings.roundTripEstimate,
      options: Transmitter.Options(
        interleaving: capabilities.interleaving,
        partialReliability: capabilities.partialReliability,
        errorLimit: settings.maximumRetransmissions, mtu: settings.mtu))
    return Peer(
      cookie: cookie, settings: settings, capabilities: capabilities, receiver: receiver,
      transmitter: transmitter, at: now)
  }
}
