import SoraMedia

/// What an association's end counted and measured.
public struct DTLSStatistics: Hashable, Sendable {
  /// What came and wasn't used, by reason: whole datagrams, and records in them.
  public struct Dropped: Hashable, Sendable {
    /// Datagrams after the end, or before a client's start.
    public var outOfTurn = 0
    /// Not records, or records whose content can't be read.
    public var malformed = 0
    /// Records whose protection doesn't hold: forged, or damaged on their way.
    public var unauthenticated = 0
    /// Protected records that had come before.
    public var replayed = 0
    /// Records under keys that never came, or more than are kept until they come.
    public var withoutKeys = 0
    /// Records that have no place in this version, or at this point: anybody can send those in clear.
    public var unexpected = 0
    /// Parts of handshake messages that are too large, too far ahead, or contradict others.
    public var unusableFragments = 0

    public init() {}

    /// All of them.
    public var total: Int {
      outOfTurn + malformed + unauthenticated + replayed + withoutKeys + unexpected
        + unusableFragments
    }
  }

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
  public var dropped = Dropped()

  public init(role: DTLSRole) { self.role = role }

  /// Notes what a handshake agreed on, `duration` after its start.
  public mutating func connected(_ session: DTLSSession, after duration: Duration?) {
    tlsVersion = session.tlsVersion
    cipherSuite = session.cipherSuite
    srtpProfile = session.profile.name
    handshakeDuration = duration
  }
}
