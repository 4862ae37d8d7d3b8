package import SoraDTLS
package import SoraMedia
import SoraWire

/// DTLS over a transport's path (W3C webrtc §5.5): the association, what of it came too early, and how long its handshake may take.
///
/// Sends and tells nothing by itself: the owner carries datagrams and events on, and says what it did to the state.
package struct DTLSTransport {
  private enum Association {
    /// A flight that came before ICE selected a pair is kept: losing it would cost a retransmission timeout.
    case new(early: EarlyDatagrams)
    case begun(any DTLSEndpoint)
    case ended(DTLSStatistics?)
  }

  /// What became of a datagram of the peer's.
  package enum Received {
    /// It was one message, which lies here, decrypted.
    case message(Range<Int>)
    /// Events tell the rest.
    case taken
    /// It came too early, and isn't kept.
    case dropped
  }

  private static let maximumEarlyDatagrams = 8

  package private(set) var state = DTLSTransportState.new
  /// What the handshake agreed on, also after the end; nil before that.
  package private(set) var session: DTLSSession?
  /// What we show in the handshake.
  package let certificate: DTLSCertificate
  /// When the handshake has failed; nil outside of one, and while there is no path.
  package private(set) var handshakeDeadline: Instant?

  private let factory: any DTLSEndpointFactory
  private let handshakeTimeout: Duration
  private let random: RandomSource
  private var association = Association.new(early: EarlyDatagrams(limit: maximumEarlyDatagrams))

  package init(
    factory: any DTLSEndpointFactory, certificate: DTLSCertificate, handshakeTimeout: Duration,
    random: RandomSource
  ) {
    self.factory = factory
    self.certificate = certificate
    self.handshakeTimeout = handshakeTimeout
    self.random = random
  }

  private var endpoint: (any DTLSEndpoint)? {
    if case .begun(let endpoint) = association { endpoint } else { nil }
  }

  /// Whether a handshake runs or is done.
  package var isBegun: Bool { endpoint != nil }

  /// What DTLS counted, also after its end; nil before it began.
  package var statistics: DTLSStatistics? {
    switch association {
    case .new: nil
    case .begun(let endpoint): endpoint.statistics
    case .ended(let statistics): statistics
    }
  }

  /// When a flight is sent again. No patience is to be lost where there is no path.
  package var retransmissionDeadline: Instant? { endpoint?.nextDeadline }

  // MARK: The handshake

  /// Begins a handshake over a path that was found, with what of the peer's came before. A second call does nothing.
  ///
  /// - Parameters:
  ///   - role: the end that we take.
  ///   - fingerprint: what the peer's certificate has to hash to.
  ///   - now: the present time.
  package mutating func begin(
    as role: DTLSRole, expecting fingerprint: DTLSFingerprint, at now: Instant
  ) throws(DTLSError) {
    guard case .new(var early) = association else { return }
    let endpoint = try factory.makeEndpoint(
      role: role, certificate: certificate, expectedFingerprint: fingerprint, random: random)
    association = .begun(endpoint)
    state = .connecting
    pathFound(at: now)
    endpoint.start(at: now)
    for datagram in early.take() { endpoint.receive(datagram.rawSpan, at: now) }
  }

  /// The handshake has told what it agreed on, and SRTP has taken that.
  package mutating func connected(_ session: DTLSSession) {
    self.session = session
    state = .connected
    handshakeDeadline = nil
  }

  /// Another path is in use, or one again: the handshake has its time from here on, where it hasn't already.
  package mutating func pathFound(at now: Instant) {
    guard state == .connecting, handshakeDeadline == nil else { return }
    handshakeDeadline = now + handshakeTimeout
  }

  /// No time runs out without a path.
  package mutating func pathLost() { handshakeDeadline = nil }

  // MARK: Datagrams and events

  /// Takes a datagram of the peer's, and decrypts a message where it is.
  package mutating func receive(_ datagram: inout MutableRawSpan, at now: Instant) -> Received {
    switch association {
    case .new(var early):
      let isKept = early.keep(datagram.bytes)
      association = .new(early: early)
      return isKept ? .taken : .dropped
    case .begun(let endpoint):
      return endpoint.receiveInPlace(&datagram, at: now).map { .message($0) } ?? .taken
    case .ended: return .dropped
    }
  }

  // MARK: Messages

  /// Bytes of the largest message; 0 without an association.
  package var maximumMessageCount: Int { endpoint?.maximumMessageCount ?? 0 }

  /// Writes the datagram of a message, and returns its size; 0 where it can't be sent.
  package func write(
    _ message: RawSpan, into datagram: inout MutableRawSpan, at now: Instant
  ) -> Int {
    guard let endpoint else { return 0 }
    return (try? endpoint.write(message, into: &datagram, at: now)) ?? 0
  }

  /// Bytes that a datagram has beside its message, at most.
  package static let overhead = 64

  package func poll(at now: Instant) { endpoint?.poll(at: now) }

  package func nextTransmit() -> [UInt8]? { endpoint?.nextTransmit() }

  package func nextEvent() -> DTLSEvent? { endpoint?.nextEvent() }

  // MARK: The end

  /// Has the peer told that this is the end; the datagram waits in `nextTransmit`.
  package func close(at now: Instant) { endpoint?.close(at: now) }

  /// Lets go of the association and its keys.
  ///
  /// - Parameter state: closed or failed.
  /// - Returns: how many datagrams had waited for a path in vain.
  package mutating func end(as state: DTLSTransportState) -> Int {
    var unused = 0
    if case .new(let early) = association { unused = early.count }
    association = .ended(statistics)
    handshakeDeadline = nil
    self.state = state
    return unused
  }
}
