/// Objects that a turn of the loop has still to see to, in the order in which they came. Confined to its loop.
///
/// An array in a property costs checks of uniqueness and of overlapping access at each use, and its emptying a generic
/// replacement: with one packet a turn that is more than the loop itself.
final class TurnList<Element: AnyObject> {
  private var elements: UnsafeMutablePointer<Element>
  private var capacity = 16
  private var count = 0

  init() { elements = .allocate(capacity: capacity) }

  deinit {
    elements.deinitialize(count: count)
    elements.deallocate()
  }

  @inline(__always)
  func append(_ element: Element) {
    if count == capacity { grow() }
    (elements + count).initialize(to: element)
    count += 1
  }

  private func grow() {
    let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity * 2)
    larger.moveInitialize(from: elements, count: count)
    elements.deallocate()
    elements = larger
    capacity *= 2
  }

  /// Takes out each element, also those that are appended meanwhile, and hands it to `body`, which must not call this.
  @inline(__always)
  func drain(_ body: (Element) -> Void) {
    var index = 0
    while index < count {
      let element = (elements + index).move()
      index += 1
      body(element)
    }
    count = 0
  }
}
