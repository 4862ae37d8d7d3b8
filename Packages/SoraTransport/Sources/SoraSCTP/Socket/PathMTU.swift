import SoraMedia

/// How large packets may be: those that the base allows, and larger ones when a padded HEARTBEAT of that size was answered (RFC 8899
/// §6.2, RFC 4820).
struct PathMTU {
  private static let attempts = 3
  /// Sizes closer together aren't told apart.
  private static let grain = 16
  private let base: Int
  private let ceiling: Int
  /// Bytes of the largest packet that may leave now.
  private(set) var current: Int
  /// The smallest size that hasn't come through.
  private var refused: Int
  private var probe: (size: Int, nonce: UInt64, deadline: Instant)?
  private var tries = 0
  private var next: Instant?

  init(settings: SCTPConfiguration, at now: Instant) {
    base = settings.mtu
    ceiling = max(settings.mtu, settings.maximumMTU)
    current = base
    refused = ceiling + 1
    next = ceiling > base ? now : nil
  }

  var deadline: Instant? { probe?.deadline ?? next }

  /// A packet's chunks that probe for a larger size, if that is due; `timeout` is how long an answer may take.
  mutating func poll(timeout: Int64, random: RandomSource, at now: Instant) -> [UInt8]? {
    if let waiting = probe, waiting.deadline <= now {
      probe = nil
      tries += 1
      if tries >= PathMTU.attempts {
        tries = 0
        refused = waiting.size
      }
      next = now
    }
    guard probe == nil, let due = next, due <= now else { return nil }
    let size = refused > ceiling ? ceiling : (current + refused) / 2 & ~3
    guard size > current, refused > ceiling || size - current >= PathMTU.grain else {
      // As large as it gets. Paths change: RFC 8899 §5.1.1 looks again after ten minutes.
      refused = ceiling + 1
      next = current < ceiling ? now + .seconds(600) : nil
      return nil
    }
    let nonce = random.next()
    next = nil
    probe = (size, nonce, now + .nanoseconds(timeout))
    var chunks = Heartbeat.chunk(nonce)
    let padding = size - CommonHeader.count - chunks.count
    chunks += ChunkBytes.chunk(
      ChunkType.padding, [UInt8](repeating: 0, count: max(0, padding - 4)))
    return chunks
  }

  /// Takes the nonce of an answer. `true` if larger packets may leave now.
  mutating func answered(_ nonce: UInt64, at now: Instant) -> Bool {
    guard let waiting = probe, waiting.nonce == nonce else { return false }
    probe = nil
    tries = 0
    current = waiting.size
    next = now
    return true
  }

  /// Packets are lost again and again: larger ones may not come through any more (RFC 8899 §4.3). `true` if packets are smaller now; what
  /// comes through is looked for at once (RFC 8899 §5.2).
  mutating func suspectBlackHole(at now: Instant) -> Bool {
    guard current > base else { return false }
    current = base
    refused = ceiling + 1
    probe = nil
    tries = 0
    next = now
    return true
  }
}
