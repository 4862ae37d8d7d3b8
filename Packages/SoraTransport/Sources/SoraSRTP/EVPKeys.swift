import COpenSSL
import SoraDigest
import SoraMedia

/// The session keys of RTP or of RTCP in one direction, and what they do to one packet.
///
/// `hmac` tells the two kinds apart: with it AES-CM and HMAC-SHA1-80, without it AES-GCM.
struct EVPKeys: ~Copyable {
  private static let shortTag = 10
  private static let longTag = 16

  let cipher: EVPCipher
  let hmac: HMACSHA1?
  /// The session salt as the first and last 64 bits of an IV.
  let saltHigh: UInt64
  let saltLow: UInt64

  init(
    profile: SRTPProfile, master: SRTPKeyingMaterial, encrypting: Bool,
    labels: (
      encryption: SRTPKeyDerivation.Label, authentication: SRTPKeyDerivation.Label,
      salt: SRTPKeyDerivation.Label
    )
  ) throws(SRTPError) {
    var key = try SRTPKeyDerivation.derive(
      labels.encryption, count: profile.keyLength, from: master)
    // RFC 3711 §8.2: 160 bits of authentication key.
    var secret = try SRTPKeyDerivation.derive(labels.authentication, count: 20, from: master)
    var salt = try SRTPKeyDerivation.derive(labels.salt, count: profile.saltLength, from: master)
    defer {
      wipe(&key)
      wipe(&secret)
      wipe(&salt)
    }
    try self.init(
      profile: profile, key: key, authenticationKey: secret, salt: salt, encrypting: encrypting)
  }

  /// Takes session keys that are derived already. The AEAD profiles don't use `authenticationKey`.
  init(
    profile: SRTPProfile, key: [UInt8], authenticationKey: [UInt8], salt: [UInt8], encrypting: Bool
  ) throws(SRTPError) {
    let kind: EVPCipher.Kind =
      switch profile {
      case .aes128CMSHA1_80: .counter128
      case .aeadAES128GCM: .gcm128
      case .aeadAES256GCM: .gcm256
      }
    cipher = try EVPCipher(kind: kind, key: key, direction: encrypting ? .encrypt : .decrypt)
    hmac = profile == .aes128CMSHA1_80 ? HMACSHA1(key: authenticationKey) : nil
    var high: UInt64 = 0
    var low: UInt64 = 0
    for position in 0..<16 {
      let byte = UInt64(position < salt.count ? salt[position] : 0)
      if position < 8 { high = high << 8 | byte } else { low = low << 8 | byte }
    }
    saltHigh = high
    saltLow = low
  }

  /// How far from the packet's end the E flag and the index of SRTCP stand.
  var controlTrailer: Int { hmac == nil ? 4 : 4 + Self.shortTag }

  /// Protects a packet whose header is in `destination` already, and whose payload is there or elsewhere.
  @inline(__always)
  func protect(
    _ payload: UnsafeRawPointer, into destination: UnsafeMutableRawPointer, count: Int, header: Int,
    rollover: UInt32, iv: UnsafeRawPointer, scratch: UnsafeMutableRawPointer
  ) throws(SRTPError) -> Int {
    if let hmac {
      // RFC 3711 §3.1: encrypt the payload, then authenticate the whole packet and the rollover counter (§4.2).
      guard
        unsafe cipher.applyKeystream(
          iv: iv, from: payload, into: destination + header, count: count - header)
      else { throw failure() }
      unsafe hmac.authenticate(destination, count: count, suffix: rollover, into: scratch)
      unsafe (destination + count).copyMemory(from: scratch, byteCount: Self.shortTag)
      return count + Self.shortTag
    }
    // RFC 7714 §8.2: the header is authenticated, the payload encrypted as well.
    guard unsafe cipher.begin(iv: iv, authenticating: destination, count: header),
      unsafe cipher.update(payload, into: destination + header, count: count - header),
      unsafe cipher.seal(tag: destination + count)
    else { throw failure() }
    return count + Self.longTag
  }

