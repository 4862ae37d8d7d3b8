/// Appends RTCP packets to memory of the caller, as one compound datagram.
///
/// Every function either appends a whole packet or throws `noRoom` and changes nothing. The writer borrows the
/// buffer; leave room behind it for what SRTCP adds.
@safe public struct RTCPWriter {
  let buffer: UnsafeMutableRawBufferPointer
  /// Bytes written so far: the datagram's length.
  public internal(set) var count = 0

  public init(into buffer: UnsafeMutableRawBufferPointer) {
    unsafe self.buffer = unsafe buffer
  }

  /// Bytes still free.
  public var available: Int { unsafe buffer.count - count }

  /// RFC 3550 §6.4.1. At most 31 blocks are written.
  public mutating func senderReport(
    _ info: RTCPSenderInfo, blocks: [RTCPReportBlock] = []
  ) throws(RTPError) {
    let written = min(31, blocks.count)
    let start = try begin(
      RTCPType.senderReport, UInt8(written), 28 + written * RTCPReportBlock.byteCount)
    unsafe buffer.put32(info.ssrc, at: start + 4)
    unsafe buffer.put64(info.ntp.rawValue, at: start + 8)
    unsafe buffer.put32(info.rtpTimestamp, at: start + 16)
    unsafe buffer.put32(info.packetCount, at: start + 20)
    unsafe buffer.put32(info.octetCount, at: start + 24)
    put(blocks, written, at: start + 28)
  }

  /// RFC 3550 §6.4.2. At most 31 blocks are written; append another report for more.
  public mutating func receiverReport(
    sender: UInt32, blocks: [RTCPReportBlock] = []
  ) throws(RTPError) {
    let written = min(31, blocks.count)
    let start = try begin(
      RTCPType.receiverReport, UInt8(written), 8 + written * RTCPReportBlock.byteCount)
    unsafe buffer.put32(sender, at: start + 4)
    put(blocks, written, at: start + 8)
  }

  /// An SDES packet with one CNAME, cut after 255 bytes (RFC 3550 §6.5.1).
  public mutating func sourceDescription(ssrc: UInt32, cname: String) throws(RTPError) {
    var cname = cname
    unsafe try cname.withUTF8Typed { (bytes) throws(RTPError) in
      let length = min(255, bytes.count)
      // SSRC, item header, text and at least one zero byte, up to a 32-bit boundary.
      let body = (4 + 2 + length + 1 + 3) & ~3
      let start = try begin(RTCPType.sourceDescription, 1, 4 + body)
      unsafe buffer.put32(ssrc, at: start + 4)
      unsafe buffer[start + 8] = 1
      unsafe buffer[start + 9] = UInt8(length)
      unsafe buffer.put(bytes.part(0, length), at: start + 10)
      unsafe buffer.zero(start + 10 + length, body - 6 - length)
    }
  }

  /// RFC 3550 §6.6.
  public mutating func goodbye(ssrc: UInt32) throws(RTPError) {
    let start = try begin(RTCPType.goodbye, 1, 8)
    unsafe buffer.put32(ssrc, at: start + 4)
  }

  /// RFC 4585 §6.3.1.
  public mutating func pictureLossIndication(sender: UInt32, media: UInt32) throws(RTPError) {
    let start = try begin(RTCPType.payloadFeedback, RTCPType.pictureLossFormat, 12)
    unsafe buffer.put32(sender, at: start + 4)
    unsafe buffer.put32(media, at: start + 8)
  }

  /// RFC 5104 §4.3.1. `sequenceNumber` rises by one with every new request for this source.
  public mutating func fullIntraRequest(
    sender: UInt32, media: UInt32, sequenceNumber: UInt8
  ) throws(RTPError) {
    let start = try begin(RTCPType.payloadFeedback, RTCPType.fullIntraFormat, 20)
    unsafe buffer.put32(sender, at: start + 4)
    unsafe buffer.put32(0, at: start + 8)
    unsafe buffer.put32(media, at: start + 12)
    unsafe buffer.put32(UInt32(sequenceNumber) << 24, at: start + 16)
  }

