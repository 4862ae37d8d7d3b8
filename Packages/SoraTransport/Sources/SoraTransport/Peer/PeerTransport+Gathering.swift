public import SoraICE
public import SoraMedia

extension PeerTransport {
  /// Adds host candidates for bound sockets, as far as the policy goes, and asks the servers. The delegate hears of each candidate, and of
  /// the end. Call it once; `addBase` and `removeBase` follow the interfaces.
  ///
  /// - Parameters:
  ///   - bases: transport addresses of sockets that feed `receive`.
  ///   - now: the present time.
  public func gather(on bases: [TransportAddress], at now: Instant) {
    guard !isEnded else { return }
    if counters.gatheringStarted == nil { counters.gatheringStarted = now }
    for base in bases { addHost(base, at: now) }
    ice.isGathering = true
    gatherer.start(bases: bases, at: now)
    drain(at: now)
  }

  /// A socket on an address that came up.
  public func addBase(_ base: TransportAddress, at now: Instant) {
    guard !isEnded else { return }
    addHost(base, at: now)
    gatherer.addBase(base, at: now)
    drain(at: now)
  }

  /// A socket whose address is gone.
  public func removeBase(_ base: TransportAddress, at now: Instant) {
    guard !isEnded else { return }
    gatherer.removeBase(base, at: now)
    forget(base, at: now)
    drain(at: now)
  }

  /// The addresses of a server's name that the delegate was asked for; none where it has none.
  public func resolved(_ name: String, to addresses: [IPAddress], at now: Instant) {
    gatherer.resolved(name, to: addresses, at: now)
    drain(at: now)
  }

  public func streamOpened(_ stream: Int, at now: Instant) {
    gatherer.streamOpened(stream, at: now)
    drain(at: now)
  }

  public func streamEnded(_ stream: Int, reason: String, at now: Instant) {
    gatherer.streamEnded(stream, reason: reason, at: now)
    drain(at: now)
  }

  /// Takes what a stream brought; the bytes are lent for the call.
  public func streamReceived(_ stream: Int, _ bytes: UnsafeRawBufferPointer, at now: Instant) {
    advance(to: now)
    guard !isEnded else {
      counters.dropped.afterEnd &+= 1
      return
    }
    unsafe gatherer.streamReceived(stream, bytes, at: now) { payload, peer, relay in
      counters.datagramsReceived &+= 1
      counters.bytesReceived &+= UInt64(payload.byteCount)
      unsafe payload.withUnsafeMutableBytes {
        unsafe demultiplex($0, from: peer, on: relay, at: now)
      }
    }
    drain(at: now)
  }

  // MARK: Inside

  private func addHost(_ base: TransportAddress, at now: Instant) {
    switch candidates.policy {
    case .relay: return
    // Checks still leave from the socket; its own address is kept to ourselves.
    case .noHost: _ = ice.addLocalCandidate(base: base)
    case .all: announce(ice.addLocalCandidate(base: base), url: nil, at: now)
    }
  }

  private func announce(_ candidate: ICECandidate, url: ICEServerURL?, at now: Instant) {
    candidates.add(candidate, from: url)
    delegate?.transport(self, gathered: candidate, from: url, at: now)
  }

  private func forget(_ base: TransportAddress, at now: Instant) {
    ice.removeLocalCandidates(base: base, at: now)
    candidates.baseIsGone(base)
  }

  func drainGatherer(at now: Instant) {
    while !isEnded, let event = gatherer.nextEvent() {
      switch event {
      case .found(let found):
        announce(
          ice.addLocalCandidate(
            found.type, address: found.address, base: found.base,
            relatedAddress: found.relatedAddress, server: found.server),
          url: found.url, at: now)
      case .resolve(let name): delegate?.transport(self, needsAddressesOf: name)
      case .openStream(let stream, let server):
        if let streams {
          streams.open(stream, to: server)
        } else {
          gatherer.streamEnded(stream, reason: "this program has no way to open one", at: now)
        }
      case .closeStream(let stream): streams?.close(stream)
      case .lost(let relay): forget(relay, at: now)
      case .failed: break
      case .complete: gatheringEnded(at: now)
      }
    }
    sendGatherer(at: now)
  }

  private func gatheringEnded(at now: Instant) {
    if counters.gatheringEnded == nil { counters.gatheringEnded = now }
    ice.isGathering = false
    delegate?.transportGatheringEnded(self, at: now)
    // Without a relay there will never be a pair: better an error that names the servers now than silence later.
    guard candidates.policy == .relay, ice.localCandidates.isEmpty else { return }
    fail(noPairError, at: now)
  }

  var noPairError: PeerTransportError {
    gatherer.failures.isEmpty && candidates.policy != .relay
      ? .noCandidatePair(
        localCandidates: ice.localCandidates.count, remoteCandidates: ice.remoteCandidateCount)
      : .serversFailed(
        gatherer.failures, localCandidates: ice.localCandidates.count,
        remoteCandidates: ice.remoteCandidateCount)
  }

  func sendGatherer(at now: Instant) {
    while let transmit = gatherer.nextTransmit() {
      switch transmit {
      case .datagram(let from, let to, let bytes):
        unsafe sink.send(from: from, to: to, ecn: .notECT, capacity: bytes.count) { slot in
          unsafe slot.copyBytes(from: bytes)
          counters.countSent(bytes.count)
          return bytes.count
        }
      case .stream(let stream, let bytes):
        unsafe streams?.send(stream, capacity: bytes.count) { slot in
          unsafe slot.copyBytes(from: bytes)
          counters.countSent(bytes.count)
          return bytes.count
        }
      }
    }
  }
}
