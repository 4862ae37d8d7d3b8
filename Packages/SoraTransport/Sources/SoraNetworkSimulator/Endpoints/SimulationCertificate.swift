public import SoraDTLS

/// Certificates that are the same in every run, so that a simulation's datagrams are too.
///
/// `DTLSCertificate.generate()` draws a new key each time. These share one key, which is printed below: never use them
/// outside a simulation.
public enum SimulationCertificate {
  /// A certificate whose serial number, and so whose fingerprint, is made from `number`. Its signature doesn't verify;
  /// the stand-in handshake compares fingerprints only.
  ///
  /// - Throws: `DTLSError.certificate` where libcrypto can't read it.
  public static func make(_ number: UInt64) throws(DTLSError) -> DTLSCertificate {
    var der = bytes(certificate)
    // The serial number's eight bytes; the highest two bits keep it positive and minimal in DER.
    let serial = number & 0x3FFF_FFFF_FFFF_FFFF | 0x4000_0000_0000_0000
    for index in 0..<8 {
      der[15 + index] = UInt8(truncatingIfNeeded: serial >> UInt64(56 - 8 * index))
    }
    return try DTLSCertificate(der: der, privateKeyDER: bytes(privateKey))
  }

  private static func bytes(_ text: String) -> [UInt8] {
    var result: [UInt8] = []
    var high: UInt8?
    for character in text.utf8 {
      let digit = character >= UInt8(ascii: "a") ? character - 87 : character - 48
      if let upper = high {
        result.append(upper << 4 | digit)
        high = nil
      } else {
        high = digit
      }
    }
    return result
  }

  private static let certificate = """
    3082017e30820123a00302010202085a5a5a5a5a5a5a5a300a06082a8648ce3d040302301931173015060355\
    04030c0e536f726153696d756c6174696f6e3020170d3236313132313034323130315a180f32313236313032\
    383034323130315a30193117301506035504030c0e536f726153696d756c6174696f6e3059301306072a8648\
    ce3d020106082a8648ce3d03010703420004a6bc548a586c2e2a5657ed2405412fbd0a05dadb744e7a3479e1\
    56ed9db9b7688bb60d128636b6fef679cd1ee76e12f22a8dd5c5ce0bb45c397a2e41d33cf9baa3533051301d\
    0603551d0e04160414b1ad83e5fd12e76a8ea3a259321ce2f349991c34301f0603551d23041830168014b1ad\
    83e5fd12e76a8ea3a259321ce2f349991c34300f0603551d130101ff040530030101ff300a06082a8648ce3d\
    0403020349003046022100c9b81a4bb8c7eda0af4fae3a992128382ce33a35250d5ae6de9c2fdb5324b21a02\
    21008408aa7556e49ff7a20aab33f4d77ebf12e9d544c612ca1c09c1232a6b28c33d
    """

  private static let privateKey = """
    308187020100301306072a8648ce3d020106082a8648ce3d030107046d306b0201010420a23d4d37e9babaa1\
    6215e0077b0c4d251daa73d5576e303f167eaf66bd7574c5a14403420004a6bc548a586c2e2a5657ed240541\
    2fbd0a05dadb744e7a3479e156ed9db9b7688bb60d128636b6fef679cd1ee76e12f22a8dd5c5ce0bb45c397a\
    2e41d33cf9ba
    """
}
