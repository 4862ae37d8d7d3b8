import SoraMedia

/// Who a change of layers is due to.
enum LayerTrigger { case sender, receiver }

/// The layer of a published medium that one subscriber is sent, and the one that it shall be sent from its next key frame on.
struct LayerSelection<Layer: AnyObject> {
  /// nil while nothing is sent.
  private(set) var current: Layer?
  /// nil where the current one stays.
  private(set) var next: Layer?
  private(set) var trigger = LayerTrigger.receiver
  var choice = LayerChoice()
  /// When a key frame of the next layer was asked for.
  private var askedAt: Instant?

  init(_ only: Layer?) { current = only }

  /// The layer that is sent, or will be.
  var aim: Layer? { next ?? current }

  func has(_ layer: Layer) -> Bool { layer === current || layer === next }

  /// Aims at a layer; the present one goes on until a key frame of it comes.
  ///
  /// - Returns: whether nothing is sent any more, and something was.
  mutating func aim(at layer: Layer?, _ trigger: LayerTrigger) -> Bool {
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
  mutating func enter(_ layer: Layer) {
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
