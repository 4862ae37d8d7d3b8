import COpenSSL
import CSoraDTLS
public import SoraMedia
import SoraWire

/// One end of a DTLS 1.2 association over libssl.
///
/// libssl reads the wall clock by itself for its retransmission timer, and looks at it in every read. So the deadlines
/// given out are right only where `now` runs with real time; a simulation in virtual time needs another endpoint.
@safe public final class OpenSSLDTLSEndpoint: DTLSEndpoint {
  private enum State { case idle, handshaking, connected, ended }

  /// Larger than any record's payload (RFC 6347 §4.1: 2^14 bytes).
  private static let readCapacity = 16_384
  /// Flights have a few datagrams; more than this unsent means that nobody sends.
  private static let sendQueueLimit = 64

  /// Which end this is.
  public let role: DTLSRole

  /// What happened so far. Records that libssl drops aren't known.
  public private(set) var statistics: DTLSStatistics

  private var started: Instant?
  private let ssl: OpaquePointer
  /// Owned by `ssl`.
  private let bio: OpaquePointer
  private let certificate: DTLSCertificate
  private let expectedFingerprint: DTLSFingerprint?
  private var state = State.idle
  private var deadline: Instant?
  private var events: [DTLSEvent] = []
  private var readBuffer: UnsafeMutableRawPointer?
  private var mismatch: DTLSError?
  private var alertReceived: DTLSAlert?
  private var alertSent: DTLSAlert?

  init(
    context: OpaquePointer, mtu: Int, role: DTLSRole, certificate: DTLSCertificate,
    expectedFingerprint: DTLSFingerprint?
  ) throws(DTLSError) {
    ERR_clear_error()
    let mtu = Int32(clamping: mtu)
    guard let ssl = unsafe SSL_new(context) else { throw .library(reason: takeLibraryError()) }
    guard let bio = unsafe sora_dtls_bio_new(mtu, Int32(Self.sendQueueLimit)) else {
      unsafe SSL_free(ssl)
      throw .library(reason: takeLibraryError())
    }
    // One reference serves both directions when both are the same BIO.
    unsafe SSL_set_bio(ssl, bio, bio)
    guard unsafe SSL_use_certificate(ssl, certificate.certificate) == 1,
      unsafe SSL_use_PrivateKey(ssl, certificate.privateKey) == 1
    else {
      unsafe SSL_free(ssl)
      throw .certificate(reason: takeLibraryError())
    }
    unsafe sora_dtls_set_mtu(ssl, mtu)
    unsafe sora_dtls_set_timer(ssl)
    unsafe self.ssl = unsafe ssl
    unsafe self.bio = unsafe bio
    self.role = role
    statistics = DTLSStatistics(role: role)
    self.certificate = certificate
    self.expectedFingerprint = expectedFingerprint
    // Unretained: callbacks come only from within calls on this object, which keep it alive.
    unsafe SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
    switch role {
    case .client: unsafe SSL_set_connect_state(ssl)
    case .server: unsafe SSL_set_accept_state(ssl)
    }
  }

  deinit {
    unsafe SSL_free(ssl)
    unsafe readBuffer?.deallocate()
  }

  public var nextDeadline: Instant? { deadline }

  /// The largest message that `send(_:at:)` takes, or 0 while not connected.
  public var maximumMessageCount: Int { unsafe state == .connected ? sora_dtls_data_mtu(ssl) : 0 }

  public func start(at now: Instant) {
    guard state == .idle else { return }
    state = .handshaking
    started = now
    advance(at: now)
  }

  public func receive(_ datagram: RawSpan, at now: Instant) {
    // RFC 7983 §7: DTLS starts with 20...63. RFC 6347 §4.1: a record's header has 13 bytes.
    guard datagram.byteCount >= 13, datagram.byteCount <= Int(UInt16.max),
      (20...63).contains(datagram.u8(0))
    else {
      statistics.dropped.malformed += 1
      return
    }
    // A client that hasn't begun can't have an answer. A server's peer may begin before it.
    guard state != .ended, state != .idle || role == .server else {
      statistics.dropped.outOfTurn += 1
      return
    }
    if state == .idle {
      state = .handshaking
      started = now
    }
    unsafe datagram.withUnsafeBytes {
      unsafe sora_dtls_bio_lend(
        bio, $0.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32($0.count))
      advance(at: now)
      // The bytes are lent for this call only.
      unsafe sora_dtls_bio_lend(bio, nil, 0)
    }
  }

