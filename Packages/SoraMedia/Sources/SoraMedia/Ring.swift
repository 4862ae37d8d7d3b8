/// A first-in, first-out queue that keeps its memory.
@frozen
public struct Ring<Element> {
  @usableFromInline var slots: [Element?] = []
  @usableFromInline var head = 0
  @usableFromInline var filled = 0

  @inlinable
  public init() {}

  @inlinable public var count: Int { filled }
  @inlinable public var isEmpty: Bool { filled == 0 }

  /// The element `index` places behind the first; `nil` where there is none.
  @inlinable
  public subscript(index: Int) -> Element? {
    guard index >= 0, index < filled else { return nil }
    return slots[(head + index) & (slots.count - 1)]
  }

  @inlinable public var first: Element? { self[0] }

  @inlinable
  public mutating func append(_ element: Element) {
    if filled == slots.count { grow() }
    slots[(head + filled) & (slots.count - 1)] = element
    filled += 1
  }

  @inlinable
  public mutating func prepend(_ element: Element) {
    if filled == slots.count { grow() }
    head = (head - 1) & (slots.count - 1)
    slots[head] = element
    filled += 1
  }

  @inlinable
  public mutating func popFirst() -> Element? {
    guard filled > 0 else { return nil }
    let element = slots[head].take()
    head = (head + 1) & (slots.count - 1)
    filled -= 1
    return element
  }

  @inlinable
  public mutating func removeAll() {
    while popFirst() != nil {}
  }

  /// A power of two, so that places are found without a division.
  @inlinable
  mutating func grow() {
    var larger = [Element?](repeating: nil, count: max(8, slots.count * 2))
    for index in 0..<filled { larger[index] = slots[(head + index) & (slots.count - 1)].take() }
    slots = larger
    head = 0
  }
}

extension Ring: Sendable where Element: Sendable {}
