public import SoraMedia
import SoraWire

/// What happened to an association. After `closed` or `failed` nothing further comes.
public enum DTLSEvent: Hashable, Sendable {
  /// The handshake is done and the peer's certificate is the expected one.
  case connected(DTLSSession)
  /// One message of the peer.
  case applicationData([UInt8])
  /// Either end closed the association.
  case closed
  /// The association died.
  case failed(DTLSError)
}

/// One end of a DTLS association: the seam between the transport and what speaks DTLS.
///
/// Datagrams and the time go in, datagrams, events and the next deadline come out. After every call the owner drains
/// `nextTransmit()` and `nextEvent()` and sets its timer to `nextDeadline`. Confined to its owner's loop.
public protocol DTLSEndpoint: AnyObject {
  /// Begins: a client's first flight is there to be sent. Later calls do nothing.
  func start(at now: Instant)

  /// Takes one datagram whose first byte says DTLS (20...63, RFC 7983 §7). Anything that isn't DTLS is dropped.
  func receive(_ datagram: RawSpan, at now: Instant)

  /// Takes one datagram as `receive(_:at:)` does, and decrypts it where it is, if it is no more than one message of the peer's.
  ///
  /// - Returns: where the message lies in the datagram; `nil` where what came is told by events, if at all.
  func receiveInPlace(_ datagram: inout MutableRawSpan, at now: Instant) -> Range<Int>?

  /// Resends what is due.
  func poll(at now: Instant)

  /// When `poll(at:)` wants to be called; `nil` if nothing is pending.
  var nextDeadline: Instant? { get }

  /// The next datagram to send, or `nil`.
  func nextTransmit() -> [UInt8]?

  /// The next event, or `nil`.
  func nextEvent() -> DTLSEvent?

  /// Bytes of the largest message that can be sent; of use once connected.
  var maximumMessageCount: Int { get }

  /// Sends one message.
  ///
  /// - Throws: ``DTLSError/notConnected``, or ``DTLSError/messageTooLarge(count:limit:)``.
  func send(_ applicationData: RawSpan, at now: Instant) throws(DTLSError)

  /// Writes the datagram of one message into memory that the caller sends.
  ///
  /// - Parameters:
  ///   - applicationData: the message; at least one byte.
  ///   - datagram: at least 64 bytes longer than the message: 1.2's header, explicit nonce and tag are 37.
  ///   - now: the present time.
  /// - Returns: how many bytes the datagram has.
  /// - Throws: as `send(_:at:)` does.
  func write(
    _ applicationData: RawSpan, into datagram: inout MutableRawSpan, at now: Instant
  ) throws(DTLSError) -> Int

  /// Ends the association; the peer is told with a `close_notify`.
  func close(at now: Instant)

  /// What happened so far. A library that doesn't tell why it drops records leaves those reasons at 0.
  var statistics: DTLSStatistics { get }
}

/// For endpoints over a library that has buffers of its own.
extension DTLSEndpoint {
  public func receiveInPlace(_ datagram: inout MutableRawSpan, at now: Instant) -> Range<Int>? {
    receive(datagram.bytes, at: now)
    return nil
  }

  public func write(
    _ applicationData: RawSpan, into datagram: inout MutableRawSpan, at now: Instant
  ) throws(DTLSError) -> Int {
    try send(applicationData, at: now)
    // Whatever waited before it goes first; the rest follows when the owner drains.
    guard let bytes = nextTransmit(), bytes.count <= datagram.byteCount else { return 0 }
    datagram.put(bytes.rawSpan, at: 0)
    return bytes.count
  }
}

/// Makes endpoints, so that a transport doesn't know who speaks DTLS for it.
public protocol DTLSEndpointFactory {
  /// Makes one end of an association.
  ///
  /// - Parameters:
  ///   - role: who speaks first: the client does.
  ///   - certificate: what this end shows; its fingerprint belongs in this end's SDP.
  ///   - expectedFingerprint: the peer's certificate must hash to this, or the handshake fails with
  ///     ``DTLSError/fingerprintMismatch(expected:actual:)``. With `nil` any certificate is accepted, and the caller
  ///     must check ``DTLSSession/remoteCertificate`` before it trusts the peer.
  ///   - random: the endpoint's randomness, where it isn't a library's own.
  func makeEndpoint(
    role: DTLSRole, certificate: DTLSCertificate, expectedFingerprint: DTLSFingerprint?,
    random: RandomSource
  ) throws(DTLSError) -> any DTLSEndpoint
}