  public func poll(at now: Instant) {
    guard let deadline, deadline <= now, state == .handshaking || state == .connected else {
      return
    }
    ERR_clear_error()
    let handled = unsafe sora_dtls_handle_timeout(ssl)
    if handled < 0 {
      ERR_clear_error()
      finish(.failed(.timedOut))
    } else {
      if handled > 0 { statistics.retransmissions += 1 }
      updateDeadline(at: now)
    }
  }

  public func nextTransmit() -> [UInt8]? {
    var count: Int32 = 0
    guard let bytes = unsafe sora_dtls_bio_peek(bio, &count) else { return nil }
    defer { unsafe sora_dtls_bio_drop(bio) }
    return unsafe Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
  }

  public func nextEvent() -> DTLSEvent? { events.isEmpty ? nil : events.removeFirst() }

  public func send(
    _ applicationData: RawSpan, at now: Instant
  ) throws(DTLSError) {
    guard state == .connected else { throw .notConnected }
    let limit = unsafe sora_dtls_data_mtu(ssl)
    guard applicationData.byteCount <= limit else {
      throw .messageTooLarge(count: applicationData.byteCount, limit: limit)
    }
    guard !applicationData.isEmpty else { return }
    ERR_clear_error()
    let isWritten = unsafe applicationData.withUnsafeBytes {
      unsafe SSL_write(ssl, $0.baseAddress, Int32($0.count)) > 0
    }
    guard isWritten else { throw .library(reason: takeLibraryError()) }
  }

  public func close(at now: Instant) {
    guard state != .ended else { return }
    if state == .connected {
      ERR_clear_error()
      unsafe SSL_shutdown(ssl)
      ERR_clear_error()
    }
    finish(.closed)
  }

  // MARK: - Progress

  private func advance(at now: Instant) {
    ERR_clear_error()
    if state == .handshaking {
      let result = unsafe SSL_do_handshake(ssl)
      if result == 1 { completeHandshake(at: now) } else { judge(result) }
    }
    if state == .connected { readMessages() }
    updateDeadline(at: now)
  }

  private func readMessages() {
    let buffer: UnsafeMutableRawPointer
    if let readBuffer = unsafe readBuffer {
      unsafe buffer = readBuffer
    } else {
      unsafe buffer = .allocate(byteCount: Self.readCapacity, alignment: 16)
      unsafe readBuffer = unsafe buffer
    }
    // Ends: a datagram has a bounded number of records, and no further one is lent meanwhile.
    while state == .connected {
      let count = unsafe SSL_read(ssl, buffer, Int32(Self.readCapacity))
      guard count > 0 else {
        judge(count)
        return
      }
      unsafe events.append(
        .applicationData(Array(UnsafeRawBufferPointer(start: buffer, count: Int(count)))))
    }
  }

  /// What a call that didn't succeed means.
  private func judge(_ result: Int32) {
    switch unsafe SSL_get_error(ssl, result) {
    case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE:
      return
    case SSL_ERROR_ZERO_RETURN:
      if state == .connected {
        // RFC 5246 §7.2.1: answer with a close_notify of our own.
        unsafe SSL_shutdown(ssl)
        finish(.closed)
      } else {
        finish(.failed(.alertReceived(.closeNotify)))
      }
    default:
      let reason = takeLibraryError()
      if let mismatch {
        finish(.failed(mismatch))
      } else if let alertReceived {
        finish(.failed(.alertReceived(alertReceived)))
      } else if reason == "read timeout expired" {
        finish(.failed(.timedOut))
      } else if let alertSent {
        finish(.failed(.alertSent(alertSent, reason: reason)))
      } else {
        finish(.failed(.library(reason: reason)))
      }
    }
    ERR_clear_error()
  }

