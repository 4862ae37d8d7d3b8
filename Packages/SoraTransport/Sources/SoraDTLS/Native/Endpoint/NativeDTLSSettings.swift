public import SoraMedia

/// What this project's own DTLS offers and accepts, and how patient it is.
public struct NativeDTLSSettings: Sendable {
  /// Versions to offer and accept; the newest one that both ends have is taken.
  public var versions: Set<DTLSVersion> = [.v12, .v13]
  /// Cipher suites, the preferred one first: AES-GCM first, ChaCha20 for CPUs without AES.
  public var cipherSuites: [DTLSCipherSuite] = [
    .aes128GCM, .chacha20Poly1305, .aes256GCM,
    .ecdheECDSAWithAES128GCM, .ecdheRSAWithAES128GCM,
    .ecdheECDSAWithChaCha20Poly1305, .ecdheRSAWithChaCha20Poly1305,
    .ecdheECDSAWithAES256GCM, .ecdheRSAWithAES256GCM,
  ]
  /// Groups, the preferred one first. A client of 1.3 sends a share of the first one; a server that wants another asks for
  /// it, which costs a round trip.
  public var groups: [DTLSGroup] = [.x25519, .p256]
  /// SRTP profiles, the preferred one first.
  public var profiles: [SRTPProfile]
  /// Largest datagram in bytes that endpoints send, headers of IP and UDP not counted: 256...16,384.
  public var mtu = 1200
  /// Time until a flight is sent again for the first time; each further time it takes twice as long (RFC 9147 §5.8.2).
  public var firstTimeout: Duration = .milliseconds(50)
  /// What the doubling ends at.
  public var longestTimeout: Duration = .milliseconds(1600)
  /// Times a flight is sent again before the handshake fails with ``DTLSError/timedOut``: 20 make some 25 s.
  public var retransmissionLimit = 20
  /// Whether a server asks a client to show that it receives at its address, before it spends cryptography on it. Costs a
  /// round trip, and is of no use behind ICE, which has shown so already.
  public var requiresCookie = false

  public init(
    profiles: [SRTPProfile] = [.aeadAES128GCM, .aeadAES256GCM, .aes128CMSHA1_80]
  ) {
    self.profiles = profiles
  }
}
