/// What an association's end counted and measured.
public struct DTLSStatistics: Hashable, Sendable {
  /// Which end it is.
  public var role: DTLSRole
  /// The version on the wire, once agreed: 0xFEFD is 1.2, 0xFEFC is 1.3.
  public var tlsVersion: UInt16?
  /// The cipher suite's name in IANA's registry, once agreed.
  public var cipherSuite: String?
  /// The SRTP profile, once agreed.
  public var srtpProfile: String?
  /// From the start to the keys.
  public var handshakeDuration: Duration?
  /// Flights that were sent again, as a whole or in part.
  public var retransmissions = 0
  /// Datagrams that came after the end, or before a client's start.
  public var datagramsDropped = 0
  /// Records that weren't genuine, replays, of another version or epoch, or not records at all.
  public var recordsDropped = 0

  public init(role: DTLSRole) { self.role = role }
}
