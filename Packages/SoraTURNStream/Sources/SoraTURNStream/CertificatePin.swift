import SoraDTLS

enum CertificatePin {
  /// Whether a certificate (DER) is the one whose SHA-256 is `pin`.
  static func matches(_ certificate: [UInt8]?, _ pin: [UInt8]) -> Bool {
    guard let certificate, let print = try? DTLSFingerprint(of: certificate) else { return false }
    return print.bytes == pin
  }
}
