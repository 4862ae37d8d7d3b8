import SoraMedia
import Testing

@Suite struct BinaryHeapTests {
  private struct Entry {
    var key: Int
    /// Which of all it is.
    var name: Int

    static func < (a: Entry, b: Entry) -> Bool { a.key < b.key }
  }

  @Test func elementsComeInOrder() {
    var random = SystemRandomNumberGenerator()
    for count in [0, 1, 2, 3, 10, 1000] {
      let numbers = (0..<count).map { _ in Int.random(in: 0..<100, using: &random) }
      var heap = BinaryHeap<Int>()
      for number in numbers { heap.insert(number, by: <) }
      #expect(heap.count == count && heap.isEmpty == (count == 0))
      var sorted: [Int] = []
      while let first = heap.popFirst(by: <) { sorted.append(first) }
      #expect(sorted == numbers.sorted())
    }
  }

  /// Elements come, go and change in any order: the first is always the least, and each is where it was said to be.
  @Test func placesThatWereToldAreRight() {
    var heap = BinaryHeap<Entry>()
    var places: [Int: Int] = [:]
    var keys: [Int: Int] = [:]
    for name in 0..<5000 {
      let key = Int.random(in: 0..<500)
      switch Int.random(in: 0..<4) {
      case 0, 1:
        let place = heap.insert(Entry(key: key, name: name), by: <) { places[$0.name] = $1 }
        #expect(places[name] == place)
        keys[name] = key
      case 2:
        guard let known = keys.keys.randomElement(), let place = places[known] else { continue }
        let removed = heap.remove(at: place, by: <) { places[$0.name] = $1 }
        #expect(removed.name == known)
        places[known] = nil
        keys[known] = nil
      default:
        guard let known = keys.keys.randomElement(), let place = places[known] else { continue }
        heap.update(at: place, by: <, placed: { places[$0.name] = $1 }) { $0.key = key }
        keys[known] = key
      }
      #expect(heap.first?.key == keys.values.min() && heap.count == keys.count)
      guard name % 50 == 0 else { continue }
      #expect(places.allSatisfy { heap[$0.value].name == $0.key })
    }
    heap.shrink()
    #expect(heap.capacity >= heap.count && heap.count == keys.count)
    heap.removeAll()
    #expect(heap.first == nil)
  }
}
