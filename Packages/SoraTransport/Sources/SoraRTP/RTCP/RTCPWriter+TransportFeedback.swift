extension RTCPWriter {
  /// Writes a transport-wide feedback message (draft-holmer-rmcat-transport-wide-cc-extensions-01 §3.1).
  ///
  /// `symbols` holds for each packet from `base` on the bytes of its delta: 0 not received, 1, or 2; `ticks` gives
  /// the arrival of a received packet in units of 250 us, on the clock whose 64 ms `reference` counts.
  mutating func transportFeedback(
    sender: UInt32, media: UInt32, base: UInt16, reference: UInt32, feedbackCount: UInt8,
    symbols: [UInt8], deltaBytes: Int, ticks: (Int) -> Int64
  ) throws(RTPError) {
    let size = 20 + StatusChunkEncoder.byteCount(symbols) + deltaBytes
    let padded = (size + 3) & ~3
    let start = try begin(
      RTCPType.transportFeedback, RTCPType.transportWideFormat, padded)
    unsafe buffer.put32(sender, at: start + 4)
    unsafe buffer.put32(media, at: start + 8)
    unsafe buffer.put16(base, at: start + 12)
    unsafe buffer.put16(UInt16(truncatingIfNeeded: symbols.count), at: start + 14)
    unsafe buffer.put24(reference, at: start + 16)
    unsafe buffer[start + 19] = feedbackCount
    var offset = start + 20
    var encoder = StatusChunkEncoder(symbols)
    while let chunk = encoder.next() {
      unsafe buffer.put16(chunk, at: offset)
      offset += 2
    }
    var last: Int64?
    for index in symbols.indices where symbols[index] != 0 {
      let arrival = ticks(index)
      // The reference is the first arrival rounded down to 256 ticks.
      let delta = arrival &- (last ?? (arrival >> 8) << 8)
      last = arrival
      if symbols[index] == 1 {
        unsafe buffer[offset] = UInt8(truncatingIfNeeded: delta)
        offset += 1
      } else {
        unsafe buffer.put16(UInt16(truncatingIfNeeded: delta), at: offset)
        offset += 2
      }
    }
    if padded > size {
      // RFC 3550 §6.4.1: padding is announced in the header and counted in the last byte.
      unsafe buffer.zero(offset, padded - size)
      unsafe buffer[start + padded - 1] = UInt8(padded - size)
      unsafe buffer[start] |= 0x20
    }
  }
}

/// Turns statuses into chunks: a run where one symbol repeats, else a vector.
struct StatusChunkEncoder {
  private let symbols: [UInt8]
  private var index = 0

  init(_ symbols: [UInt8]) {
    self.symbols = symbols
  }

  /// Bytes that all chunks take.
  static func byteCount(_ symbols: [UInt8]) -> Int {
    var encoder = StatusChunkEncoder(symbols)
    var bytes = 0
    while encoder.next() != nil { bytes += 2 }
    return bytes
  }

  mutating func next() -> UInt16? {
    guard index < symbols.count else { return nil }
    let symbol = symbols[index]
    let left = symbols.count - index
    var run = 1
    while run < left, run < 0x1FFF, symbols[index + run] == symbol { run += 1 }
    if run >= 14 || run == left {
      index += run
      return UInt16(symbol) << 13 | UInt16(run)
    }
    let wide = min(14, left)
    var hasLarge = false
    for offset in 0..<wide where symbols[index + offset] == 2 { hasLarge = true }
    var chunk: UInt16
    if !hasLarge {
      chunk = 0x8000
      for offset in 0..<wide {
        chunk |= UInt16(symbols[index + offset]) << UInt16(13 - offset)
      }
      index += wide
    } else if run >= 7 {
      index += run
      chunk = UInt16(symbol) << 13 | UInt16(run)
    } else {
      chunk = 0xC000
      let narrow = min(7, left)
      for offset in 0..<narrow {
        chunk |= UInt16(symbols[index + offset]) << UInt16(12 - 2 * offset)
      }
      index += narrow
    }
    return chunk
  }
}
