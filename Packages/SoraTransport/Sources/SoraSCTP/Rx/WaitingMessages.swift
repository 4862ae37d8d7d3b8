import SoraMedia

/// The messages of a stream that wait for their turn, by number. Whatever order they come in, each costs as much as the logarithm
/// of how many wait.
///
/// Numbers are serial: they begin again at 0 behind `mask`, and those that wait together are less than half a circle apart.
struct WaitingMessages {
  private var messages: [UInt32: SCTPMessage] = [:]
  private var numbers = BinaryHeap<UInt32>()

  /// What may stay reserved without need. A peer chooses how many streams once had how many waiting.
  private static let reserve = 64

  /// The number of the first of them.
  var first: UInt32? { numbers.first }

  var isEmpty: Bool { numbers.isEmpty }

  /// Adds a message.
  ///
  /// - Returns: `false` where one with its number is there already.
  mutating func insert(_ message: SCTPMessage, number: UInt32, mask: UInt32) -> Bool {
    guard messages[number] == nil else { return false }
    messages[number] = message
    numbers.insert(number, by: { Self.precedes($0, $1, mask) })
    return true
  }

  /// Takes the first of them.
  mutating func popFirst(mask: UInt32) -> SCTPMessage? {
    guard let first = numbers.popFirst(by: { Self.precedes($0, $1, mask) }) else { return nil }
    let message = messages.removeValue(forKey: first)
    if numbers.isEmpty, numbers.capacity > Self.reserve { self = WaitingMessages() }
    return message
  }

  private static func precedes(_ a: UInt32, _ b: UInt32, _ mask: UInt32) -> Bool {
    (a &- b) & mask > mask / 2
  }
}
