public import SoraICE
public import SoraMedia

/// The life of a peer's transport, in the words of W3C's `RTCPeerConnectionState`.
public enum PeerTransportState: Equatable, Sendable {
  case new
  /// ICE checks or the DTLS handshake run.
  case connecting
  /// Packets flow, protected.
  case connected
  /// No consent response for a while; may recover.
  case disconnected
  /// An error that is reported once. Where it `isRecoverable`, a restart of ICE leads to `.connecting` again; any other has ended the
  /// transport.
  case failed(PeerTransportError)
  /// Ended by `close`.
  case closed

  /// The error of `.failed`.
  public var failure: PeerTransportError? {
    if case .failed(let error) = self { error } else { nil }
  }
}

/// What arrives at a peer's transport. Called on the loop that drives it, inside `receive` or `poll`.
public protocol PeerTransportDelegate: AnyObject {
  /// One RTP packet, decrypted in place. The memory is lent for the call; its first bytes are the header.
  func transport(
    _ transport: PeerTransport, receivedRTP packet: UnsafeMutableRawBufferPointer, at now: Instant)
  /// One compound RTCP packet, decrypted in place. The memory is lent for the call.
  func transport(
    _ transport: PeerTransport, receivedRTCP packet: UnsafeRawBufferPointer, at now: Instant)
  /// One message inside of DTLS (RFC 8261: a packet of SCTP). The memory is lent for the call. Returns whether anybody takes it.
  func transport(
    _ transport: PeerTransport, receivedData message: RawSpan, at now: Instant
  ) -> Bool
  /// The state changed. `.closed`, and `.failed` with an error that isn't recoverable, come once and last.
  func transport(
    _ transport: PeerTransport, changedTo state: PeerTransportState, at now: Instant)
  /// The state of ICE changed; before the change of the whole path that follows from it.
  func transport(
    _ transport: PeerTransport, iceChangedTo state: ICEConnectionState, at now: Instant)
  /// The state of DTLS changed; before the change of the whole path that follows from it.
  func transport(
    _ transport: PeerTransport, dtlsChangedTo state: DTLSTransportState, at now: Instant)
  /// Packets go over this pair of candidates from now on.
  func transport(_ transport: PeerTransport, selected pair: ICEPair, at now: Instant)
  /// The remote side named a candidate by host name; resolve it outside and add it again with an address.
  func transport(_ transport: PeerTransport, needsAddressOf candidate: ICECandidate)
  /// A local candidate was found: on a socket of ours, or at the server with `url`. Signal it.
  func transport(
    _ transport: PeerTransport, gathered candidate: ICECandidate, from url: ICEServerURL?,
    at now: Instant)
  /// No more local candidates come, unless interfaces change.
  func transportGatheringEnded(_ transport: PeerTransport, at now: Instant)
  /// A STUN or TURN server was given by name; resolve it outside and call `resolved`.
  func transport(_ transport: PeerTransport, needsAddressesOf name: String)
}

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
