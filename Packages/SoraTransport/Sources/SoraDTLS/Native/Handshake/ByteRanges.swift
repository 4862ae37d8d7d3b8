/// Which bytes of a message came, or were acknowledged: disjoint ranges in order.
struct ByteRanges {
  /// More pieces than this come only from a peer that means harm.
  static let limit = 256

  private(set) var ranges: [Range<Int>] = []

  /// Adds a range; `false` where there are too many pieces.
  @discardableResult
  mutating func insert(_ range: Range<Int>) -> Bool {
    guard !range.isEmpty else { return true }
    // The mostly used way: behind everything that is there.
    let first = ranges.firstIndex { $0.upperBound >= range.lowerBound } ?? ranges.count
    var end = first
    var joined = range
    while end < ranges.count, ranges[end].lowerBound <= joined.upperBound {
      joined =
        min(
          joined.lowerBound, ranges[end].lowerBound)..<max(
          joined.upperBound, ranges[end].upperBound)
      end += 1
    }
    guard end > first || ranges.count < Self.limit else { return false }
    ranges.replaceSubrange(first..<end, with: CollectionOfOne(joined))
    return true
  }

  func covers(_ count: Int) -> Bool {
    count == 0 || ranges.first.map { $0.lowerBound == 0 && $0.upperBound >= count } ?? false
  }

  /// What of the first `count` bytes is missing.
  func gaps(_ count: Int) -> [Range<Int>] {
    var result: [Range<Int>] = []
    var position = 0
    for range in ranges {
      if range.lowerBound > position { result.append(position..<min(range.lowerBound, count)) }
      position = max(position, range.upperBound)
      if position >= count { return result }
    }
    if position < count { result.append(position..<count) }
    return result
  }
}
