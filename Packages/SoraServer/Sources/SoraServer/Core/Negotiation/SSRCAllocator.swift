package import SoraMedia

/// Gives out the sources of one connection, none of them twice, so that nothing need be known of those that have ended: what SRTP keeps of
/// each would grow with everybody who comes and goes.
package struct SSRCAllocator {
  /// The next one's place in the order of all; nil before the first.
  private var place: UInt32?

  package init() {}

  /// A source that wasn't given out before, of the 2^32 that there are; the first is random (RFC 3550 §8.1).
  package mutating func take(_ random: RandomSource) -> UInt32 {
    var word = place ?? UInt32(truncatingIfNeeded: random.next())
    place = word &+ 1
    // Each step can be undone, so that no two places give the same (the finalizer of MurmurHash3).
    word ^= word >> 16
    word &*= 0x85EB_CA6B
    word ^= word >> 13
    word &*= 0xC2B2_AE35
    return word ^ word >> 16
  }
}
