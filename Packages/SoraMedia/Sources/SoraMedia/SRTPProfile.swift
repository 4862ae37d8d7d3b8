/// The SRTP protection profiles this project speaks, by their number in the `use_srtp` extension of DTLS.
///
/// Declared here because the key exchange and the packet protection must mean the same thing by it and
/// otherwise don't know each other.
public enum SRTPProfile: UInt16, Hashable, Sendable, CaseIterable, CustomStringConvertible {
  /// AES-128 counter mode with an 80-bit HMAC-SHA1 tag (RFC 5764 §4.1.2, RFC 3711 §8.2).
  case aes128CMSHA1_80 = 0x0001

  /// AES-128 in Galois/counter mode with a 128-bit tag (RFC 7714 §14.2).
  case aeadAES128GCM = 0x0007

  /// AES-256 in Galois/counter mode with a 128-bit tag (RFC 7714 §14.2).
  case aeadAES256GCM = 0x0008

  /// Bytes of a master key.
  @inlinable
  public var keyLength: Int { self == .aeadAES256GCM ? 32 : 16 }

  /// Bytes of a master salt.
  @inlinable
  public var saltLength: Int { self == .aes128CMSHA1_80 ? 14 : 12 }

  /// Bytes of the authentication tag at the end of a packet.
  @inlinable
  public var tagLength: Int { self == .aes128CMSHA1_80 ? 10 : 16 }

  /// Bytes that protection adds to an RTP packet.
  @inlinable
  public var rtpOverhead: Int { tagLength }

  /// Bytes that protection adds to an RTCP packet: the tag, and the E flag with the 31-bit index.
  @inlinable
  public var rtcpOverhead: Int { tagLength + 4 }

  /// The name in IANA's registry of DTLS-SRTP protection profiles, as `RTCTransportStats.srtpCipher` wants it.
  public var name: String {
    switch self {
    case .aes128CMSHA1_80: "SRTP_AES128_CM_HMAC_SHA1_80"
    case .aeadAES128GCM: "SRTP_AEAD_AES_128_GCM"
    case .aeadAES256GCM: "SRTP_AEAD_AES_256_GCM"
    }
  }

  public var description: String { name }
}

/// The master key and master salt of one direction of SRTP.
///
/// Its description tells lengths only, so that a log line can't give the key away.
public struct SRTPKeyingMaterial: Hashable, Sendable, CustomStringConvertible,
  CustomDebugStringConvertible, CustomReflectable
{
  /// The master key, `SRTPProfile.keyLength` bytes.
  public var key: [UInt8]

  /// The master salt, `SRTPProfile.saltLength` bytes.
  public var salt: [UInt8]

  public init(key: [UInt8], salt: [UInt8]) {
    self.key = key
    self.salt = salt
  }

  public var description: String { "SRTPKeyingMaterial(\(key.count)+\(salt.count) bytes)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
