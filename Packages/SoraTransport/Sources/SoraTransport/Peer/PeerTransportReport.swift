public import SoraDTLS
public import SoraICE
import SoraMedia

/// Everything that statistics say of a peer's transport, at one moment: a value, safe to keep and to hand to any thread.
public struct PeerTransportReport: Sendable {
  /// Of ICE.
  public struct ICE: Sendable {
    /// Of the transport (W3C `RTCIceTransportState`): closed also where a failure of DTLS has ended it.
    public var state: ICEConnectionState
    public var isControlling: Bool
    public var localUfrag: String
    /// nil before the peer's description.
    public var remoteUfrag: String?
    public var selectedPairChanges: Int
    /// Every pair with what went over it.
    public var pairs: [ICEPairStatistics]
    /// In the order they were added.
    public var localCandidates: [ICECandidate]
    public var remoteCandidates: [ICECandidate]
    /// The local ones as they were found, those of interfaces that are gone included.
    public var gathered: [GatheredCandidate]
  }

  /// Of DTLS.
  public struct DTLS: Sendable {
    public var state: DTLSTransportState
    /// nil before it began.
    public var statistics: DTLSStatistics?
    /// What the handshake agreed on, without the keys; nil before it ended.
    public var agreed: Agreed?
    /// What we show in the handshake, DER.
    public var localCertificate: [UInt8]
  }

  /// What a handshake has agreed on, but for the keys.
  public struct Agreed: Sendable {
    public var tlsVersion: UInt16
    public var cipherSuite: String
    public var srtpProfile: String
    /// DER.
    public var remoteCertificate: [UInt8]
  }

  public var ice: ICE
  public var dtls: DTLS
  public var statistics: PeerTransportStatistics
}

extension PeerTransport {
  /// What statistics say of it now.
  public var report: PeerTransportReport {
    PeerTransportReport(
      ice: PeerTransportReport.ICE(
        state: ice.state == .closed ? .closed : iceState, isControlling: ice.isControlling,
        localUfrag: ice.localParameters.ufrag, remoteUfrag: ice.remoteParameters?.ufrag,
        selectedPairChanges: Int(ice.statistics.selectedCandidatePairChanges),
        pairs: pairStatistics, localCandidates: ice.localCandidates,
        remoteCandidates: ice.remoteCandidates, gathered: gathered),
      dtls: PeerTransportReport.DTLS(
        state: dtlsState, statistics: dtlsStatistics,
        agreed: session.map {
          PeerTransportReport.Agreed(
            tlsVersion: $0.tlsVersion, cipherSuite: $0.cipherSuite, srtpProfile: $0.profile.name,
            remoteCertificate: $0.remoteCertificate)
        },
        localCertificate: certificate.derBytes),
      statistics: statistics)
  }
}
