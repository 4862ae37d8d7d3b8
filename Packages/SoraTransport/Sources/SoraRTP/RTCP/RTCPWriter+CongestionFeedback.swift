// RFC 8888 §3.1, source by source: who reports doesn't know beforehand how much fits.

/// A message that is being written.
struct CongestionFeedbackDraft {
  /// Where it begins.
  var start: Int
  /// Bytes so far.
  var size: Int
}

extension RTCPCongestionFeedback {
  /// Bytes of a message about one packet.
  static let leastSize = 24
}

extension RTCPWriter {
  /// Begins a message, which counts as written with `endCongestionFeedback`.
  func beginCongestionFeedback(sender: UInt32) throws(RTPError) -> CongestionFeedbackDraft {
    guard available >= RTCPCongestionFeedback.leastSize else {
      throw .noRoom(needed: RTCPCongestionFeedback.leastSize, available: available)
    }
    unsafe buffer.put32(sender, at: count + 4)
    return CongestionFeedbackDraft(start: count, size: 8)
  }

  /// How many packets of another source have room in a message.
  func roomForReports(_ draft: CongestionFeedbackDraft) -> Int {
    let words = (available - draft.size - 8 - 4) / 4
    return min(max(0, 2 * words), RTCPCongestionFeedback.maximumReports)
  }

  /// Adds the packets of one source, as many as have room at most.
  func congestionReports(
    _ draft: inout CongestionFeedbackDraft, ssrc: UInt32, begin: UInt16, count reports: Int,
    word: (Int) -> UInt16
  ) {
    let offset = draft.start + draft.size
    unsafe buffer.put32(ssrc, at: offset)
    unsafe buffer.put16(begin, at: offset + 4)
    unsafe buffer.put16(UInt16(truncatingIfNeeded: reports), at: offset + 6)
    for index in 0..<reports { unsafe buffer.put16(word(index), at: offset + 8 + 2 * index) }
    if reports % 2 == 1 { unsafe buffer.put16(0, at: offset + 8 + 2 * reports) }
    draft.size += RTCPCongestionFeedback.blockSize(reports)
  }

  /// Completes a message.
  mutating func endCongestionFeedback(_ draft: CongestionFeedbackDraft, reportTime: UInt32) {
    unsafe buffer.put32(reportTime, at: draft.start + draft.size)
    // Can't fail: each part kept room for this.
    _ = try? begin(RTCPType.transportFeedback, RTCPType.congestionFormat, draft.size + 4)
  }
}