  private func completeHandshake(at now: Instant) {
    guard let leaf = unsafe SSL_get1_peer_certificate(ssl) else {
      return finish(.failed(.certificate(reason: "the peer showed none")))
    }
    let der = unsafe encodeDER { unsafe i2d_X509(leaf, $0) }
    unsafe X509_free(leaf)
    // The verify callback has done this already; nothing may be connected without it.
    if let error = checkFingerprint(of: der) { return finish(.failed(error)) }
    guard let selected = unsafe SSL_get_selected_srtp_profile(ssl),
      let profile = unsafe SRTPProfile(rawValue: UInt16(truncatingIfNeeded: selected.pointee.id))
    else {
      unsafe SSL_shutdown(ssl)
      return finish(.failed(.noCommonSRTPProfile))
    }
    // RFC 5764 §4.2: client key, server key, client salt, server salt.
    let key = profile.keyLength
    let salt = profile.saltLength
    var block = [UInt8](repeating: 0, count: 2 * (key + salt))
    defer {
      unsafe block.withUnsafeMutableBytes { unsafe OPENSSL_cleanse($0.baseAddress, $0.count) }
    }
    let label = "EXTRACTOR-dtls_srtp"
    guard
      unsafe SSL_export_keying_material(
        ssl, &block, block.count, label, label.utf8.count, nil, 0, 0) == 1
    else { return finish(.failed(.library(reason: takeLibraryError()))) }
    let client = SRTPKeyingMaterial(
      key: Array(block[..<key]), salt: Array(block[(2 * key)..<(2 * key + salt)]))
    let server = SRTPKeyingMaterial(
      key: Array(block[key..<(2 * key)]), salt: Array(block[(2 * key + salt)...]))
    let cipher = unsafe SSL_CIPHER_standard_name(SSL_get_current_cipher(ssl))
    state = .connected
    let session = unsafe DTLSSession(
      profile: profile,
      localKeyingMaterial: role == .client ? client : server,
      remoteKeyingMaterial: role == .client ? server : client,
      tlsVersion: UInt16(truncatingIfNeeded: SSL_version(ssl)),
      cipherSuite: cipher.map { unsafe String(cString: $0) } ?? "",
      remoteCertificate: der)
    statistics.connected(session, after: started.map { now - $0 })
    events.append(.connected(session))
  }

  private func checkFingerprint(of certificate: [UInt8]) -> DTLSError? {
    guard let expectedFingerprint else { return nil }
    do throws(DTLSError) {
      let actual = try DTLSFingerprint(
        of: certificate, algorithm: expectedFingerprint.algorithm)
      guard actual != expectedFingerprint else { return nil }
      return .fingerprintMismatch(expected: expectedFingerprint, actual: actual)
    } catch {
      return error
    }
  }

  private func finish(_ event: DTLSEvent) {
    guard state != .ended else { return }
    state = .ended
    deadline = nil
    events.append(event)
  }

  private func updateDeadline(at now: Instant) {
    guard state == .handshaking || state == .connected else {
      deadline = nil
      return
    }
    let microseconds = unsafe sora_dtls_timeout(ssl)
    // What is due at once waits for a millisecond, in case libssl's clock and the caller's disagree about it.
    deadline = microseconds < 0 ? nil : now + .microseconds(max(1_000, microseconds))
  }

  // MARK: - What libssl calls back

  private static func endpoint(of ssl: OpaquePointer?) -> OpenSSLDTLSEndpoint? {
    guard let ssl = unsafe ssl, let pointer = unsafe SSL_get_ex_data(ssl, 0) else { return nil }
    return unsafe Unmanaged<OpenSSLDTLSEndpoint>.fromOpaque(pointer).takeUnretainedValue()
  }

  /// Judges the peer's certificate during the handshake, so that a wrong one ends it with an alert before the peer
  /// believes to be connected. Chains and dates don't count (RFC 8122 §6.2): only the leaf's fingerprint does.
  static let verifyCallback: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Int32 = {
    store, _ in
    guard let store = unsafe store,
      let pointer = unsafe X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()),
      let endpoint = unsafe endpoint(of: OpaquePointer(pointer)),
      let leaf = unsafe X509_STORE_CTX_get0_cert(store)
    else { return 0 }
    if let error = unsafe endpoint.checkFingerprint(of: encodeDER { unsafe i2d_X509(leaf, $0) }) {
      endpoint.mismatch = error
      // libssl turns this into the alert bad_certificate.
      unsafe X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED)
      return 0
    }
    unsafe X509_STORE_CTX_set_error(store, X509_V_OK)
    return 1
  }

  /// Notes alerts; the low byte of `value` is the alert's number.
  static let infoCallback: @convention(c) (OpaquePointer?, Int32, Int32) -> Void = {
    ssl, place, value in
    guard place & SSL_CB_ALERT != 0, let endpoint = unsafe endpoint(of: ssl) else { return }
    let alert = DTLSAlert(rawValue: UInt8(truncatingIfNeeded: value))
    if place & SSL_CB_READ != 0 {
      endpoint.alertReceived = alert
    } else if alert != .closeNotify {
      endpoint.alertSent = alert
    }
  }
}
