/// A queue that keeps its memory.
package struct Ring<Element> {
  private var slots: [Element?] = []
  private var head = 0
  package private(set) var count = 0

  package init() {}

  package var isEmpty: Bool { count == 0 }

  /// The element `index` places behind the first.
  package subscript(index: Int) -> Element? {
    guard index >= 0, index < count else { return nil }
    return slots[(head + index) & (slots.count - 1)]
  }

  package var first: Element? { self[0] }

  package mutating func append(_ element: Element) {
    if count == slots.count { grow() }
    slots[(head + count) & (slots.count - 1)] = element
    count += 1
  }

  package mutating func prepend(_ element: Element) {
    if count == slots.count { grow() }
    head = (head - 1) & (slots.count - 1)
    slots[head] = element
    count += 1
  }

  package mutating func popFirst() -> Element? {
    guard count > 0 else { return nil }
    let element = slots[head].take()
    head = (head + 1) & (slots.count - 1)
    count -= 1
    return element
  }

  package mutating func removeAll() {
    while popFirst() != nil {}
  }

  private mutating func grow() {
    var larger = [Element?](repeating: nil, count: max(8, slots.count * 2))
    for index in 0..<count { larger[index] = slots[(head + index) & (slots.count - 1)].take() }
    slots = larger
    head = 0
  }
}
