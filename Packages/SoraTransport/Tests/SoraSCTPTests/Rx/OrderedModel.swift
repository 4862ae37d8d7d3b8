/// What a stream has delivered and which whole messages wait, by numbers that don't wrap: what any order of them is compared with.
struct OrderedModel {
  private(set) var expected: Int64 = 0
  private var waiting: [Int64: [UInt8]] = [:]

  init(expected: Int64 = 0) { self.expected = expected }

  /// Takes a whole message.
  ///
  /// - Returns: what is delivered for it.
  mutating func take(_ number: Int64, _ payload: [UInt8]) -> [[UInt8]] {
    if number >= expected, waiting[number] == nil { waiting[number] = payload }
    return release()
  }

  /// Passes over messages up to a number.
  ///
  /// - Returns: what is delivered for that.
  mutating func skip(through number: Int64) -> [[UInt8]] {
    guard number >= expected else { return [] }
    let passed = waiting.keys.filter { $0 <= number }.sorted()
    expected = number + 1
    return passed.map { waiting.removeValue(forKey: $0)! } + release()
  }

  private mutating func release() -> [[UInt8]] {
    var released: [[UInt8]] = []
    while let payload = waiting.removeValue(forKey: expected) {
      released.append(payload)
      expected += 1
    }
    return released
  }
}
