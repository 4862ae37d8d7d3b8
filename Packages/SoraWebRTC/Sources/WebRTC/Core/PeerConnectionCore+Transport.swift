public import SoraICE
public import SoraMedia
import SoraRTP
public import SoraTransport

/// What the transport tells: packets go to the session, all else to the owner.
extension PeerConnectionCore: PeerTransportDelegate {
  public func transport(
    _ transport: PeerTransport, receivedRTP packet: UnsafeMutableRawBufferPointer, at now: Instant
  ) {
    unsafe session.receiveRTP(packet, ecn: transport.receivedECN, at: now)
  }

  public func transport(
    _ transport: PeerTransport, receivedRTCP packet: UnsafeRawBufferPointer, at now: Instant
  ) {
    unsafe session.receiveRTCP(packet, at: now)
  }

  public func transport(
    _ transport: PeerTransport, receivedData message: RawSpan, at now: Instant
  ) -> Bool {
    data.receive(message, at: now)
  }

  public func transport(
    _ transport: PeerTransport, changedTo state: PeerTransportState, at now: Instant
  ) {
    published.invalidate()
    if state == .connected { data.transportChanged(at: now) }
    if case .failed = state { session.pathLost() }
    tell(.transportStateChanged(state), at: now)
  }

  public func transport(
    _ transport: PeerTransport, iceChangedTo state: ICEConnectionState, at now: Instant
  ) {
    published.invalidate()
    tell(.iceStateChanged(state), at: now)
  }

  public func transport(
    _ transport: PeerTransport, dtlsChangedTo state: DTLSTransportState, at now: Instant
  ) {
    published.invalidate()
    tell(.dtlsStateChanged(state), at: now)
  }

  public func transport(_ transport: PeerTransport, selected pair: ICEPair, at now: Instant) {
    published.invalidate()
    publish(at: now)
  }

  public func transport(_ transport: PeerTransport, needsAddressOf candidate: ICECandidate) {
    tell(.addressNeeded(candidate), at: .zero)
  }

  public func transport(
    _ transport: PeerTransport, gathered candidate: ICECandidate, from url: ICEServerURL?,
    at now: Instant
  ) {
    negotiator.localCandidates.append(candidate.description)
    published.invalidate()
    tell(.candidateGenerated(candidate.description), at: now)
  }

  public func transportGatheringEnded(_ transport: PeerTransport, at now: Instant) {
    negotiator.endOfLocalCandidates = true
    published.invalidate()
    guard gatheringState == .gathering else { return publish(at: now) }
    gatheringState = .complete
    tell(.gatheringStateChanged(.complete), at: now)
  }

  public func transport(_ transport: PeerTransport, needsAddressesOf name: String) {
    tell(.serverAddressesNeeded(name: name), at: .zero)
  }
}
