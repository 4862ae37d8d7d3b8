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
  /// An error that is reported once. Where it `mayHeal`, a restart of ICE leads to `.connecting` again; any other has ended the
  /// transport.
  case failed(PeerTransportError)
  /// Ended by `close`.
  case closed
}

/// What arrives at a peer's transport. Called on the loop that drives it, inside `receive` or `poll`.
public protocol PeerTransportDelegate: AnyObject {
  /// One RTP packet, decrypted in place. The memory is lent for the call; its first bytes are the header.
  func transport(
    _ transport: PeerTransport, receivedRTP packet: UnsafeMutableRawBufferPointer, at now: Instant)
  /// One compound RTCP packet, decrypted in place. The memory is lent for the call.
  func transport(
    _ transport: PeerTransport, receivedRTCP packet: UnsafeRawBufferPointer, at now: Instant)
  /// The state changed. `.closed`, and `.failed` with an error that can't heal, come once and last.
  func transport(
    _ transport: PeerTransport, changedTo state: PeerTransportState, at now: Instant)
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

/// For who gathers nothing from servers.
extension PeerTransportDelegate {
  public func transport(
    _ transport: PeerTransport, gathered candidate: ICECandidate, from url: ICEServerURL?,
    at now: Instant
  ) {}
  public func transportGatheringEnded(_ transport: PeerTransport, at now: Instant) {}
  public func transport(_ transport: PeerTransport, needsAddressesOf name: String) {}
}
