import COpenSSL
import CSRTP
import SoraMedia

/// SRTP over libsrtp2, with one wildcard stream a direction from which the library makes each SSRC's own.
final class LibSRTPTransform: SRTPTransform {
  private let outbound: LibSRTPDirection
  private let inbound: LibSRTPDirection

  init(
    profile: SRTPProfile, local: SRTPKeyingMaterial, remote: SRTPKeyingMaterial, window: Int,
    streams: Int
  ) throws(SRTPError) {
    outbound = try LibSRTPDirection(
      profile: profile, master: local, kind: ssrc_any_outbound, window: window,
      streams: SRTPStreamTable(.sent, window: 64))
    inbound = try LibSRTPDirection(
      profile: profile, master: remote, kind: ssrc_any_inbound, window: window,
      streams: SRTPStreamTable(.received(limit: streams), window: 64))
  }

  /// libsrtp decides that when a session is made, for all packets: here it never repeats one.
  func protectRTPAgain(
    _ source: UnsafeRawPointer, into destination: UnsafeMutableRawPointer, count: Int, header: Int
  ) throws(SRTPError) -> Int {
    throw .replayed
  }

  /// libsrtp would use indices of its SRTCP again: here it keeps all.
  func forgetSent(_ ssrc: UInt32) {}

  var sentCount: Int { outbound.count }

  func protectRTP(
    _ source: SRTPSource, into destination: UnsafeMutableRawPointer, count: Int, header: Int
  ) throws(SRTPError) -> Int {
    // Where it is there already, that is no work.
    unsafe destination.copyMemory(from: source.header, byteCount: header)
    unsafe (destination + header).copyMemory(from: source.payload, byteCount: count - header)
    var length = Int32(truncatingIfNeeded: count)
    unsafe try outbound.run(ssrc: SRTPPacket.loadUInt32(destination, 8)) { session in
      unsafe srtp_protect(session, destination, &length)
    }
    return Int(length)
  }

  func unprotectRTP(
    _ packet: UnsafeMutableRawPointer, count: Int, header: Int
  ) throws(SRTPError) -> Int {
    var length = Int32(truncatingIfNeeded: count)
    unsafe try inbound.run(ssrc: SRTPPacket.loadUInt32(packet, 8)) { session in
      unsafe srtp_unprotect(session, packet, &length)
    }
    return Int(length)
  }

  func protectRTCP(_ packet: UnsafeMutableRawPointer, count: Int) throws(SRTPError) -> Int {
    var length = Int32(truncatingIfNeeded: count)
    unsafe try outbound.run(ssrc: SRTPPacket.loadUInt32(packet, 4)) { session in
      unsafe srtp_protect_rtcp(session, packet, &length)
    }
    return Int(length)
  }

  func unprotectRTCP(_ packet: UnsafeMutableRawPointer, count: Int) throws(SRTPError) -> Int {
    var length = Int32(truncatingIfNeeded: count)
    unsafe try inbound.run(ssrc: SRTPPacket.loadUInt32(packet, 4)) { session in
      unsafe srtp_unprotect_rtcp(session, packet, &length)
    }
    return Int(length)
  }
}

/// One libsrtp session with one wildcard policy.
@safe private final class LibSRTPDirection {
  private let session: srtp_t
  /// libsrtp would keep state for any number of SSRCs; this knows which it has and bounds them. Its windows aren't used.
  private let known: SRTPStreamTable

  init(
    profile: SRTPProfile, master: SRTPKeyingMaterial, kind: srtp_ssrc_type_t, window: Int,
    streams: SRTPStreamTable
  ) throws(SRTPError) {
    guard LibSRTP.status == srtp_err_status_ok else {
      throw .libraryFailure(code: Int32(LibSRTP.status.rawValue))
    }
    var policy = unsafe srtp_policy_t()
    switch profile {
    case .aes128CMSHA1_80:
      // libsrtp's "RTP default" is AES-128 in counter mode with an 80-bit HMAC-SHA1 tag.
      unsafe srtp_crypto_policy_set_rtp_default(&policy.rtp)
      unsafe srtp_crypto_policy_set_rtp_default(&policy.rtcp)
    case .aeadAES128GCM:
      unsafe srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtp)
      unsafe srtp_crypto_policy_set_aes_gcm_128_16_auth(&policy.rtcp)
    case .aeadAES256GCM:
      unsafe srtp_crypto_policy_set_aes_gcm_256_16_auth(&policy.rtp)
      unsafe srtp_crypto_policy_set_aes_gcm_256_16_auth(&policy.rtcp)
    }
    unsafe policy.ssrc.type = kind
    unsafe policy.window_size = UInt(window)
    unsafe policy.allow_repeat_tx = 0
    var key = master.key + master.salt
    var session: srtp_t?
    let status = unsafe key.withUnsafeMutableBufferPointer { bytes in
      unsafe policy.key = bytes.baseAddress
      return unsafe srtp_create(&session, &policy)
    }
    wipe(&key)
    guard status == srtp_err_status_ok, let session = unsafe session else {
      throw .libraryFailure(code: Int32(status.rawValue))
    }
    unsafe self.session = unsafe session
    known = streams
  }

  deinit { unsafe srtp_dealloc(session) }

  /// The sources that it has state of.
  var count: Int { known.count }

  @inline(__always)
  func run(
    ssrc: UInt32, _ operation: (srtp_t) -> srtp_err_status_t
  ) throws(SRTPError) {
    switch unsafe operation(session) {
    case srtp_err_status_ok: break
    case srtp_err_status_auth_fail: throw .authenticationFailed
    case srtp_err_status_replay_fail: throw .replayed
    case srtp_err_status_replay_old, srtp_err_status_pkt_idx_old: throw .tooOld
    case srtp_err_status_bad_param, srtp_err_status_parse_err, srtp_err_status_cant_check:
      throw .malformed
    case srtp_err_status_key_expired: throw .keyExhausted
    case let other: throw .libraryFailure(code: Int32(other.rawValue))
    }
    let number = known.countPacket()
    if unsafe known.find(ssrc) == nil {
      do throws(SRTPError) {
        if let gone = try known.makeRoom() { forget(gone) }
      } catch {
        forget(ssrc)
        throw error
      }
    }
    unsafe try known.findOrInsert(ssrc).pointee.heard = number
  }

  private func forget(_ ssrc: UInt32) {
    _ = unsafe srtp_remove_stream(session, ssrc.bigEndian)
  }
}

/// libsrtp's process-wide state, made at first use and kept.
private enum LibSRTP {
  static let status = srtp_init()
}
