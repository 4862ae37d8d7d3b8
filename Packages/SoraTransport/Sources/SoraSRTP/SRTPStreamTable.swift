/// The state of one SSRC in one direction.
package struct SRTPStream {
  let ssrc: UInt32
  /// RTP's 48-bit packet indices: rollover counter and sequence number (RFC 3711 §3.3.1).
  package var rtp: ReplayWindow
  /// SRTCP's 31-bit packet indices.
  var rtcp: ReplayWindow
  /// The number of its latest packet that `SRTPStreamTable.countPacket` gave.
  package var heard: UInt64

  /// Frees the windows. The stream must not be used afterwards.
  @unsafe fileprivate func deallocate() {
    unsafe rtp.deallocate()
    unsafe rtcp.deallocate()
  }
}

/// The SSRCs of one direction: an open hash table that never holds more than a limit of them.
///
/// What is sent is forgotten only where its owner says that it has ended for good: an index that is used twice gives two packets one key
/// stream (RFC 7714 §8.1).
///
/// What is received is the peer's to choose, and it must not make this end hold ever more. So a new SSRC that comes when the
/// table is full takes the place of the one that was silent longest, unless that was heard among the latest `16 * limit`
/// packets: then the new one is refused. An SSRC has RFC 3711 §3.3.2's protection for as long as it is in the table, and only
/// one after which all the others of a full table were heard can go. If it comes back it begins anew, at rollover 0: SRTCP
/// packets and its first 2^16 RTP packets can then be replayed once more, and a sender that is past those isn't understood any
/// more.
@safe package final class SRTPStreamTable {
  package enum Direction {
    case sent
    case received(limit: Int)
  }

  /// As libsrtp's fixed SRTCP window; RTCP packets are few.
  private static let rtcpWindow = 128
  /// More than a call ever has, and 20 MB at the most.
  private static let sentLimit = 65_536

  package let limit: Int
  package private(set) var count = 0
  private let window: Int
  private let rtcpWindow: Int
  private let replaces: Bool
  private var mask: Int
  private var buckets: UnsafeMutablePointer<UnsafeMutablePointer<SRTPStream>?>
  /// The highest SRTCP index of those that were forgotten: who comes new goes on behind it, and uses none of theirs again.
  private var forgottenControl: UInt64 = 0
  /// How many packets were heard, which is the only clock here.
  private var packets: UInt64 = 0
  /// Those in the table at some time, by their silence then, the longest last. Whoever was heard since doesn't count any more;
  /// the others were silent longer than all that aren't listed. So as many packets share the costs of sorting as there are
  /// entries.
  private var silent: [(heard: UInt64, ssrc: UInt32)] = []

  package init(_ direction: Direction, window: Int) {
    self.window = window
    switch direction {
    case .sent:
      limit = Self.sentLimit
      replaces = false
      // Only the highest index matters there.
      rtcpWindow = 64
    case .received(let limit):
      self.limit = limit
      replaces = true
      rtcpWindow = Self.rtcpWindow
    }
    mask = 15
    unsafe buckets = .allocate(capacity: 16)
    unsafe buckets.initialize(repeating: nil, count: 16)
  }

  deinit {
    for bucket in 0...mask {
      guard let stream = unsafe buckets[bucket] else { continue }
      unsafe stream.pointee.deallocate()
      unsafe stream.deallocate()
    }
    unsafe buckets.deallocate()
  }

  /// The state of `ssrc`, or `nil` if it has none. The pointer is good until something is inserted.
  @inline(__always)
  package func find(_ ssrc: UInt32) -> UnsafeMutablePointer<SRTPStream>? {
    unsafe buckets[bucket(of: ssrc)]
  }

  /// The state of `ssrc`, made if needed.
  package func findOrInsert(_ ssrc: UInt32) throws(SRTPError) -> UnsafeMutablePointer<SRTPStream> {
    if let known = unsafe find(ssrc) { return unsafe known }
    try makeRoom()
    if (count + 1) * 2 > mask { grow() }
    let stream = UnsafeMutablePointer<SRTPStream>.allocate(capacity: 1)
    unsafe stream.initialize(
      to: SRTPStream(
        ssrc: ssrc, rtp: ReplayWindow(packets: window), rtcp: ReplayWindow(packets: rtcpWindow),
        heard: packets))
    if forgottenControl > 0 { unsafe stream.pointee.rtcp.insert(forgottenControl) }
    unsafe buckets[bucket(of: ssrc)] = unsafe stream
    count += 1
    return unsafe stream
  }

  /// Lets go of a source that was sent.
  package func forget(_ ssrc: UInt32) {
    guard let stream = unsafe find(ssrc) else { return }
    forgottenControl = unsafe max(forgottenControl, stream.pointee.rtcp.highest)
    remove(ssrc)
  }

  /// Counts an authentic packet, whether there is a place for its SSRC or not: else what is refused might be refused for ever.
  ///
  /// - Returns: its number, which its stream is to keep.
  @inline(__always)
  package func countPacket() -> UInt64 {
    packets &+= 1
    return packets
  }

  /// Sees to it that there is a place for one more.
  ///
  /// - Returns: the SSRC that had to go for it.
  @discardableResult
  package func makeRoom() throws(SRTPError) -> UInt32? {
    guard count >= limit else { return nil }
    guard let ssrc = replaceable() else { throw .tooManyStreams(limit: limit) }
    remove(ssrc)
    return ssrc
  }

  /// The SSRC of a full table that was silent longest, if that is long enough.
  private func replaceable() -> UInt32? {
    guard replaces else { return nil }
    while true {
      while let (heard, ssrc) = silent.last {
        if let stream = unsafe find(ssrc), unsafe stream.pointee.heard == heard {
          return packets &- heard >= 16 * UInt64(limit) ? ssrc : nil
        }
        silent.removeLast()
      }
      for bucket in 0...mask {
        guard let stream = unsafe buckets[bucket] else { continue }
        silent.append(unsafe (stream.pointee.heard, stream.pointee.ssrc))
      }
      silent.sort { $0.heard > $1.heard }
    }
  }

  /// Where `ssrc` is, or the free bucket where it would go. At most half of the buckets are taken, so this ends.
  @inline(__always)
  private func bucket(of ssrc: UInt32) -> Int {
    var bucket = home(of: ssrc)
    while let stream = unsafe buckets[bucket], unsafe stream.pointee.ssrc != ssrc {
      bucket = (bucket &+ 1) & mask
    }
    return bucket
  }

  /// Where the search for `ssrc` begins.
  @inline(__always)
  private func home(of ssrc: UInt32) -> Int {
    Int((UInt64(ssrc) &* 0x9E37_79B9_7F4A_7C15) >> 32) & mask
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

  private func remove(_ ssrc: UInt32) {
    var hole = bucket(of: ssrc)
    guard let stream = unsafe buckets[hole] else { return }
    unsafe stream.pointee.deallocate()
    unsafe stream.deallocate()
    count -= 1
    // Searches end at a free bucket: whatever they would look for behind this one moves up.
    var bucket = (hole &+ 1) & mask
    while let next = unsafe buckets[bucket] {
      let distance = unsafe (bucket &- home(of: next.pointee.ssrc)) & mask
      if distance >= (bucket &- hole) & mask {
        unsafe buckets[hole] = unsafe next
        hole = bucket
      }
      bucket = (bucket &+ 1) & mask
    }
    unsafe buckets[hole] = nil
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
