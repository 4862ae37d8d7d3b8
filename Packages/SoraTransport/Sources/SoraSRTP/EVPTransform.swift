import COpenSSL
import SoraMedia

/// SRTP over libcrypto: RFC 3711's AES-CM with HMAC-SHA1-80, and RFC 7714's AES-GCM.
final class EVPTransform: SRTPTransform {
  private let outbound: EVPDirection
  private let inbound: EVPDirection

  init(
    profile: SRTPProfile, local: SRTPKeyingMaterial, remote: SRTPKeyingMaterial, window: Int,
    streams: Int
  ) throws(SRTPError) {
    outbound = try EVPDirection(
      profile: profile, master: local, encrypting: true,
      streams: SRTPStreamTable(.sent, window: window))
    inbound = try EVPDirection(
      profile: profile, master: remote, encrypting: false,
      streams: SRTPStreamTable(.received(limit: streams), window: window))
  }

  /// Uses session keys that are derived already, the same for RTP and RTCP and both directions, as the vectors of
  /// RFC 7714 do.
  init(profile: SRTPProfile, sessionKeys: SRTPKeyingMaterial) throws(SRTPError) {
    outbound = try EVPDirection(
      profile: profile, sessionKeys: sessionKeys, encrypting: true,
      streams: SRTPStreamTable(.sent, window: 1024))
    inbound = try EVPDirection(
      profile: profile, sessionKeys: sessionKeys, encrypting: false,
      streams: SRTPStreamTable(.received(limit: 16), window: 1024))
  }

  func protectRTP(
    _ source: SRTPSource, into destination: UnsafeMutableRawPointer, count: Int, header: Int
  ) throws(SRTPError) -> Int {
    let stream = unsafe try outbound.streams.findOrInsert(SRTPPacket.loadUInt32(source.header, 8))
    let index = unsafe try SRTPIndex.estimate(
      highest: stream.pointee.rtp.highest, sequence: SRTPPacket.loadUInt16(source.header, 2))
    // Two packets under one index would share their key stream, and under GCM give the authentication key away
    // (RFC 7714 §8.1), so a sender is held to fresh indices as a receiver is.
    unsafe try stream.pointee.rtp.check(index)
    let length = unsafe try protect(source, into: destination, count, header, index)
    unsafe stream.pointee.rtp.insert(index)
    return length
  }

  func protectRTPAgain(
    _ source: UnsafeRawPointer, into destination: UnsafeMutableRawPointer, count: Int, header: Int
  ) throws(SRTPError) -> Int {
    guard let stream = unsafe outbound.streams.find(SRTPPacket.loadUInt32(source, 8)) else {
      throw .neverProtected
    }
    let index = unsafe try SRTPIndex.estimate(
      highest: stream.pointee.rtp.highest, sequence: SRTPPacket.loadUInt16(source, 2))
    guard unsafe try stream.pointee.rtp.contains(index) else { throw .neverProtected }
    let whole = unsafe SRTPSource(header: source, payload: source + header)
    return unsafe try protect(whole, into: destination, count, header, index)
  }

  private func protect(
    _ source: SRTPSource, into destination: UnsafeMutableRawPointer, _ count: Int, _ header: Int,
    _ index: UInt64
  ) throws(SRTPError) -> Int {
    // Where it is there already, that is no work.
    unsafe destination.copyMemory(from: source.header, byteCount: header)
    unsafe outbound.setIV(outbound.rtp, ssrc: SRTPPacket.loadUInt32(source.header, 8), index: index)
    return unsafe try outbound.rtp.protect(
      source.payload, into: destination, count: count, header: header,
      rollover: UInt32(truncatingIfNeeded: index >> 16), iv: outbound.iv, scratch: outbound.scratch)
  }

  func unprotectRTP(
    _ packet: UnsafeMutableRawPointer, count: Int, header: Int
  ) throws(SRTPError) -> Int {
    let ssrc = unsafe SRTPPacket.loadUInt32(packet, 8)
    let known = unsafe inbound.streams.find(ssrc)
    let index = unsafe try SRTPIndex.estimate(
      highest: known?.pointee.rtp.highest ?? 0, sequence: SRTPPacket.loadUInt16(packet, 2))
    unsafe try known?.pointee.rtp.check(index)
    inbound.setIV(inbound.rtp, ssrc: ssrc, index: index)
    let length = unsafe try inbound.rtp.unprotect(
      packet, count: count, header: header, rollover: UInt32(truncatingIfNeeded: index >> 16),
      iv: inbound.iv, scratch: inbound.scratch)
    let number = inbound.streams.countPacket()
    let stream =
      if let known = unsafe known { unsafe known } else {
        unsafe try inbound.streams.findOrInsert(ssrc)
      }
    unsafe stream.pointee.rtp.insert(index)
    unsafe stream.pointee.heard = number
    return length
  }

  func forgetSent(_ ssrc: UInt32) { outbound.streams.forget(ssrc) }

