/// How long audio is held back for packets that others have overtaken: retransmissions, and what a path mixes up.
///
/// A single one is as late as a round trip is long, and holding all audio back for it wouldn't pay. Where many are late it does: each
/// percent of all packets is worth 20 ms of delay, the price that libwebrtc's NetEq has for a loss. Delays are in nanoseconds.
struct OvertakenPackets {
  /// Within so long all are waited for.
  private static let base: Int64 = 120_000_000
  private static let worthOfAll = 2_000_000_000.0
  /// Of the latest 200 packets or so.
  private static let weight = 0.005

  /// Which share of the packets comes later than `base` behind others, 0...1.
  private var share = 0.0

  /// Takes note of a packet, and says whether the delay is to follow it.
  ///
  /// - Parameters:
  ///   - lateness: compared with the fastest packets.
  ///   - isOvertaken: whether newer packets came before it.
  mutating func waits(for lateness: Int64, isOvertaken: Bool) -> Bool {
    let isLate = isOvertaken && lateness >= Self.base
    share += ((isLate ? 1 : 0) - share) * Self.weight
    return !isLate || lateness < Self.base &+ Int64(share * Self.worthOfAll)
  }
}
