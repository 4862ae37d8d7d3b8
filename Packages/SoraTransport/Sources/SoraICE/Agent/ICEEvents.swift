public import SoraWire

/// The state of an ICE agent, with the names of W3C's `RTCIceConnectionState`.
public enum ICEConnectionState: String, Sendable {
  /// Not started.
  case new
  /// Started, and no pair works yet.
  case checking
  /// A pair works and is used; a better one may still replace it.
  case connected
  /// A pair has been nominated: the search is over.
  case completed
  /// The pair that was used has been silent for `Configuration.disconnectedTimeout`. May recover.
  case disconnected
  /// No pair works, or consent was lost. Only `restart` leads out.
  case failed
  /// `close` was called.
  case closed
}

/// What an ICE agent has to say, in the order it happened.
public enum ICEEvent: Equatable, Sendable {
  /// Send media and DTLS between these addresses from now on. Comes again when a better pair takes over.
  case selectedPair(local: TransportAddress, remote: TransportAddress)
  case stateChanged(ICEConnectionState)
  /// Two consent checks in a row got no answer: something on the way may be gone. Once until the peer is heard again; not of
  /// lite agents.
  case selectedPairSilent
  /// The peer has been silent for `Configuration.consentTimeout` or `relayedConsentTimeout`, or refused consent: stop sending to it (RFC 7675 §5.2). Once, and
  /// before the change of state to `.failed`.
  case consentLost
  /// A remote candidate has a host name. Resolve it and add `candidate.resolved(to:)`.
  case unresolvedCandidate(ICECandidate)
}

/// A STUN datagram to send.
public struct ICETransmit: Sendable {
  /// The base to send from: one that was added as a local candidate's.
  public let local: TransportAddress
  public let remote: TransportAddress
  public let bytes: [UInt8]

  package init(local: TransportAddress, remote: TransportAddress, bytes: [UInt8]) {
    self.local = local
    self.remote = remote
    self.bytes = bytes
  }
}

/// The pair of candidates in use.
public struct ICEPair: Hashable, Sendable {
  /// What to send from.
  public let base: ICEBase
  public let remote: TransportAddress
  /// How the peer sees us: behind a NAT it isn't the base's type, but that of the candidate which stands for its outer address.
  public let localType: ICECandidateType
  public let remoteType: ICECandidateType
  /// Whether the controlling side has settled on this pair.
  public let isNominated: Bool
  /// The latest measured round trip; `nil` before the first and on lite agents.
  public let roundTripTime: Duration?

  /// The address to send from.
  public var local: TransportAddress { base.address }
}

/// A local endpoint that candidates start from: a socket's address, or an allocation's on a TURN server.
public struct ICEBase: Hashable, Sendable {
  public var address: TransportAddress
  /// `.host` for a socket, `.relay` for an allocation.
  public var type: ICECandidateType
  /// How datagrams leave the host: `.udp`, or how a TURN server is reached.
  public var transport: ICETransportProtocol

  public init(
    address: TransportAddress, type: ICECandidateType = .host,
    transport: ICETransportProtocol = .udp
  ) {
    self.address = address
    self.type = type
    self.transport = transport
  }
}