  var sentCount: Int { outbound.streams.count }

  func protectRTCP(_ packet: UnsafeMutableRawPointer, count: Int) throws(SRTPError) -> Int {
    let stream = unsafe try outbound.streams.findOrInsert(SRTPPacket.loadUInt32(packet, 4))
    // RFC 3711 §3.4 counts from 0; libsrtp and its many users count from 1, and receivers don't mind.
    let index = unsafe stream.pointee.rtcp.highest + 1
    guard index <= SRTPIndex.maximumRTCP else { throw .keyExhausted }
    unsafe outbound.setIV(outbound.rtcp, ssrc: stream.pointee.ssrc, index: index)
    let length = unsafe try outbound.rtcp.protectControl(
      packet, count: count, index: UInt32(truncatingIfNeeded: index), iv: outbound.iv,
      scratch: outbound.scratch)
    unsafe stream.pointee.rtcp.insert(index)
    return length
  }

  func unprotectRTCP(_ packet: UnsafeMutableRawPointer, count: Int) throws(SRTPError) -> Int {
    let ssrc = unsafe SRTPPacket.loadUInt32(packet, 4)
    let known = unsafe inbound.streams.find(ssrc)
    let trailer = unsafe SRTPPacket.loadUInt32(packet, count - inbound.rtcp.controlTrailer)
    let index = UInt64(trailer & ~SRTPPacket.encryptedFlag)
    unsafe try known?.pointee.rtcp.check(index)
    inbound.setIV(inbound.rtcp, ssrc: ssrc, index: index)
    let length = unsafe try inbound.rtcp.unprotectControl(
      packet, count: count, iv: inbound.iv, scratch: inbound.scratch)
    let number = inbound.streams.countPacket()
    let stream =
      if let known = unsafe known { unsafe known } else {
        unsafe try inbound.streams.findOrInsert(ssrc)
      }
    unsafe stream.pointee.rtcp.insert(index)
    unsafe stream.pointee.heard = number
    return length
  }
}

/// The contexts of one direction, made once from its master key.
@safe struct EVPDirection: ~Copyable {
  let rtp: EVPKeys
  let rtcp: EVPKeys
  let streams: SRTPStreamTable
  /// 16 bytes that hold the IV of the packet at hand.
  let iv: UnsafeMutableRawPointer
  /// 20 bytes for a whole HMAC.
  let scratch: UnsafeMutableRawPointer

  init(
    profile: SRTPProfile, master: SRTPKeyingMaterial, encrypting: Bool, streams: SRTPStreamTable
  ) throws(SRTPError) {
    self.init(
      rtp: try EVPKeys(
        profile: profile, master: master, encrypting: encrypting,
        labels: (.rtpEncryption, .rtpAuthentication, .rtpSalt)),
      rtcp: try EVPKeys(
        profile: profile, master: master, encrypting: encrypting,
        labels: (.rtcpEncryption, .rtcpAuthentication, .rtcpSalt)),
      streams: streams)
  }

  init(
    profile: SRTPProfile, sessionKeys: SRTPKeyingMaterial, encrypting: Bool,
    streams: SRTPStreamTable
  ) throws(SRTPError) {
    func keys() throws(SRTPError) -> EVPKeys {
      try EVPKeys(
        profile: profile, key: sessionKeys.key, authenticationKey: [], salt: sessionKeys.salt,
        encrypting: encrypting)
    }
    self.init(rtp: try keys(), rtcp: try keys(), streams: streams)
  }

  private init(rtp: consuming EVPKeys, rtcp: consuming EVPKeys, streams: SRTPStreamTable) {
    self.rtp = rtp
    self.rtcp = rtcp
    self.streams = streams
    unsafe iv = .allocate(byteCount: 16, alignment: 16)
    unsafe scratch = .allocate(byteCount: 32, alignment: 16)
  }

  deinit {
    unsafe iv.deallocate()
    unsafe scratch.deallocate()
  }

  @inline(__always)
  func setIV(_ keys: borrowing EVPKeys, ssrc: UInt32, index: UInt64) {
    let high: UInt64
    let low: UInt64
    if keys.hmac != nil {
      // RFC 3711 §4.1.1: salt * 2^16 XOR SSRC * 2^64 XOR index * 2^16; the last 16 bits count blocks.
      high = keys.saltHigh ^ UInt64(ssrc)
      low = keys.saltLow ^ (index << 16)
    } else {
      // RFC 7714 §8.1 and §9.1: two zero bytes, the SSRC, and the index in 48 bits, XOR the salt.
      high = keys.saltHigh ^ (UInt64(ssrc) << 16 | index >> 32)
      low = keys.saltLow ^ (index << 32)
    }
    unsafe iv.storeBytes(of: high.bigEndian, as: UInt64.self)
    unsafe iv.storeBytes(of: low.bigEndian, toByteOffset: 8, as: UInt64.self)
  }
}
