import COpenSSL
import SoraDigest
import SoraWire

/// The hash of a cipher suite.
package enum DTLSHash {
  case sha256
  case sha384

  var length: Int { self == .sha256 ? 32 : 48 }
  var digest: OpaquePointer? { unsafe self == .sha256 ? EVP_sha256() : EVP_sha384() }

  /// Hashes a message.
  package func callAsFunction(_ message: [UInt8]) throws(HandshakeFailure) -> [UInt8] {
    var result = [UInt8](repeating: 0, count: length)
    guard unsafe EVP_Digest(message, message.count, &result, nil, digest, nil) == 1 else {
      throw .library("a hash failed")
    }
    return result
  }
}

/// Keys from keys: the PRF of TLS 1.2, and HKDF with the labels of TLS 1.3.
package enum KeyDerivation {
  /// HMAC (RFC 2104).
  package static func hmac(_ hash: DTLSHash, key: Secret, _ message: RawSpan) -> Secret {
    let result = Secret(zeros: hash.length)
    result.withMutableSpan { code in
      switch hash {
      case .sha256: HMAC.sha256(message, key: key.span, into: &code)
      case .sha384: HMAC.sha384(message, key: key.span, into: &code)
      }
    }
    return result
  }

  package static func hmac(_ hash: DTLSHash, key: Secret, _ message: [UInt8]) -> Secret {
    hmac(hash, key: key, message.rawSpan)
  }

  /// The PRF of TLS 1.2 (RFC 5246 §5).
  package static func prf(
    _ hash: DTLSHash, secret: Secret, label: String, seed: [UInt8], count: Int
  ) -> Secret {
    let labelled = Array(label.utf8) + seed
    let result = Secret(zeros: count)
    var block = hmac(hash, key: secret, labelled)
    var filled = 0
    while filled < count {
      // P_hash: HMAC(secret, A(i) + seed), A(i) = HMAC(secret, A(i - 1)).
      let input = Secret(zeros: hash.length + labelled.count)
      input.withMutableSpan {
        $0.put(block.span, at: 0)
        $0.put(labelled.rawSpan, at: hash.length)
      }
      let output = hmac(hash, key: secret, input.span)
      result.withMutableSpan {
        $0.put(output.span.part(0, min(hash.length, count - filled)), at: filled)
      }
      filled += hash.length
      block = hmac(hash, key: secret, block.span)
    }
    return result
  }

  /// HKDF-Extract (RFC 5869 §2.2).
  package static func extract(_ hash: DTLSHash, salt: Secret, input: Secret) -> Secret {
    hmac(hash, key: salt, input.span)
  }

  /// HKDF-Expand (RFC 5869 §2.3) for at most 255 blocks.
  package static func expand(
    _ hash: DTLSHash, secret: Secret, info: [UInt8], count: Int
  ) throws(HandshakeFailure) -> Secret {
    guard count <= 255 * hash.length else { throw .library("HKDF has no so long output") }
    let result = Secret(zeros: count)
    var filled = 0
    var number: UInt8 = 0
    var previous = Secret(zeros: 0)
    while filled < count {
      number &+= 1
      let input = Secret(zeros: previous.count + info.count + 1)
      input.withMutableSpan {
        $0.put(previous.span, at: 0)
        $0.put(info.rawSpan, at: previous.count)
        $0.put8(number, at: previous.count + info.count)
      }
      previous = hmac(hash, key: secret, input.span)
      result.withMutableSpan {
        $0.put(previous.span.part(0, min(hash.length, count - filled)), at: filled)
      }
      filled += hash.length
    }
    return result
  }

  /// HKDF-Expand-Label (RFC 8446 §7.1), whose labels start with "dtls13" in DTLS (RFC 9147 §5.9) and with "tls13 " in TLS.
  package static func expandLabel(
    _ hash: DTLSHash, secret: Secret, label: String, context: [UInt8] = [], count: Int,
    prefix: String = "dtls13"
  ) throws(HandshakeFailure) -> Secret {
    var info: [UInt8] = []
    info.append16(UInt16(truncatingIfNeeded: count))
    info.appendVector8 { $0 += Array((prefix + label).utf8) }
    info.appendVector8 { $0 += context }
    return try expand(hash, secret: secret, info: info, count: count)
  }
}
