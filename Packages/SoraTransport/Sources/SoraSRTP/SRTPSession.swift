public import SoraMedia

/// One DTLS association's SRTP: protects what is sent with the local key, unprotects what arrives with the remote one.
///
/// Many SSRCs share the session; each has its own rollover counter and replay window, made at its first packet (a received one
/// only once it is authenticated, so that forgeries leave nothing behind). One that is sent is remembered until ``forgetSent(_:)``,
/// 65,536 at most. Of those that are received the longest silent gives way to a new one where there are
/// `maximumStreams`. A session is confined to its owner's thread or loop. It reads no clock and draws no randomness.
public final class SRTPSession {
  /// Who does the cryptography. Both speak the same bytes.
  public enum Implementation: String, Sendable, CaseIterable {
    /// libsrtp2. The oracle of the tests.
    case libsrtp
    /// The transform of this module over libcrypto's keyed contexts. No allocation a packet, and faster.
    case evp
  }

  /// The profile both ends agreed on.
  public let profile: SRTPProfile

  /// Who does the cryptography.
  public let implementation: Implementation

  /// What was done and dropped so far.
  public var statistics: SRTPStatistics { counters }

  // Not the public property itself, whose every use would be checked for overlapping access.
  private var counters = SRTPStatistics()
  private let transform: any SRTPTransform
  private let tagLength: Int

  /// Makes a session from the keys that DTLS exported.
  ///
  /// - Parameters:
  ///   - profile: what DTLS has agreed on.
  ///   - local: what this end protects with.
  ///   - remote: what the peer protects with.
  ///   - implementation: who computes.
  ///   - replayWindow: how many packets of reordering are accepted, 64...32,768; rounded up to a power of two.
  ///   - maximumStreams: how many received SSRCs are kept, at least 1. A further one takes the place of the one that was silent
  ///     longest; while that was heard among the latest `16 * maximumStreams` packets, the further one's are refused and counted.
  /// - Throws: ``SRTPError/invalidKeyLength(expected:actual:)``, ``SRTPError/invalidSaltLength(expected:actual:)`` or
  ///   ``SRTPError/libraryFailure(code:)``.
  public init(
    profile: SRTPProfile, local: SRTPKeyingMaterial, remote: SRTPKeyingMaterial,
    implementation: Implementation = .evp, replayWindow: Int = 1024, maximumStreams: Int = 1024
  ) throws(SRTPError) {
    for material in [local, remote] {
      guard material.key.count == profile.keyLength else {
        throw .invalidKeyLength(expected: profile.keyLength, actual: material.key.count)
      }
      guard material.salt.count == profile.saltLength else {
        throw .invalidSaltLength(expected: profile.saltLength, actual: material.salt.count)
      }
    }
    var window = 64
    while window < min(replayWindow, 32_768) { window *= 2 }
    let streams = max(1, maximumStreams)
    self.profile = profile
    self.implementation = implementation
    self.tagLength = profile.tagLength
    switch implementation {
    case .libsrtp:
      transform = try LibSRTPTransform(
        profile: profile, local: local, remote: remote, window: window, streams: streams)
    case .evp:
      transform = try EVPTransform(
        profile: profile, local: local, remote: remote, window: window, streams: streams)
    }
  }

  /// As the initializer above, with keys and salts as pairs.
  public convenience init(
    profile: SRTPProfile, local: (key: [UInt8], salt: [UInt8]),
    remote: (key: [UInt8], salt: [UInt8]), implementation: Implementation = .evp
  ) throws(SRTPError) {
    try self.init(
      profile: profile, local: SRTPKeyingMaterial(key: local.key, salt: local.salt),
      remote: SRTPKeyingMaterial(key: remote.key, salt: remote.salt),
      implementation: implementation)
  }

  /// A session of the `evp` transform over session keys that are derived already, the same for both directions: for
  /// RFC 7714's vectors.
  package init(profile: SRTPProfile, sessionKeys: SRTPKeyingMaterial) throws(SRTPError) {
    self.profile = profile
    implementation = .evp
    tagLength = profile.tagLength
    transform = try EVPTransform(profile: profile, sessionKeys: sessionKeys)
  }

