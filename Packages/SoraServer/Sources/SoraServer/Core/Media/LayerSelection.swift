import SoraMedia

/// The layer of a published medium that one subscriber is sent, and the one that it shall be sent from its next key frame on.
struct LayerSelection {
  /// Who a change of layers is due to.
  enum Trigger { case sender, receiver }

  /// nil while nothing is sent.
  private(set) var current: PublishedLayer?
  /// nil where the current one stays.
  private(set) var next: PublishedLayer?
  private(set) var trigger = Trigger.receiver
  var choice = LayerChoice()
  /// When a key frame of the next layer was asked for.
  private var askedAt: Instant?

  init(_ only: PublishedLayer?) { current = only }

  /// The layer that is sent, or will be.
  var aim: PublishedLayer? { next ?? current }

  func has(_ layer: PublishedLayer) -> Bool { layer === current || layer === next }

  /// Aims at a layer; the present one goes on until a key frame of it comes.
  ///
  /// - Returns: whether nothing is sent any more, and something was.
  mutating func aim(at layer: PublishedLayer?, _ trigger: Trigger) -> Bool {
    guard layer !== aim else { return false }
    self.trigger = trigger
    askedAt = nil
    guard let layer else {
      defer { current = nil }
      next = nil
      return current != nil
    }
    next = layer === current ? nil : layer
    return false
  }

  /// A key frame of the next layer is there.
  mutating func enter(_ layer: PublishedLayer) {
    current = layer
    next = nil
    askedAt = nil
  }

  /// Whether to ask for a key frame of the next layer, now or once more.
  func isRequestDue(interval: Duration, at now: Instant) -> Bool {
    next != nil && askedAt.map { now - $0 >= interval } ?? true
  }

  mutating func asked(at now: Instant) { askedAt = now }
}
