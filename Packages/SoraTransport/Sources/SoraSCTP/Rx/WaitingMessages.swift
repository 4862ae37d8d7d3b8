/// The messages of a stream that wait for their turn, by number. Whatever order they come in, each costs as much as the logarithm
/// of how many wait.
///
/// Numbers are serial: they begin again at 0 behind `mask`, and those that wait together are less than half a circle apart.
struct WaitingMessages {
  private var messages: [UInt32: SCTPMessage] = [:]
  /// Their numbers, as a binary heap.
  private var heap: [UInt32] = []

  /// What may stay reserved without need. A peer chooses how many streams once had how many waiting.
  private static let reserve = 64

  /// The number of the first of them.
  var first: UInt32? { heap.first }

  var isEmpty: Bool { heap.isEmpty }

  /// Adds a message.
  ///
  /// - Returns: `false` where one with its number is there already.
  mutating func insert(_ message: SCTPMessage, number: UInt32, mask: UInt32) -> Bool {
    guard messages[number] == nil else { return false }
    messages[number] = message
    var hole = heap.count
    heap.append(number)
    while hole > 0 {
      let parent = (hole - 1) / 2
      guard precedes(number, heap[parent], mask) else { break }
      heap[hole] = heap[parent]
      hole = parent
    }
    heap[hole] = number
    return true
  }

  /// Takes the first of them.
  mutating func popFirst(mask: UInt32) -> SCTPMessage? {
    guard let first = heap.first, let last = heap.popLast() else { return nil }
    let message = messages.removeValue(forKey: first)
    guard !heap.isEmpty else {
      if heap.capacity > Self.reserve { self = WaitingMessages() }
      return message
    }
    var hole = 0
    while true {
      var child = 2 * hole + 1
      guard child < heap.count else { break }
      if child + 1 < heap.count, precedes(heap[child + 1], heap[child], mask) { child += 1 }
      guard precedes(heap[child], last, mask) else { break }
      heap[hole] = heap[child]
      hole = child
    }
    heap[hole] = last
    return message
  }

  private func precedes(_ a: UInt32, _ b: UInt32, _ mask: UInt32) -> Bool {
    (a &- b) & mask > mask / 2
  }
}
