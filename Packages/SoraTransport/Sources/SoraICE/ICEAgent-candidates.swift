public import SoraMedia

extension ICEAgent {
  @discardableResult
  public func addLocalCandidate(base: TransportAddress) -> ICECandidate { fatalError() }
  public func setRemoteParameters(_ parameters: ICEParameters) {}
  public func addRemoteCandidate(_ candidate: ICECandidate) {}
  public func endOfRemoteCandidates() {}
  public func restart(at now: Instant) {}
  public func receive(
    _ bytes: UnsafeRawBufferPointer, from remote: TransportAddress, on local: TransportAddress,
    at now: Instant
  ) {}
  public func poll(at now: Instant) {}
  public var nextDeadline: Instant? { nil }
  public func noteTraffic(at now: Instant) {}
}
struct Transaction {}
