public import SoraMedia

/// Which end speaks first (RFC 5763 §5: `a=setup:active` is the client).
public enum DTLSRole: String, Hashable, Sendable {
  case client
  case server
}

/// What a handshake agreed on.
public struct DTLSSession: Hashable, Sendable {
  /// How SRTP packets are protected.
  public var profile: SRTPProfile
  /// The SRTP master key and salt of what this end sends (RFC 5764 §4.2).
  public var localKeyingMaterial: SRTPKeyingMaterial
  /// The SRTP master key and salt of what the peer sends.
  public var remoteKeyingMaterial: SRTPKeyingMaterial
  /// The version on the wire: 0xFEFD is DTLS 1.2.
  public var tlsVersion: UInt16
  /// The cipher suite's name in IANA's registry: "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256".
  public var cipherSuite: String
  /// The peer's certificate in DER.
  public var remoteCertificate: [UInt8]

  public init(
    profile: SRTPProfile, localKeyingMaterial: SRTPKeyingMaterial,
    remoteKeyingMaterial: SRTPKeyingMaterial, tlsVersion: UInt16, cipherSuite: String,
    remoteCertificate: [UInt8]
  ) {
    self.profile = profile
    self.localKeyingMaterial = localKeyingMaterial
    self.remoteKeyingMaterial = remoteKeyingMaterial
    self.tlsVersion = tlsVersion
    self.cipherSuite = cipherSuite
    self.remoteCertificate = remoteCertificate
  }
}
