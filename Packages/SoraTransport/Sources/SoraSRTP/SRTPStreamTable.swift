/// The state of one SSRC in one direction.
struct SRTPStream {
  let ssrc: UInt32
  /// RTP's 48-bit packet indices: rollover counter and sequence number (RFC 3711 §3.3.1).
  var rtp: ReplayWindow
  /// SRTCP's 31-bit packet indices.
  var rtcp: ReplayWindow
}

/// The SSRCs of one direction: an open hash table that never holds more than `limit` of them.
@safe final class SRTPStreamTable {
  /// As libsrtp's fixed SRTCP window; RTCP packets are few.
  private static let rtcpWindow = 128

  let limit: Int
  private(set) var count = 0
  private let window: Int
  private var mask: Int
  private var buckets: UnsafeMutablePointer<UnsafeMutablePointer<SRTPStream>?>

  init(limit: Int, window: Int) {
    self.limit = limit
    self.window = window
    mask = 15
    unsafe buckets = .allocate(capacity: 16)
    unsafe buckets.initialize(repeating: nil, count: 16)
  }

  deinit {
    for bucket in 0...mask {
      guard let stream = unsafe buckets[bucket] else { continue }
      unsafe stream.pointee.rtp.deallocate()
      unsafe stream.pointee.rtcp.deallocate()
      unsafe stream.deallocate()
    }
    unsafe buckets.deallocate()
  }

  /// The state of `ssrc`, or `nil` if it has none yet. The pointer lives as long as the table.
  @inline(__always)
  func find(_ ssrc: UInt32) -> UnsafeMutablePointer<SRTPStream>? {
    unsafe buckets[bucket(of: ssrc)]
  }

  /// The state of `ssrc`, made if needed.
  func findOrInsert(_ ssrc: UInt32) throws(SRTPError) -> UnsafeMutablePointer<SRTPStream> {
    if let known = unsafe find(ssrc) { return unsafe known }
    guard count < limit else { throw .tooManyStreams(limit: limit) }
    if (count + 1) * 2 > mask { grow() }
    let stream = UnsafeMutablePointer<SRTPStream>.allocate(capacity: 1)
    unsafe stream.initialize(
      to: SRTPStream(
        ssrc: ssrc, rtp: ReplayWindow(packets: window),
        rtcp: ReplayWindow(packets: Self.rtcpWindow)))
    unsafe buckets[bucket(of: ssrc)] = unsafe stream
    count += 1
    return unsafe stream
  }

  /// Where `ssrc` is, or the free bucket where it would go. At most half of the buckets are taken, so this ends.
  @inline(__always)
  private func bucket(of ssrc: UInt32) -> Int {
    var bucket = Int((ssrc &* 0x9E37_79B1) >> 16) & mask
    while let stream = unsafe buckets[bucket], unsafe stream.pointee.ssrc != ssrc {
      bucket = (bucket &+ 1) & mask
    }
    return bucket
  }

  private func grow() {
    let old = unsafe buckets
    let oldMask = mask
    mask = mask * 2 + 1
    unsafe buckets = .allocate(capacity: mask + 1)
    unsafe buckets.initialize(repeating: nil, count: mask + 1)
    for bucket in 0...oldMask {
      guard let stream = unsafe old[bucket] else { continue }
      unsafe buckets[self.bucket(of: stream.pointee.ssrc)] = unsafe stream
    }
    unsafe old.deallocate()
  }
}

/// Which of the latest packet indices were seen (RFC 3711 §3.3.2), as a ring of bits.
@safe package struct ReplayWindow {
  /// The highest index seen; 0 before the first.
  package private(set) var highest: UInt64 = 0
  private let packets: UInt64
  private let words: UnsafeMutablePointer<UInt64>

  /// - Parameter packets: how many indices are remembered, a power of two of at least 64.
  package init(packets: Int) {
    self.packets = UInt64(packets)
    unsafe words = .allocate(capacity: packets / 64)
    unsafe words.initialize(repeating: 0, count: packets / 64)
  }

  /// Frees the bits. The window must not be used afterwards.
  @unsafe package func deallocate() { unsafe words.deallocate() }

  /// Throws if the index was seen or is too old to know.
  @inline(__always)
  package func check(_ index: UInt64) throws(SRTPError) {
    if index > highest { return }
    if highest &- index >= packets { throw .tooOld }
    let bit = index & (packets &- 1)
    if unsafe words[Int(bit >> 6)] & (1 << (bit & 63)) != 0 { throw .replayed }
  }

  /// Whether an index was seen; throws if it is too old to know.
  func contains(_ index: UInt64) throws(SRTPError) -> Bool {
    do throws(SRTPError) {
      try check(index)
      return false
    } catch .replayed {
      return true
    }
  }

  /// Remembers an index that `check` let pass.
  @inline(__always)
  package mutating func insert(_ index: UInt64) {
    if index > highest {
      if index &- highest >= packets {
        unsafe words.update(repeating: 0, count: Int(packets >> 6))
      } else {
        var skipped = highest &+ 1
        while skipped < index {
          let bit = skipped & (packets &- 1)
          unsafe words[Int(bit >> 6)] &= ~(1 << (bit & 63))
          skipped &+= 1
        }
      }
      highest = index
    }
    let bit = index & (packets &- 1)
    unsafe words[Int(bit >> 6)] |= 1 << (bit & 63)
  }
}

/// RTP packet indices (RFC 3711 §3.3.1).
package enum SRTPIndex {
  /// The last packet index that a key may protect: 48 bits.
  package static let maximumRTP: UInt64 = 0xFFFF_FFFF_FFFF
  /// The last SRTCP index that a key may protect: 31 bits.
  package static let maximumRTCP: UInt64 = 0x7FFF_FFFF

  /// The packet index nearest to the highest one seen that has this sequence number.
  ///
  /// While nothing above 2^15 was seen there is no earlier rollover to fall back to, so the first packets of a
  /// stream always count from rollover 0; that is also how libsrtp starts.
  @inline(__always)
  package static func estimate(
    highest: UInt64, sequence: UInt16
  ) throws(SRTPError) -> UInt64 {
    guard highest > 0x8000 else { return UInt64(sequence) }
    let rollover = highest >> 16
    let last = Int(highest & 0xFFFF)
    let next = Int(sequence)
    var guess = rollover
    if last < 0x8000 {
      if next &- last > 0x8000 { guess = rollover &- 1 }
    } else if last &- 0x8000 > next {
      guess = rollover &+ 1
    }
    let index = guess << 16 | UInt64(sequence)
    guard index <= maximumRTP else { throw .keyExhausted }
    return index
  }
}
