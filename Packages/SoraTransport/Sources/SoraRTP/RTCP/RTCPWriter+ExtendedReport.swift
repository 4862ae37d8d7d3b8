extension RTCPWriter {
  /// An extended report with the sender's wall clock (RFC 3611 §4.4). Senders answer with `receiverDelays`.
  public mutating func receiverReferenceTime(sender: UInt32, ntp: NTPTime) throws(RTPError) {
    let start = try begin(RTCPType.extendedReport, 0, 20)
    unsafe buffer.put32(sender, at: start + 4)
    putBlock(RTCPExtendedBlock.referenceTime, words: 2, at: start + 8)
    unsafe buffer.put64(ntp.rawValue, at: start + 12)
  }

  /// An extended report that answers reference times (RFC 3611 §4.5). As many as fit are written; returns how many those are.
  @discardableResult
  public mutating func receiverDelays(
    sender: UInt32, _ delays: [RTCPReceiverDelay]
  ) throws(RTPError) -> Int {
    guard !delays.isEmpty else { return 0 }
    let written = max(1, min(delays.count, (available - 12) / RTCPReceiverDelay.byteCount))
    let start = try begin(
      RTCPType.extendedReport, 0, 12 + written * RTCPReceiverDelay.byteCount)
    unsafe buffer.put32(sender, at: start + 4)
    putBlock(RTCPExtendedBlock.delays, words: 3 * written, at: start + 8)
    for index in 0..<written {
      let offset = start + 12 + index * RTCPReceiverDelay.byteCount
      unsafe buffer.put32(delays[index].ssrc, at: offset)
      unsafe buffer.put32(delays[index].lastReferenceTime, at: offset + 4)
      unsafe buffer.put32(delays[index].delay, at: offset + 8)
    }
    return written
  }

  private func putBlock(_ type: UInt8, words: Int, at offset: Int) {
    unsafe buffer.put16(UInt16(type) << 8, at: offset)
    unsafe buffer.put16(UInt16(truncatingIfNeeded: words), at: offset + 2)
  }
}
