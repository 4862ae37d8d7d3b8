/// An array in the order of a binary heap: none of its elements comes before the first. To insert or to remove one costs as much as the
/// logarithm of how many there are; elements are moved and never copied.
///
/// The order goes with each call, so that it may depend on what the elements don't know; it has to be the same as long as there are
/// elements. `placed` is told each element that has come to a place, and which: who notes these can remove or change any element. It is
/// called while the heap changes, so it can't ask it.
@frozen
public struct BinaryHeap<Element> {
  @usableFromInline var elements: ContiguousArray<Element> = []

  @inlinable
  public init() {}

  @inlinable public var count: Int { elements.count }
  @inlinable public var isEmpty: Bool { elements.isEmpty }
  /// How many elements there is memory for.
  @inlinable public var capacity: Int { elements.capacity }
  @inlinable public var first: Element? { elements.first }

  /// The element at a place from 0 until `count`, valid until the heap changes.
  @inlinable
  public subscript(place: Int) -> Element { elements[place] }

  /// Where the first element is that fulfils a condition, looking at all of them; `nil` where none does.
  @inlinable
  public func firstPlace(where condition: (Element) -> Bool) -> Int? {
    elements.firstIndex(where: condition)
  }

  /// Adds an element, and returns its place.
  @inlinable @discardableResult
  public mutating func insert(
    _ element: consuming Element, by precedes: (Element, Element) -> Bool,
    placed: (Element, Int) -> Void = { _, _ in }
  ) -> Int {
    elements.append(element)
    return settle(elements.count - 1, by: precedes, placed: placed)
  }

  /// Takes out the element at a place. There must be one.
  @inlinable
  public mutating func remove(
    at place: Int, by precedes: (Element, Element) -> Bool,
    placed: (Element, Int) -> Void = { _, _ in }
  ) -> Element {
    var removed = elements.removeLast()
    if place < elements.count {
      swap(&removed, &elements[place])
      settle(place, by: precedes, placed: placed)
    }
    return removed
  }

  /// Takes out the first element; `nil` where there is none.
  @inlinable
  public mutating func popFirst(
    by precedes: (Element, Element) -> Bool, placed: (Element, Int) -> Void = { _, _ in }
  ) -> Element? {
    isEmpty ? nil : remove(at: 0, by: precedes, placed: placed)
  }

  /// Changes the element at a place, and moves it to where it belongs then.
  @inlinable
  public mutating func update(
    at place: Int, by precedes: (Element, Element) -> Bool,
    placed: (Element, Int) -> Void = { _, _ in }, _ change: (inout Element) -> Void
  ) {
    change(&elements[place])
    settle(place, by: precedes, placed: placed)
  }

  /// Changes the element at a place in what its order doesn't depend on.
  @inlinable
  public mutating func withElement<Result>(
    at place: Int, _ change: (inout Element) -> Result
  ) -> Result {
    change(&elements[place])
  }

  @inlinable
  public mutating func removeAll() { elements.removeAll() }

  /// Gives back memory that its elements don't need.
  @inlinable
  public mutating func shrink() {
    var fitting: ContiguousArray<Element> = []
    fitting.reserveCapacity(elements.count)
    fitting.append(contentsOf: elements)
    elements = fitting
  }

  @inlinable @discardableResult
  mutating func settle(
    _ start: Int, by precedes: (Element, Element) -> Bool, placed: (Element, Int) -> Void
  ) -> Int {
    let count = elements.count
    return unsafe elements.withUnsafeMutableBufferPointer { buffer in
      // `start` is a place, so that there is a first one.
      let slots = unsafe buffer.baseAddress.unsafelyUnwrapped
      let moving = unsafe (slots + start).move()
      var hole = start
      while hole > 0 {
        let parent = (hole - 1) / 2
        guard unsafe precedes(moving, slots[parent]) else { break }
        unsafe (slots + hole).moveInitialize(from: slots + parent, count: 1)
        unsafe placed(slots[hole], hole)
        hole = parent
      }
      while hole >= start {
        var child = 2 * hole + 1
        guard child < count else { break }
        if child + 1 < count, unsafe precedes(slots[child + 1], slots[child]) { child += 1 }
        guard unsafe precedes(slots[child], moving) else { break }
        unsafe (slots + hole).moveInitialize(from: slots + child, count: 1)
        unsafe placed(slots[hole], hole)
        hole = child
      }
      unsafe (slots + hole).initialize(to: moving)
      unsafe placed(slots[hole], hole)
      return hole
    }
  }
}