  @inline(__always)
  func unprotect(
    _ packet: UnsafeMutableRawPointer, count: Int, header: Int, rollover: UInt32,
    iv: UnsafeRawPointer, scratch: UnsafeMutableRawPointer
  ) throws(SRTPError) -> Int {
    if let hmac {
      let plain = count - Self.shortTag
      unsafe hmac.authenticate(packet, count: plain, suffix: rollover, into: scratch)
      guard unsafe CRYPTO_memcmp(scratch, packet + plain, Self.shortTag) == 0 else {
        throw .authenticationFailed
      }
      guard
        unsafe cipher.applyKeystream(
          iv: iv, from: packet + header, into: packet + header, count: plain - header)
      else { throw failure() }
      return plain
    }
    let plain = count - Self.longTag
    guard unsafe cipher.begin(iv: iv, authenticating: packet, count: header),
      unsafe cipher.update(packet + header, into: packet + header, count: plain - header)
    else { throw failure() }
    guard unsafe cipher.open(tag: packet + plain) else { throw .authenticationFailed }
    return plain
  }

  @inline(__always)
  func protectControl(
    _ packet: UnsafeMutableRawPointer, count: Int, index: UInt32, iv: UnsafeRawPointer,
    scratch: UnsafeMutableRawPointer
  ) throws(SRTPError) -> Int {
    let header = SRTPPacket.rtcpHeader
    let body = unsafe packet + header
    var trailer = (index | SRTPPacket.encryptedFlag).bigEndian
    if let hmac {
      // RFC 3711 §3.4: everything behind the first SSRC is encrypted, then all of it and the index authenticated.
      guard unsafe cipher.applyKeystream(iv: iv, from: body, into: body, count: count - header)
      else {
        throw failure()
      }
      unsafe (packet + count).copyMemory(from: &trailer, byteCount: 4)
      unsafe hmac.authenticate(packet, count: count + 4, suffix: nil, into: scratch)
      unsafe (packet + count + 4).copyMemory(from: scratch, byteCount: Self.shortTag)
      return count + 4 + Self.shortTag
    }
    // RFC 7714 §9.2: the header and the index word are authenticated, the index word stands behind the tag.
    guard unsafe cipher.begin(iv: iv, authenticating: packet, count: header),
      unsafe cipher.authenticate(&trailer, count: 4),
      unsafe cipher.update(body, into: body, count: count - header),
      unsafe cipher.seal(tag: packet + count)
    else { throw failure() }
    unsafe (packet + count + Self.longTag).copyMemory(from: &trailer, byteCount: 4)
    return count + Self.longTag + 4
  }

  @inline(__always)
  func unprotectControl(
    _ packet: UnsafeMutableRawPointer, count: Int, iv: UnsafeRawPointer,
    scratch: UnsafeMutableRawPointer
  ) throws(SRTPError) -> Int {
    let header = SRTPPacket.rtcpHeader
    let body = unsafe packet + header
    if let hmac {
      let signed = count - Self.shortTag
      unsafe hmac.authenticate(packet, count: signed, suffix: nil, into: scratch)
      guard unsafe CRYPTO_memcmp(scratch, packet + signed, Self.shortTag) == 0 else {
        throw .authenticationFailed
      }
      let plain = signed - 4
      guard unsafe cipher.applyKeystream(iv: iv, from: body, into: body, count: plain - header)
      else {
        throw failure()
      }
      return plain
    }
    let plain = count - 4 - Self.longTag
    guard unsafe cipher.begin(iv: iv, authenticating: packet, count: header),
      unsafe cipher.authenticate(packet + count - 4, count: 4),
      unsafe cipher.update(body, into: body, count: plain - header)
    else { throw failure() }
    guard unsafe cipher.open(tag: packet + plain) else { throw .authenticationFailed }
    return plain
  }

  private func failure() -> SRTPError { .libraryFailure(code: EVPCipher.lastError()) }
}
