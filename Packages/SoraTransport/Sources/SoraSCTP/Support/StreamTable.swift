/// State by stream id, made for those streams only that are used: 65,535 may be open, and a few are.
struct StreamTable<Element> {
  private var places: [Int32] = []
  private var elements: [Element] = []
  private var ids: [UInt16] = []
  private let make: (UInt16) -> Element

  init(_ make: @escaping (UInt16) -> Element) {
    self.make = make
  }

  /// Where the stream's state is, if it has any.
  func place(of stream: UInt16) -> Int? {
    let id = Int(stream)
    guard id < places.count, places[id] >= 0 else { return nil }
    return Int(places[id])
  }

  /// Where the stream's state is; makes it at the first use.
  mutating func reserve(_ stream: UInt16) -> Int {
    if let place = place(of: stream) { return place }
    let id = Int(stream)
    if id >= places.count {
      let target = min(65_536, max(id + 1, places.count * 2))
      places.append(contentsOf: repeatElement(-1, count: target - places.count))
    }
    places[id] = Int32(elements.count)
    elements.append(make(stream))
    ids.append(stream)
    return elements.count - 1
  }

  subscript(place: Int) -> Element {
    get { elements[place] }
    _modify { yield &elements[place] }
  }

  /// The streams that have state, in no order.
  var indices: Range<Int> { elements.indices }

  func stream(at place: Int) -> UInt16 { ids[place] }

  /// Forgets the state of all: what is then used begins anew.
  mutating func removeAll() {
    for id in ids { places[Int(id)] = -1 }
    elements = []
    ids = []
  }
}
