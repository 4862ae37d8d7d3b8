/// Objects that a turn of the loop has still to see to, in the order in which they came. Confined to its loop.
///
/// An array in a property costs checks of uniqueness and of overlapping access at each use, and its emptying a generic
/// replacement: with one packet a turn that is more than the loop itself.
@safe package final class TurnList<Element: AnyObject> {
  private var elements: UnsafeMutablePointer<Element>
  private var capacity = 16
  /// Those before it have been taken out.
  private var first = 0
  private var count = 0

  package init() { unsafe elements = .allocate(capacity: capacity) }

  deinit {
    unsafe (elements + first).deinitialize(count: count - first)
    unsafe elements.deallocate()
  }

  @inline(__always)
  package func append(_ element: Element) {
    if count == capacity { grow() }
    unsafe (elements + count).initialize(to: element)
    count += 1
  }

  private func grow() {
    let larger = UnsafeMutablePointer<Element>.allocate(capacity: capacity * 2)
    unsafe (larger + first).moveInitialize(from: elements + first, count: count - first)
    unsafe elements.deallocate()
    unsafe elements = unsafe larger
    capacity *= 2
  }

  /// Takes out each element, also those that are appended meanwhile, and hands it to `body`, which must not call this.
  @inline(__always)
  package func drain(_ body: (Element) -> Void) {
    while first < count {
      let element = unsafe (elements + first).move()
      first += 1
      body(element)
    }
    first = 0
    count = 0
  }
}
