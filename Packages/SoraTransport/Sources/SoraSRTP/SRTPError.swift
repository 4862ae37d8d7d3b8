/// Why a packet couldn't be protected or unprotected, or a session not made.
///
/// None of these ends a session: the packet is dropped and counted in ``SRTPStatistics``, the next one is
/// judged for itself.
public enum SRTPError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The master key has another length than the profile wants.
  case invalidKeyLength(expected: Int, actual: Int)
  /// The master salt has another length than the profile wants.
  case invalidSaltLength(expected: Int, actual: Int)
  /// The bytes aren't a whole RTP or RTCP packet of version 2, or are too short to be protected ones.
  case malformed
  /// The buffer has no room for the tag and the index: it needs this many bytes.
  case bufferTooSmall(needed: Int)
  /// The tag doesn't match: the packet was forged or damaged, or the two ends have different keys.
  case authenticationFailed
  /// A packet with this index was seen before. Senders must not protect two packets with one index.
  case replayed
  /// The packet is older than the replay window reaches.
  case tooOld
  /// A packet is to be protected again that never was.
  case neverProtected
  /// The session keeps state for as many SSRCs as it may in this direction already, and can let none of them go: one that is sent
  /// never, one that is received not while it was heard lately.
  case tooManyStreams(limit: Int)
  /// The stream has used up every packet index of its key (RFC 3711 §9.2): negotiate a new key.
  case keyExhausted
  /// libsrtp or libcrypto refused an operation that should always work; the library's own code.
  case libraryFailure(code: Int32)

  public var description: String {
    switch self {
    case .invalidKeyLength(let expected, let actual):
      "the SRTP master key has \(actual) bytes, the profile wants \(expected)"
    case .invalidSaltLength(let expected, let actual):
      "the SRTP master salt has \(actual) bytes, the profile wants \(expected)"
    case .malformed: "not an RTP or RTCP packet of version 2, or truncated"
    case .bufferTooSmall(let needed): "the packet's buffer must have room for \(needed) bytes"
    case .authenticationFailed: "the SRTP authentication tag doesn't match"
    case .replayed: "a packet with this SRTP index was already processed"
    case .tooOld: "the packet is older than the SRTP replay window"
    case .neverProtected: "a packet is to be repeated that hasn't been sent"
    case .tooManyStreams(let limit):
      "more than \(limit) SSRCs in use in one direction of an SRTP session"
    case .keyExhausted: "every packet index of this SRTP key is used up: negotiate a new key"
    case .libraryFailure(let code): "the SRTP library failed with code \(code)"
    }
  }
}

/// What a session did, and what it dropped for which reason. Every count only grows.
public struct SRTPStatistics: Hashable, Sendable {
  /// Packets (RTP and RTCP) that were protected.
  public var packetsProtected: UInt64 = 0
  /// Packets (RTP and RTCP) that were authenticated and decrypted.
  public var packetsUnprotected: UInt64 = 0
  /// Packets whose tag was wrong.
  public var authenticationFailures: UInt64 = 0
  /// Packets whose index was already seen.
  public var replays: UInt64 = 0
  /// Packets older than the replay window.
  public var tooOld: UInt64 = 0
  /// Bytes that aren't RTP or RTCP.
  public var malformed: UInt64 = 0
  /// Packets of SSRCs beyond the limit, for which no other could go.
  public var streamsRefused: UInt64 = 0
  /// Packets dropped for any other reason.
  public var otherFailures: UInt64 = 0

  public init() {}

  mutating func count(_ error: SRTPError) {
    switch error {
    case .authenticationFailed: authenticationFailures &+= 1
    case .replayed: replays &+= 1
    case .tooOld: tooOld &+= 1
    case .malformed: malformed &+= 1
    case .tooManyStreams: streamsRefused &+= 1
    default: otherFailures &+= 1
    }
  }
}
