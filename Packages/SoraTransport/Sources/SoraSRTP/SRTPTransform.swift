import SoraMedia

/// A plain packet: its header, and its payload, which lies behind it or elsewhere.
@safe struct SRTPSource {
  let header, payload: UnsafeRawPointer
}

/// The seam between a session and what does the cryptography.
///
/// The session has checked the packet's shape before: `count` bytes that start with a whole header of
/// `header` bytes, and room for what protection adds. Buffers are either the same or don't overlap.
protocol SRTPTransform: AnyObject {
  /// Protects a packet into `destination`; returns the protected length.
  func protectRTP(
    _ source: SRTPSource, into destination: UnsafeMutableRawPointer, count: Int, header: Int
  ) throws(SRTPError) -> Int

  /// Protects a packet that was protected before, bit by bit the same; returns the protected length.
  func protectRTPAgain(
    _ source: UnsafeRawPointer, into destination: UnsafeMutableRawPointer, count: Int, header: Int
  ) throws(SRTPError) -> Int

  /// Authenticates and decrypts in place; returns the plain length.
  func unprotectRTP(
    _ packet: UnsafeMutableRawPointer, count: Int, header: Int
  ) throws(SRTPError) -> Int

  /// Protects in place; returns the protected length.
  func protectRTCP(_ packet: UnsafeMutableRawPointer, count: Int) throws(SRTPError) -> Int

  /// Authenticates and decrypts in place; returns the plain length.
  func unprotectRTCP(_ packet: UnsafeMutableRawPointer, count: Int) throws(SRTPError) -> Int

  /// Lets go of a source that was sent and never is again.
  func forgetSent(_ ssrc: UInt32)
  /// How many sources that were sent are known.
  var sentCount: Int { get }
}

/// The few fields of RTP and RTCP headers that SRTP needs.
enum SRTPPacket {
  /// Longer than any UDP payload; keeps lengths within the C libraries' `int`.
  static let maximumCount = 65_535

  /// Bytes of the fixed part of an RTCP packet that stay readable (RFC 3711 §3.4).
  static let rtcpHeader = 8

  /// The bit that says that an SRTCP packet is encrypted (RFC 3711 §3.4).
  static let encryptedFlag: UInt32 = 0x8000_0000

  /// Bytes of an RTP header with its CSRCs and extension (RFC 3550 §5.1, §5.3.1), or `nil` if it isn't whole.
  @inline(__always)
  static func rtpHeaderLength(_ packet: UnsafeRawPointer, count: Int) -> Int? {
    guard count >= 12, count <= maximumCount else { return nil }
    let first = unsafe packet.load(as: UInt8.self)
    guard first & 0xC0 == 0x80 else { return nil }
    var length = 12 &+ Int(first & 0x0F) &* 4
    if first & 0x10 != 0 {
      guard count >= length &+ 4 else { return nil }
      unsafe length &+= 4 &+ Int(loadUInt16(packet, length &+ 2)) &* 4
    }
    return length <= count ? length : nil
  }

  @inline(__always)
  static func isRTCP(_ packet: UnsafeRawPointer, count: Int) -> Bool {
    unsafe count >= rtcpHeader && count <= maximumCount
      && packet.load(as: UInt8.self) & 0xC0 == 0x80
  }

  @inline(__always)
  static func loadUInt16(_ bytes: UnsafeRawPointer, _ offset: Int) -> UInt16 {
    unsafe UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
  }

  @inline(__always)
  static func loadUInt32(_ bytes: UnsafeRawPointer, _ offset: Int) -> UInt32 {
    unsafe UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }
}