  /// Generic NACK (RFC 4585 §6.2.1) of `missing`, which rises (wraps considered). As many as fit are written;
  /// returns how many those are, at least 1.
  @discardableResult
  public mutating func nack(
    sender: UInt32, media: UInt32, missing: [UInt16], from first: Int = 0
  ) throws(RTPError) -> Int {
    guard first >= 0, first < missing.count else { return 0 }
    guard available >= 16 else { throw .noRoom(needed: 16, available: available) }
    var index = first
    var offset = count + 12
    while index < missing.count, unsafe offset + 4 <= buffer.count {
      let base = missing[index]
      var mask: UInt16 = 0
      index += 1
      while index < missing.count {
        let distance = missing[index] &- base
        guard (1...16).contains(distance) else { break }
        mask |= 1 << (distance - 1)
        index += 1
      }
      unsafe buffer.put16(base, at: offset)
      unsafe buffer.put16(mask, at: offset + 2)
      offset += 4
    }
    let start = try begin(RTCPType.transportFeedback, RTCPType.nackFormat, offset - count)
    unsafe buffer.put32(sender, at: start + 4)
    unsafe buffer.put32(media, at: start + 8)
    return index - first
  }

  /// draft-alvestrand-rmcat-remb-03 §2.2. At most 255 sources. The rate is rounded down to 18 significant bits.
  public mutating func receiverEstimate(
    sender: UInt32, bitsPerSecond: UInt64, sources: [UInt32]
  ) throws(RTPError) {
    let written = min(255, sources.count)
    let start = try begin(
      RTCPType.payloadFeedback, RTCPType.applicationLayerFormat, 20 + written * 4)
    let exponent = max(0, 64 - bitsPerSecond.leadingZeroBitCount - 18)
    unsafe buffer.put32(sender, at: start + 4)
    unsafe buffer.put32(0, at: start + 8)
    unsafe buffer.put32(rembName, at: start + 12)
    unsafe buffer[start + 16] = UInt8(written)
    unsafe buffer.put24(
      UInt32(exponent) << 18 | UInt32(bitsPerSecond >> UInt64(exponent)), at: start + 17)
    for index in 0..<written { unsafe buffer.put32(sources[index], at: start + 20 + index * 4) }
  }

  /// Writes the four bytes that every packet begins with and takes `size` bytes, a multiple of 4.
  mutating func begin(_ type: UInt8, _ format: UInt8, _ size: Int) throws(RTPError) -> Int {
    guard size <= available else { throw .noRoom(needed: size, available: available) }
    let start = count
    unsafe buffer[start] = 0x80 | format & 0x1F
    unsafe buffer[start + 1] = type
    unsafe buffer.put16(UInt16(truncatingIfNeeded: size / 4 - 1), at: start + 2)
    count += size
    return start
  }

  private func put(_ blocks: [RTCPReportBlock], _ written: Int, at offset: Int) {
    var offset = offset
    for index in 0..<written {
      let block = blocks[index]
      // RFC 3550 A.3: the 24-bit count is clamped, not wrapped.
      let lost = max(-0x80_0000, min(0x7F_FFFF, block.cumulativeLost))
      unsafe buffer.put32(block.ssrc, at: offset)
      unsafe buffer[offset + 4] = block.fractionLost
      unsafe buffer.put24(UInt32(bitPattern: lost) & 0xFF_FFFF, at: offset + 5)
      unsafe buffer.put32(block.extendedHighestSequence, at: offset + 8)
      unsafe buffer.put32(block.jitter, at: offset + 12)
      unsafe buffer.put32(block.lastSenderReport, at: offset + 16)
      unsafe buffer.put32(block.delaySinceLastSenderReport, at: offset + 20)
      offset += RTCPReportBlock.byteCount
    }
  }
}

extension String {
  /// Lends the UTF-8 bytes to a body that throws an `RTPError`; `withUTF8` rethrows untyped.
  fileprivate mutating func withUTF8Typed(
    _ body: (UnsafeRawBufferPointer) throws(RTPError) -> Void
  ) throws(RTPError) {
    var failure: RTPError?
    withUTF8 { bytes in
      do throws(RTPError) {
        unsafe try body(UnsafeRawBufferPointer(bytes))
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
  }
}
