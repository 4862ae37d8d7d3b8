import SoraWire

/// What simulated frames have behind their stamps: bytes that are others at each place and in each frame, so that one that was mixed up,
/// shortened or damaged is seen.
public enum PayloadFilling {
  /// Fills a frame from a place on.
  public static func append(_ count: Int, of frame: UInt32, to payload: inout [UInt8]) {
    payload.reserveCapacity(payload.count + max(0, count))
    for _ in 0..<max(0, count) { payload.append(byte(at: payload.count, of: frame)) }
  }

  /// Whether a frame has from a place on what it was filled with.
  public static func isWhole(_ payload: RawSpan, from start: Int, of frame: UInt32) -> Bool {
    var reader = ByteReader(payload)
    guard reader.skip(start) else { return false }
    for place in start..<payload.byteCount where reader.u8() != byte(at: place, of: frame) {
      return false
    }
    return true
  }

  private static func byte(at place: Int, of frame: UInt32) -> UInt8 {
    UInt8(truncatingIfNeeded: place &* 7 &+ Int(frame))
  }
}
