public import SoraICE
public import SoraMedia

/// For who has no data channels, gathers nothing from servers, and for whom the state of the whole path is enough.
extension PeerTransportDelegate {
  public func transport(
    _ transport: PeerTransport, receivedData message: RawSpan, at now: Instant
  ) -> Bool { false }
  public func transport(
    _ transport: PeerTransport, iceChangedTo state: ICEConnectionState, at now: Instant
  ) {}
  public func transport(
    _ transport: PeerTransport, dtlsChangedTo state: DTLSTransportState, at now: Instant
  ) {}
  public func transport(_ transport: PeerTransport, selected pair: ICEPair, at now: Instant) {}
  public func transport(
    _ transport: PeerTransport, gathered candidate: ICECandidate, from url: ICEServerURL?,
    at now: Instant
  ) {}
  public func transportGatheringEnded(_ transport: PeerTransport, at now: Instant) {}
  public func transport(_ transport: PeerTransport, needsAddressesOf name: String) {}
}
