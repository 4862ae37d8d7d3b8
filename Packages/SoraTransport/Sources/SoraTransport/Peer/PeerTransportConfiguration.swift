public import SoraDTLS
public import SoraICE

extension PeerTransport {
  /// What a transport is made of.
  public struct Configuration {
    /// Our ICE behaviour; `isLite` for a server with reachable addresses.
    public var ice: ICEAgent.Configuration
    public var certificate: DTLSCertificate
    /// Makes the DTLS endpoint: libssl's, or a stand-in in a simulation.
    public var dtls: any DTLSEndpointFactory
    /// Time from the first working pair in which DTLS has to agree on keys. Without it a server whose client never
    /// speaks would wait for ever: only clients retransmit before the first flight (RFC 6347 §4.2.4).
    public var handshakeTimeout: Duration = .seconds(15)
    /// STUN and TURN servers to gather candidates from, and which candidates are used.
    public var gathering = ICEGatherer.Configuration()

    public init(
      ice: ICEAgent.Configuration, certificate: DTLSCertificate, dtls: any DTLSEndpointFactory
    ) {
      self.ice = ice
      self.certificate = certificate
      self.dtls = dtls
    }
  }

  /// What the other side's description says of its end.
  public struct RemoteDescription: Equatable, Sendable {
    public var ice: ICEParameters
    public var fingerprint: DTLSFingerprint
    /// The role that we take: active is the client (RFC 5763 §5).
    public var localRole: DTLSRole

    public init(ice: ICEParameters, fingerprint: DTLSFingerprint, localRole: DTLSRole) {
      self.ice = ice
      self.fingerprint = fingerprint
      self.localRole = localRole
    }
  }
}
