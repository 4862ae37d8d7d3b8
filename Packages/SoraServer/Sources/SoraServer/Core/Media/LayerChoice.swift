package import SoraMedia

/// Which layer of a simulcast video one subscriber should be sent: what it asks for, what flows, and what its link has room for.
///
/// Layers are named by their places, the lowest first. Plain memory and no clock of its own.
package struct LayerChoice {
  /// What is known of a layer.
  package struct Layer {
    /// Its place among those that the publisher was offered; it may have refused some.
    package var rank: Int
    package var isFlowing: Bool
    /// Whether it has flowed long enough to be measured.
    package var isRipe: Bool

    package init(rank: Int, isFlowing: Bool, isRipe: Bool) {
      self.rank = rank
      self.isFlowing = isFlowing
      self.isRipe = isRipe
    }
  }

  /// What a subscriber asks for.
  package enum Wish: Hashable, Sendable {
    /// The highest that its link has room for.
    case any
    /// No video.
    case none
    /// At most the layer with this rank.
    case rank(Int)
  }

  /// Who has to go down soon after going up waits longer before the next time: estimates waver, and each change costs a key frame.
  private static let shortStay = Duration.seconds(10)
  private static let leastPenalty = Duration.seconds(2)
  private static let longestPenalty = Duration.seconds(32)

  package var wish = Wish.any
  private var wentUpAt: Instant?
  private var blockedUntil = Instant.zero
  private var penalty = leastPenalty

  package init() {}

  /// Chooses.
  ///
  /// - Parameters:
  ///   - layers: all that the publisher has, the lowest first.
  ///   - granted: the highest that the link has room for; nil where nothing is known of the link.
  ///   - affordable: the highest for a link of which nothing is known.
  ///   - current: the one that is sent or waited for.
  /// - Returns: nil for none.
  package mutating func choose(
    among layers: [Layer], granted: Int?, affordable: Int, current: Int?, at now: Instant
  ) -> Int? {
    guard let cap = cap(among: layers) else { return nil }
    let limit: Int
    switch (granted, wish) {
    case (let granted?, _): limit = bounded(granted, cap: cap, current: current, at: now)
    case (nil, .rank): limit = cap
    case (nil, _): limit = min(cap, affordable)
    }
    let isExplicit = if case .rank = wish { true } else { false }
    var lowest: Int?
    for index in layers.indices.reversed() where index <= limit && layers[index].isFlowing {
      if layers[index].isRipe || index == current || isExplicit { return index }
      lowest = index
    }
    return lowest ?? layers.indices.first { $0 > limit && layers[$0].isFlowing }
  }

  /// The highest layer that is asked for, or the next lower one that there is, or the lowest.
  private func cap(among layers: [Layer]) -> Int? {
    switch wish {
    case .none: nil
    case .any: layers.indices.last
    case .rank(let rank): layers.lastIndex { $0.rank <= rank } ?? layers.indices.first
    }
  }

  /// What the link has room for, going up not too often.
  private mutating func bounded(
    _ granted: Int, cap: Int, current: Int?, at now: Instant
  ) -> Int {
    guard let current else { return min(granted, cap) }
    if granted < current {
      let isShort = wentUpAt.map { now - $0 < Self.shortStay } ?? false
      penalty = isShort ? min(penalty * 2, Self.longestPenalty) : Self.leastPenalty
      blockedUntil = now + penalty
      wentUpAt = nil
      return min(granted, cap)
    }
    let limit = min(granted, cap)
    guard limit > current else { return limit }
    if now < blockedUntil { return current }
    if wentUpAt == nil { wentUpAt = now }
    return limit
  }
}
