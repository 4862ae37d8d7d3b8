import SoraMedia
import SoraWire

/// What an INIT ACK makes the peer keep for this end, which keeps nothing until it comes back (RFC 9260 §5.1.3).
struct StateCookie {
  var createdAt: Instant
  var localTag: UInt32
  var peerTag: UInt32
  var localFirstTSN: UInt32
  var peerFirstTSN: UInt32
  var peerWindow: UInt32
  var outgoingStreams: UInt16
  var incomingStreams: UInt16
  var extensions: Initiation.Extensions
  /// The tags of the association that was there when the INIT came; 0 where there was none (RFC 9260 §5.2.2).
  var tieLocalTag: UInt32 = 0
  var tiePeerTag: UInt32 = 0

  /// Bytes of a cookie, its signature included.
  static let count = 57

  func signed(with key: SipHash) -> [UInt8] {
    var bytes = [UInt8](bigEndian: createdAt.nanoseconds)
    for word in [
      localTag, peerTag, localFirstTSN, peerFirstTSN, peerWindow, tieLocalTag, tiePeerTag,
    ] {
      bytes.append(bigEndian: word)
    }
    bytes.append(bigEndian: outgoingStreams)
    bytes.append(bigEndian: incomingStreams)
    bytes.append(
      (extensions.partialReliability ? 1 : 0) | (extensions.streamReset ? 2 : 0)
        | (extensions.interleaving ? 4 : 0) | (extensions.zeroChecksum ? 8 : 0))
    // Two lengths under one key: 128 bits of signature.
    bytes.append(bigEndian: key.hash(bytes.rawSpan))
    bytes.append(bigEndian: key.hash(bytes.rawSpan))
    return bytes
  }

  /// `nil` for what wasn't signed with `key`.
  init?(_ bytes: RawSpan, signedWith key: SipHash) {
    guard bytes.byteCount == StateCookie.count,
      key.hash(bytes.part(0, 41)) == bytes.u64(41), key.hash(bytes.part(0, 49)) == bytes.u64(49)
    else { return nil }
    createdAt = Instant(nanoseconds: Int64(bitPattern: bytes.u64(0)))
    localTag = bytes.u32(8)
    peerTag = bytes.u32(12)
    localFirstTSN = bytes.u32(16)
    peerFirstTSN = bytes.u32(20)
    peerWindow = bytes.u32(24)
    tieLocalTag = bytes.u32(28)
    tiePeerTag = bytes.u32(32)
    outgoingStreams = bytes.u16(36)
    incomingStreams = bytes.u16(38)
    let flags = bytes.u8(40)
    extensions = Initiation.Extensions(
      partialReliability: flags & 1 != 0, streamReset: flags & 2 != 0,
      interleaving: flags & 4 != 0, zeroChecksum: flags & 8 != 0)
  }

  init(
    createdAt: Instant, localTag: UInt32, localFirstTSN: UInt32, outgoingStreams: UInt16,
    incomingStreams: UInt16, extensions: Initiation.Extensions, peer: Initiation
  ) {
    self.createdAt = createdAt
    self.localTag = localTag
    self.localFirstTSN = localFirstTSN
    peerTag = peer.tag
    peerFirstTSN = peer.firstTSN
    peerWindow = peer.window
    self.outgoingStreams = outgoingStreams
    self.incomingStreams = incomingStreams
    self.extensions = extensions
  }
}
