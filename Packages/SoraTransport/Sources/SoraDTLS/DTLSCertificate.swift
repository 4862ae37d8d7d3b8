import COpenSSL
import CSoraDTLS

/// A certificate and its private key.
///
/// `@unchecked Sendable`: both objects are written only in `init`, libcrypto counts their references atomically, and
/// signing reads them only.
@safe public final class DTLSCertificate: @unchecked Sendable {
  /// The certificate in DER.
  public let derBytes: [UInt8]

  /// Its SHA-256 fingerprint, for `a=fingerprint`.
  public let fingerprint: DTLSFingerprint

  let certificate: OpaquePointer
  let privateKey: OpaquePointer

  /// Takes over both objects.
  private init(certificate: OpaquePointer, privateKey: OpaquePointer) throws(DTLSError) {
    guard unsafe X509_check_private_key(certificate, privateKey) == 1 else {
      ERR_clear_error()
      unsafe X509_free(certificate)
      unsafe EVP_PKEY_free(privateKey)
      throw .certificate(reason: "the private key belongs to another certificate")
    }
    unsafe self.certificate = unsafe certificate
    unsafe self.privateKey = unsafe privateKey
    derBytes = unsafe encodeDER { unsafe i2d_X509(certificate, $0) }
    fingerprint = try DTLSFingerprint(of: derBytes)
  }

  deinit {
    unsafe X509_free(certificate)
    unsafe EVP_PKEY_free(privateKey)
  }

  /// Makes a self-signed ECDSA P-256 certificate, as RFC 8827 §6.5 wants one.
  ///
  /// libcrypto draws the key from its own generator and reads the machine's clock for the dates: secrets don't come
  /// from a caller's `RandomSource`, which may be seeded.
  ///
  /// - Parameter days: how long it is valid, 1...365.
  /// - Throws: ``DTLSError/certificate(reason:)``.
  public static func generate(days: Int = 30) throws(DTLSError) -> DTLSCertificate {
    ERR_clear_error()
    guard let key = unsafe sora_dtls_generate_key() else {
      throw .certificate(reason: takeLibraryError())
    }
    guard let certificate = unsafe X509_new() else {
      unsafe EVP_PKEY_free(key)
      throw .certificate(reason: takeLibraryError())
    }
    let day = 86_400
    let lifetime = min(max(days, 1), 365) * day
    // A random serial number of 63 bits, as two certificates of one name should differ.
    var serial: UInt64 = 0
    let name = unsafe X509_NAME_new()
    defer { unsafe X509_NAME_free(name) }
    let made =
      unsafe withUnsafeMutableBytes(of: &serial) {
        unsafe RAND_bytes($0.baseAddress!.assumingMemoryBound(to: UInt8.self), 8)
      } == 1
      && X509_set_version(certificate, 2) == 1
      && ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1 | 1) == 1
      // Peers' clocks may be behind: valid since yesterday.
      && X509_gmtime_adj(X509_getm_notBefore(certificate), -day) != nil
      && X509_gmtime_adj(X509_getm_notAfter(certificate), lifetime) != nil
      && X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, Array("WebRTC".utf8), 6, -1, 0) == 1
      && X509_set_subject_name(certificate, name) == 1
      && X509_set_issuer_name(certificate, name) == 1
      && X509_set_pubkey(certificate, key) == 1
      && X509_sign(certificate, key, EVP_sha256()) > 0
    guard made else {
      unsafe X509_free(certificate)
      unsafe EVP_PKEY_free(key)
      throw .certificate(reason: takeLibraryError())
    }
    return unsafe try DTLSCertificate(certificate: certificate, privateKey: key)
  }

  /// Reads a certificate and its key that were kept.
  ///
  /// - Parameters:
  ///   - der: the certificate in DER.
  ///   - privateKeyDER: its private key in DER (PKCS #8, or the key type's own form).
  /// - Throws: ``DTLSError/certificate(reason:)``.
  public convenience init(der: [UInt8], privateKeyDER: [UInt8]) throws(DTLSError) {
    ERR_clear_error()
    let certificate = unsafe der.withUnsafeBufferPointer { bytes -> OpaquePointer? in
      var position = bytes.baseAddress
      return unsafe d2i_X509(nil, &position, bytes.count)
    }
    guard let certificate = unsafe certificate else {
      throw .certificate(reason: takeLibraryError())
    }
    let key = unsafe privateKeyDER.withUnsafeBufferPointer { bytes -> OpaquePointer? in
      var position = bytes.baseAddress
      return unsafe d2i_AutoPrivateKey(nil, &position, bytes.count)
    }
    guard let key = unsafe key else {
      unsafe X509_free(certificate)
      throw .certificate(reason: takeLibraryError())
    }
    unsafe try self.init(certificate: certificate, privateKey: key)
  }

  /// The private key in DER, to be kept. Secret.
  public var privateKeyDER: [UInt8] { unsafe encodeDER { unsafe i2d_PrivateKey(privateKey, $0) } }

  /// The certificate's hash by another algorithm than SHA-256.
  ///
  /// - Throws: ``DTLSError/unsupportedHash(_:)``.
  public func fingerprint(algorithm: String) throws(DTLSError) -> DTLSFingerprint {
    try DTLSFingerprint(of: derBytes, algorithm: algorithm)
  }
}

/// Runs one of libcrypto's `i2d` functions into an array.
func encodeDER(
  _ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
) -> [UInt8] {
  var memory: UnsafeMutablePointer<UInt8>?
  let count = unsafe encode(&memory)
  guard count > 0, let memory = unsafe memory else { return [] }
  defer { unsafe CRYPTO_free(memory, nil, 0) }
  return unsafe Array(UnsafeBufferPointer(start: memory, count: Int(count)))
}

/// What libcrypto says of its last failure on this thread, whose queue is emptied.
func takeLibraryError() -> String {
  unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 160) { text in
    unsafe sora_dtls_take_error(text.baseAddress!, text.count)
    return unsafe String(cString: text.baseAddress!)
  }
}