  /// Protects an RTP packet in place.
  ///
  /// - Parameters:
  ///   - buffer: the packet's buffer, with room for `SRTPProfile.rtpOverhead` bytes after the packet.
  ///   - count: the packet's length, without the payload where that lies elsewhere.
  ///   - payload: a payload that lies elsewhere, stays as it is and doesn't overlap `buffer`: the cipher's pass over it is the copy. nil
  ///     for one that is in the buffer.
  /// - Returns: the protected packet's length.
  public func protectRTP(
    _ buffer: UnsafeMutableRawBufferPointer, count: Int, payload: RawSpan? = nil
  ) throws(SRTPError) -> Int {
    do throws(SRTPError) {
      guard let base = buffer.baseAddress, count <= buffer.count,
        let header = unsafe SRTPPacket.rtpHeaderLength(base, count: count)
      else { throw .malformed }
      let length: Int
      if let payload {
        guard header == count else { throw .malformed }
        let whole = try checkedCount(header, payload.byteCount, in: buffer.count)
        length = unsafe try payload.withUnsafeBytes { bytes throws(SRTPError) in
          let source = unsafe SRTPSource(header: base, payload: bytes.baseAddress ?? .init(base))
          return unsafe try transform.protectRTP(source, into: base, count: whole, header: header)
        }
      } else {
        _ = try checkedCount(count, 0, in: buffer.count)
        let source = unsafe SRTPSource(header: base, payload: base + header)
        length = unsafe try transform.protectRTP(source, into: base, count: count, header: header)
      }
      counters.packetsProtected &+= 1
      return length
    } catch {
      counters.count(error)
      throw error
    }
  }

  /// The length of a packet of two parts that can be protected in so much room.
  private func checkedCount(_ one: Int, _ other: Int, in room: Int) throws(SRTPError) -> Int {
    guard one + other <= SRTPPacket.maximumCount else { throw .malformed }
    guard room >= one + other + tagLength else {
      throw .bufferTooSmall(needed: one + other + tagLength)
    }
    return one + other
  }

  /// Protects the RTP packet in `source` into `destination`, leaving `source` as it is: the cipher's pass over the
  /// packet is the copy.
  ///
  /// - Parameters:
  ///   - source: exactly the packet. Must not overlap `destination`.
  ///   - destination: at least the packet's length and `SRTPProfile.rtpOverhead` bytes.
  /// - Returns: the protected packet's length.
  public func protectRTP(
    from source: UnsafeRawBufferPointer, into destination: UnsafeMutableRawBufferPointer
  ) throws(SRTPError) -> Int {
    do throws(SRTPError) {
      guard let base = source.baseAddress,
        let header = unsafe SRTPPacket.rtpHeaderLength(base, count: source.count)
      else { throw .malformed }
      guard let target = destination.baseAddress, destination.count >= source.count + tagLength
      else { throw .bufferTooSmall(needed: source.count + tagLength) }
      let whole = unsafe SRTPSource(header: base, payload: base + header)
      let length = unsafe try transform.protectRTP(
        whole, into: target, count: source.count, header: header)
      counters.packetsProtected &+= 1
      return length
    } catch {
      counters.count(error)
      throw error
    }
  }

  /// Protects a packet once more that left before, for a receiver that lost it: the outcome is the same, byte by byte.
  ///
  /// - Parameters:
  ///   - source: exactly the packet, unchanged since. One that was changed in any bit would share its key stream with what left before,
  ///     and under GCM give the authentication key away (RFC 7714 §8.1).
  ///   - destination: as for `protectRTP(from:into:)`.
  /// - Returns: the protected packet's length.
  /// - Throws: `SRTPError.neverProtected` for one that hasn't left, `.tooOld` behind the window, and `.replayed` always where
  ///   libsrtp does the cryptography.
  public func protectRTPAgain(
    from source: UnsafeRawBufferPointer, into destination: UnsafeMutableRawBufferPointer
  ) throws(SRTPError) -> Int {
    do throws(SRTPError) {
      guard let base = source.baseAddress,
        let header = unsafe SRTPPacket.rtpHeaderLength(base, count: source.count)
      else { throw .malformed }
      guard let target = destination.baseAddress, destination.count >= source.count + tagLength
      else { throw .bufferTooSmall(needed: source.count + tagLength) }
      let length = unsafe try transform.protectRTPAgain(
        base, into: target, count: source.count, header: header)
      counters.packetsProtected &+= 1
      return length
    } catch {
      counters.count(error)
      throw error
    }
  }

