/// Tells losses by chance from those of a queue, by how the latest windows, some eight, lost their packets.
///
/// Chance loses some in nearly every window, and behind a lost packet hardly more than elsewhere. A queue that overflows loses many at once
/// and then none, and a short one, that overflows with every frame, the last packets of each.
struct LossPattern {
  private static let spreading = 0.125
  private static let even = 0.6
  /// How much oftener than others a packet may be lost that follows a lost one: by this factor and, as so few are counted, this share.
  private static let apart = (factor: 1.2, doubt: 0.03)

  /// Share of the windows that lost anything.
  private var spread = 0.0
  /// Smoothed: how many packets a window has, how many are lost, and how many of them behind a lost one.
  private var packets = 0.0
  private var lost = 0.0
  private var following = 0.0

  /// Whether the losses look like chance.
  var isEven: Bool {
    guard spread > Self.even else { return false }
    let expected = Self.apart.factor * lost / max(packets, 1) + Self.apart.doubt
    return following < expected * lost
  }

  mutating func add(_ window: LossWindow.Counts) {
    spread += Self.spreading * ((window.lost > 0 ? 1 : 0) - spread)
    packets += Self.spreading * (Double(window.packets) - packets)
    lost += Self.spreading * (Double(window.lost) - lost)
    following += Self.spreading * (Double(window.following) - following)
  }
}