  /// Lets go of a source that was sent, so that any number of them may follow one another. libsrtp keeps them.
  ///
  /// - Parameter ssrc: ended for good: no RTP packet may leave from it any more. It would begin anew, at rollover 0, and two packets could
  ///   share one key stream (RFC 7714 §8.1). RTCP may still name it.
  public func forgetSent(_ ssrc: UInt32) { transform.forgetSent(ssrc) }

  /// How many sources that were sent are known.
  public var sentSourceCount: Int { transform.sentCount }

  /// Authenticates and decrypts an SRTP packet in place. When it throws, the packet's bytes are undefined.
  ///
  /// - Returns: the plain packet's length.
  public func unprotectRTP(
    _ buffer: UnsafeMutableRawBufferPointer, count: Int
  ) throws(SRTPError) -> Int {
    do throws(SRTPError) {
      guard let base = buffer.baseAddress, count <= buffer.count,
        let header = unsafe SRTPPacket.rtpHeaderLength(base, count: count),
        count >= header + tagLength
      else { throw .malformed }
      let length = unsafe try transform.unprotectRTP(base, count: count, header: header)
      counters.packetsUnprotected &+= 1
      return length
    } catch {
      counters.count(error)
      throw error
    }
  }

  /// Protects a compound RTCP packet in place.
  ///
  /// - Parameters:
  ///   - buffer: the packet's buffer, with room for `SRTPProfile.rtcpOverhead` bytes after the packet.
  ///   - count: the packet's length.
  /// - Returns: the protected packet's length.
  public func protectRTCP(
    _ buffer: UnsafeMutableRawBufferPointer, count: Int
  ) throws(SRTPError) -> Int {
    do throws(SRTPError) {
      guard let base = buffer.baseAddress, count <= buffer.count,
        unsafe SRTPPacket.isRTCP(base, count: count)
      else { throw .malformed }
      guard buffer.count >= count + tagLength + 4 else {
        throw .bufferTooSmall(needed: count + tagLength + 4)
      }
      let length = unsafe try transform.protectRTCP(base, count: count)
      counters.packetsProtected &+= 1
      return length
    } catch {
      counters.count(error)
      throw error
    }
  }

  /// Authenticates and decrypts an SRTCP packet in place. When it throws, the packet's bytes are undefined.
  ///
  /// A packet that is authenticated only, not encrypted, is refused as malformed: WebRTC always encrypts
  /// (RFC 8834 §4.1 by way of RFC 5764's profiles).
  ///
  /// - Returns: the plain packet's length.
  public func unprotectRTCP(
    _ buffer: UnsafeMutableRawBufferPointer, count: Int
  ) throws(SRTPError) -> Int {
    do throws(SRTPError) {
      guard let base = buffer.baseAddress, count <= buffer.count,
        unsafe SRTPPacket.isRTCP(base, count: count), count >= SRTPPacket.rtcpHeader + tagLength + 4
      else { throw .malformed }
      // RFC 3711 §3.4: the E flag and the index stand before the tag of the HMAC profile. RFC 7714 §9.2: they
      // stand after the tag of the AEAD profiles.
      let trailer = profile == .aes128CMSHA1_80 ? count - tagLength - 4 : count - 4
      guard unsafe SRTPPacket.loadUInt32(base, trailer) & SRTPPacket.encryptedFlag != 0 else {
        throw .malformed
      }
      let length = unsafe try transform.unprotectRTCP(base, count: count)
      counters.packetsUnprotected &+= 1
      return length
    } catch {
      counters.count(error)
      throw error
    }
  }
}
